"""`poker-solver subgame` on a tiny exported blueprint, as a person types it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from abstractions.cards import live_combos, parse_board
from artifacts import open_blueprint
from artifacts.bundle_store import BundleStore
from artifacts.subgame_bundle import StoredSubgames
from pipelines.poker_solver import app
from pipelines.run.errors import UserError
from solver.subgame import SubgameConfig, hand_solver
from solver.subgame.hand_solver import solve_street
from solver.subgame.subgame import Subgame

#: The tiny blueprint has buckets for this flop, this turn, and every river of it.
FLOP, TURN = "QsJh2h", "QsJh2h8d"

KEYS = {
    "line", "board", "player", "actions", "frequencies", "hands", "iterations", "seconds", "depth", "safety", "values",
    "leaves", "memory_bytes", "cached",
}  # fmt: skip
SMALL = ("--sizes", "75%", "--raises", "a", "--threads", "1")


def run(*words: object) -> str:
    done = CliRunner().invoke(app, ["subgame", *(str(word) for word in words)])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_json_holds_every_live_combo_of_the_player_to_act(exported: Path) -> None:
    text = run(
        exported,
        "--line",
        "b250c/xx/x",
        "--board",
        TURN,
        "--iterations",
        3,
        *SMALL,
        "--json",
        "--raw-offpath",
    )
    data = json.loads(text)
    assert set(data) == KEYS
    assert (data["line"], data["board"], data["player"], data["depth"]) == ("b250c/xx/x", TURN, "sb", 1)
    assert (data["iterations"], data["safety"], data["values"], data["cached"]) == (3, "unsafe", None, False)
    assert data["leaves"] > 0
    assert len(data["hands"]) == live_combos(parse_board(TURN)).sum()
    assert sum(data["frequencies"]) == pytest.approx(1.0)
    for row in data["hands"].values():
        assert sum(row["strategy"]) == pytest.approx(1.0)
    weights = [row["weight"] for row in data["hands"].values()]
    values = [row["ev"] for row in data["hands"].values() if row["ev"] is not None]
    assert max(weights) == pytest.approx(1.0)
    assert np.isfinite(values).all()


def test_a_solve_is_kept_beside_the_blueprint_and_answers_again(exported: Path, tmp_path: Path) -> None:
    bundle = tmp_path / exported.name
    shutil.copytree(exported, bundle)
    words = (bundle, "--line", "b250c/xx/x", "--board", TURN, "--iterations", 2, *SMALL)
    first, again = (json.loads(run(*words, "--json")) for _ in range(2))
    assert (first["cached"], again["cached"]) == (False, True)
    for hand, row in first["hands"].items():
        assert again["hands"][hand]["strategy"] == pytest.approx(row["strategy"], abs=1e-6)
        assert again["hands"][hand]["weight"] == row["weight"]
    assert again["frequencies"] == pytest.approx(first["frequencies"], abs=1e-6)
    assert again["iterations"] == 2
    assert "kept from an earlier solve" in run(*words)
    # Another budget is another solve.
    other = json.loads(run(*words[:5], "--iterations", 3, *SMALL, "--json"))
    assert not other["cached"]


def test_a_solve_that_was_told_to_stop_is_not_kept(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = BundleStore(tmp_path)
    kept = StoredSubgames(store, "blueprint", "code")
    blueprint = open_blueprint(exported).blueprint
    config = SubgameConfig(iterations=50, sizes="75%", raises="a")
    spot = Subgame.build(blueprint, "b250c/xx/x", TURN, config)
    stopped, _ = solve_street(
        blueprint, spot, config, blueprint_key=kept.blueprint_key, cache=kept, should_stop=lambda: True
    )
    assert stopped.reason == "stopped"
    assert not store.bundles()
    # Neither is one that ran out of time too early.
    hurried = SubgameConfig(iterations=None, time_s=0.5, sizes="75%", raises="a")
    for least, count in ((10**9, 0), (1, 1)):
        monkeypatch.setattr(hand_solver, "MIN_KEPT", least)
        late, _ = solve_street(blueprint, spot, hurried, blueprint_key=kept.blueprint_key, cache=kept)
        assert late.reason == "time"
        assert len(store.bundles()) == count


def test_the_text_draws_the_decision_and_lists_combos(exported: Path) -> None:
    text = run(exported, "--line", "b250c/xx/x", "--board", TURN, "--iterations", 2, *SMALL)
    assert f"b250c/xx/x: sb to act on {TURN}, pot 500" in text
    assert "2 iterations in" in text
    assert "AA " in text
    assert "check" in text
    assert "bet 375" in text
    assert "hand    weight" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--line", "b250c/b1", "--board", FLOP), "'b1' is below the smallest bet"),
        (("--line", "b250c/xx/", "--board", FLOP), "3 cards; line 'b250c/xx/' is on the turn, which has 4"),
        (("--line", "b250", "--board", FLOP), "has seen no flop"),
        (
            ("--line", "b250c/", "--board", FLOP, "--depth", "deep"),
            "depth: 'deep' is unknown; accepted: 1, 2, full",
        ),
        (("--line", "b250c/", "--board", FLOP, "--safety", "x"), "safety: 'x' is unknown"),
        (("--line", "b250c/", "--board", FLOP, "--values", "3"), "values: 3 is unknown; accepted: 1, 4, 7"),
        (
            ("--line", "b250c/", "--board", FLOP, "--time", "1e-9"),
            "time_s: 1e-09 s are over before the first",
        ),
        (("--line", "b250c/", "--board", FLOP, "--sizes", "50"), "sizes: size '50' is not understood"),
    ],
)
def test_bad_input_is_one_line(exported: Path, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message) as refused:
        run(exported, *words)
    assert "\n" not in str(refused.value)


def test_a_locked_decision_and_the_kept_solve_as_a_chart(exported: Path, tmp_path: Path) -> None:
    """The lock is played as given, also as the source of another one, and the kept street opens like any bundle."""
    bundle = tmp_path / exported.name
    shutil.copytree(exported, bundle)
    lock = tmp_path / "lock.json"
    lock.write_text(json.dumps({"line": "b250c/xx/", "strategy": {"x": 1.0}}))
    words = (bundle, "--line", "b250c/xx/", "--board", TURN, "--iterations", 2, *SMALL, "--json")
    assert json.loads(run(*words, "--lock", lock))["frequencies"] == pytest.approx([1.0, 0.0])
    (kept,) = tmp_path.glob("subgame-*")
    lock.write_text(json.dumps({"line": "b250c/xx/", "source": kept.name, "hands": "22+"}))
    again = json.loads(run(*words, "--lock", lock))["hands"]
    assert again["AsAh"]["strategy"] == pytest.approx([1.0, 0.0])

    def read(*words: object) -> dict:
        done = CliRunner().invoke(app, [str(word) for word in (*words, "--json")])
        assert done.exception is None
        return json.loads(done.stdout)

    chart = read("chart", kept)
    assert (chart["line"], chart["player"], chart["board"]) == ("b250c/xx/", "bb", TURN)
    assert chart["frequencies"]["check"] == pytest.approx(1.0)
    assert chart["source"]["locked"] == ["b250c/xx/"]
    lines = read("lines", kept)["lines"]
    assert [entry["line"] for entry in lines][:2] == ["b250c/xx/", "b250c/xx/x"]
    held = read("range", kept, "b250c/xx/x", "--player", "bb")["weights"]
    assert max(held.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"line": "b250c/xx/"}', "give a strategy, or the source"),
        ('{"line": "b250c/xx/", "strategy": {"x": 0.5}}', "the probabilities sum to 0.5"),
        (
            '{"line": "b250c/xx/", "strategy": {"x": 2}}',
            "strategy.x: Input should be less than or equal to 1",
        ),
        ('{"line": "b250c/xx/", "hand": "AA"}', "hand: Extra inputs are not permitted"),
        ('{"line": "b250c/xx/", "source": "nothing"}', "nothing: no bundle"),
        ("[]", "expected a JSON object"),
    ],
)
def test_a_lock_that_makes_no_sense_is_refused(
    exported: Path, tmp_path: Path, text: str, message: str
) -> None:
    lock = tmp_path / "lock.json"
    lock.write_text(text)
    with pytest.raises(UserError, match=message) as refusal:
        run(exported, "--line", "b250c/xx/", "--board", TURN, "--iterations", 2, *SMALL, "--lock", lock)
    assert "\n" not in str(refusal.value)
