"""`python -m pipelines.match` and `pipelines.lbr`, on a tiny exported blueprint and on strategies without cards."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from abstractions.cards import parse_board
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import open_bundle
from artifacts.bundle_store import BundleStore
from pipelines import lbr, match
from pipelines.commands import entrants
from pipelines.config.composition import compose_config
from pipelines.matches.entrants import Entrant
from pipelines.matches.hands import Shared, play_hands, play_match
from pipelines.run.cluster import InProcess, open_cluster
from pipelines.run.errors import UserError
from pipelines.run.recorded_runs import print_table, ranked, recorded_runs
from pipelines.run.tracking import Tracker
from solver.match.play import draw_deal
from solver.match.simple import simple_blueprint
from tests.conftest import TINY_TURN
from tests.solver.blueprint.small_games import game_of
from tests.solver.match.random_blueprints import SHALLOW

FIGURE = r"(-?[\d.]+) mbb/hand, 95 % interval (-?[\d.]+) to (-?[\d.]+)"


@pytest.fixture
def tiny_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every deal is on a river of the turn that the tiny blueprint has buckets for."""

    def deal(rng: np.random.Generator) -> Any:
        rest = np.setdiff1d(np.arange(52), parse_board(TINY_TURN))
        return draw_deal(rng, np.array([*parse_board(TINY_TURN), rng.choice(rest)], dtype=np.uint8))

    monkeypatch.setattr("pipelines.matches.hands.draw_deal", deal)
    monkeypatch.setattr(BlueprintBundle, "has_every_board", True)


def words(folder: Path, *own: str) -> list[str]:
    return [f"store.root={folder}/store", "cluster=inprocess", *own]


def figures(line: str) -> tuple[float, float, float]:
    found = re.search(FIGURE, line)
    assert found is not None
    return float(found[1]), float(found[2]), float(found[3])


@pytest.mark.usefixtures("tiny_boards")
@pytest.mark.parametrize("pot_types", ["per_line", "shared"])
def test_a_blueprint_wins_nothing_from_itself(
    export_tiny: Callable[..., Path], tmp_path: Path, pot_types: str
) -> None:
    bundle = export_tiny("texture", pot_types)
    line = match.play(match.read_request(words(tmp_path, f"a={bundle}", f"b={bundle}", "hands=5")))
    assert line.startswith("match: export-textur wins ")
    np.testing.assert_allclose(figures(line), 0.0, atol=0.1)


@pytest.mark.usefixtures("tiny_boards")
def test_hands_are_kept_more_hands_use_them_and_compare_shows_the_figures(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.matches.hands.TASK_DEALS", 3)
    asked = match.read_request(words(tmp_path, f"a={exported}", "b=always-call", "hands=6"))
    first = match.play(asked)
    store = BundleStore(tmp_path / "store")
    assert sum(m.stage == "match_hands" for m in store.bundles()) == 2
    longer = match.read_request(words(tmp_path, f"a={exported}", "b=always-call", "hands=9"))
    match.play(longer)
    assert sum(m.stage == "match_hands" for m in store.bundles()) == 3

    def played_again(*_: object) -> None:
        raise AssertionError("a kept hand was played again")

    monkeypatch.setattr("pipelines.matches.hands.Match", played_again)
    assert match.play(asked) == first
    response = lbr.respond(lbr.read_request(words(tmp_path, f"bundle={exported}", "actions=fcpa", "hands=6")))
    assert response.startswith("lbr: ")
    tracker = Tracker(asked.config.tracking, tmp_path / "store" / ".tracking", print)
    tracker.start("fast-hu100", {"preset": "fast", "key.export": open_bundle(exported).key}, {})
    tracker.finish("FINISHED")
    tracker.close()
    (row,) = recorded_runs(asked.config.tracking)
    (won,) = row.matches.values()
    assert list(row.matches) == ["against always-call"]
    assert (won.mean, won.low, won.high) == pytest.approx(figures(first), abs=0.05)
    assert won.hands == 6
    assert row.lbr["fcpa on turn,river"].mean == pytest.approx(figures(response)[0], abs=0.05)
    console = Console(record=True, width=200, file=io.StringIO())
    print_table(ranked([row]), console)
    text = console.export_text()
    assert "loses to a local best response" in text
    assert "a lower bound of exploitability and can be far below it" in text


@pytest.mark.usefixtures("tiny_boards")
def test_a_blueprint_that_solves_again_plays_a_match(exported: Path, tmp_path: Path) -> None:
    own = (f"a=resolve:{exported}", f"b={exported}", "resolve_from=river", "iterations=5", "hands=12")
    line = match.play(match.read_request(words(tmp_path, *own)))
    assert "re-solved from the river wins" in line
    low, high = figures(line)[1:]
    # Its estimate is no longer exact, and still far narrower than the stacks of 10 big blinds.
    assert 0 < high - low < 10_000


@pytest.mark.whole
def test_the_number_of_workers_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setattr("pipelines.matches.hands.TASK_DEALS", 2)
    game = game_of(SHALLOW)
    first, second = (
        Entrant(name, {"strategy": name}, simple_blueprint(name, game)) for name in ("uniform", "always-fold")
    )
    shared = Shared(SHALLOW, (first, second), seed=5)
    found = []
    steps: list[tuple[int, int]] = []
    for kind in ("cluster=inprocess", "cluster.num_cpus=2"):
        store = BundleStore(tmp_path / kind)
        with open_cluster(compose_config([kind]).cluster) as cluster:
            found.append(
                play_hands(
                    "match_hands",
                    play_match,
                    shared,
                    5,
                    store,
                    lambda: cluster,
                    lambda done, total: steps.append((done, total)),
                )
            )
    assert steps == [(2, 5), (4, 5), (5, 5)] * 2
    for name in ("chips", "estimate"):
        np.testing.assert_array_equal(found[0][name], found[1][name])
    assert len(set(found[0]["chips"].tolist())) > 1


def test_always_fold_loses_750_to_a_local_best_response(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = game_of(SHALLOW)
    monkeypatch.setattr("pipelines.commands.entrants.TrunkGame.build", lambda _: game)
    line = lbr.respond(lbr.read_request(words(tmp_path, "bundle=always-fold", "hands=10")))
    assert line == (
        "lbr: 750.0 mbb/hand, 95 % interval 750.0 to 750.0, actions fcpa on turn,river, from always-fold"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["b=uniform"], "a: give a strategy, a=STORE/export-KEY or a=always-call"),
        (
            ["a=uniform", "b="],
            "b: give a strategy: the folder of an exported blueprint, resolve:FOLDER, or",
        ),
        (["a=uniform", "b=nowhere"], "b: nowhere is no bundle, it has no manifest.json"),
        (["a=uniform", "b=resolve:nowhere"], "b: nowhere is no bundle"),
        (
            ["a=uniform", "b=uniform", "hands=1"],
            "hands: '1' is not accepted: a whole number from 2 to 100,000,000",
        ),
        (["a=uniform", "b=uniform", "resolve_from=preflop"], "resolve_from: 'preflop' is not accepted"),
        (["a=uniform", "b=uniform", "iterations=0"], "iterations: '0' is not accepted"),
        (["a=uniform", "b=EXPORTED"], "has buckets for typical boards only; hands are played on real ones"),
    ],
)
def test_bad_matches_are_refused_in_one_line(
    exported: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    named = [argument.replace("EXPORTED", str(exported)) for argument in arguments]
    with pytest.raises(UserError) as error:
        match.play(match.read_request(words(tmp_path, *named)))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "bundle: give a strategy"),
        (["bundle=uniform", "actions=f"], "actions: 'f' is not accepted: one of fc, fcpa, 56"),
        (
            ["bundle=uniform", "streets=turn,now"],
            "streets: 'now' is not accepted: one of preflop, flop, turn, river",
        ),
        (["bundle=uniform", "hands=many"], "hands: 'many' is not accepted"),
    ],
)
def test_bad_responses_are_refused_in_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    with pytest.raises(UserError) as error:
        lbr.read_request(words(tmp_path, *arguments))
    assert message in str(error.value)


def test_hands_of_another_game_or_seed_are_other_hands(tmp_path: Path) -> None:
    lines = set()
    for number, config in enumerate((SHALLOW, replace(SHALLOW, small_blind=20))):
        game = game_of(config)
        first, second = (
            Entrant(name, {"strategy": name}, simple_blueprint(name, game))
            for name in ("always-fold", "always-call")
        )
        for seed in range(2):
            found = play_hands(
                "match_hands",
                play_match,
                Shared(config, (first, second), seed),
                3,
                BundleStore(tmp_path),
                InProcess,
                lambda *_: None,
            )
            lines.add((number, seed, round(float(found["estimate"].mean()), 2)))
    assert lines == {(0, 0, -25.0), (0, 1, -25.0), (1, 0, -10.0), (1, 1, -10.0)}
    assert len(BundleStore(tmp_path).bundles()) == 4


def test_strategies_of_other_stacks_cannot_meet() -> None:
    first, second = (
        SimpleNamespace(game=game) for game in (SHALLOW, replace(SHALLOW, stacks=(2000, 2000), raise_cap=2))
    )
    with pytest.raises(UserError, match=r"b: its game differs .* in stacks; only menus may differ"):
        entrants._check_same_table({"a": first, "b": second})
    third = SimpleNamespace(game=replace(SHALLOW, raise_cap=2))
    entrants._check_same_table({"a": first, "b": third})
