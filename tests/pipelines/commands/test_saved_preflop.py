"""A saved preflop solve: what is in the folder, and that commands read it like a blueprint."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from abstractions.cards import CLASS_NAMES
from abstractions.equity import preflop_table
from artifacts import BlueprintBundle, BundleError, PreflopBundle, open_blueprint, open_bundle
from pipelines.poker_solver import app
from pipelines.run.errors import UserError
from solver.betting.lines import without_prefix
from solver.preflop.solver import solve_preflop
from solver.strategy import by_class, reach

GAME = ["game.stacks=[1000,1000]", "game.raise_sizes=['2.5','a']", "game.raise_cap=2"]


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("solves") / "ten"
    assert f"written: {path}" in run("preflop", *GAME, "--iterations", 300, "--out", path)
    return path


@pytest.fixture(scope="module")
def bundle(folder: Path) -> PreflopBundle:
    opened = open_bundle(folder, verify="always")
    assert isinstance(opened, PreflopBundle)
    assert not isinstance(opened, BlueprintBundle)
    return opened


def test_the_bundle_holds_config_strategy_values_and_equities(folder: Path, bundle: PreflopBundle) -> None:
    names = {"config.yaml", "preflop.arrow", "lines.arrow", "equity.arrow", "trace.arrow"}
    assert {file.name for file in folder.iterdir()} == names | {"manifest.json"}
    assert bundle.manifest.stage == "preflop_solve"
    assert bundle.game.stacks == (1000, 1000)
    assert bundle.configuration["solve"] == {"iterations": 300, "schedule": "dcfr", "target": 0.0}
    for name, column in zip(("wins", "ties", "totals"), preflop_table()):
        np.testing.assert_array_equal(bundle["equity"][name], column)
    assert bundle["trace"]["iteration"].tolist() == [300]
    assert bundle["trace"]["exploitability"][-1] == bundle.metrics["exploitability_raw"] > 0


def test_it_answers_what_the_solve_does(bundle: PreflopBundle) -> None:
    play = solve_preflop(bundle.game, iterations=300).strategy
    table = play.by_line()
    assert bundle.lines() == bundle.lines("preflop") == list(table)
    assert bundle.strategy_table(clean=False) == table
    assert bundle.strategy("b250", "AhAs", clean=False) == table["||p|b250"]["AA"]
    for line, seat in (("b250", 0), ("b250", 1), ("cb400", 0), ("cb400c", 1)):
        np.testing.assert_allclose(bundle.range(line, seat), play.reach(line, seat), rtol=1e-15)
    nothing = np.empty(0, dtype=np.uint8)
    np.testing.assert_array_equal(by_class(reach(bundle, "cb400c", nothing, 0)), bundle.range("cb400c", "sb"))
    rows = bundle.preflop("b250")
    for column, (action, values) in enumerate(play.action_values("b250").items()):
        assert rows.actions[column] == action
        np.testing.assert_allclose(rows.ev[:, column], values)
    decision = bundle.decision("b250")
    assert (decision.player, decision.pot, decision.committed) == (1, 350, (250, 100))


def test_commands_read_it_like_a_blueprint(folder: Path, bundle: PreflopBundle) -> None:
    data = json.loads(run("chart", folder, "b250", "--ev", "--json"))
    assert data["player"] == "bb"
    assert data["hands"]["AA"]["strategy"] == bundle.strategy_table()["||p|b250"]["AA"]
    assert data["hands"]["AA"]["action_ev"]["fold"] == pytest.approx(-1)
    lines = json.loads(run("lines", folder, "--json"))["lines"]
    assert [line["line"] for line in lines] == [without_prefix(line) for line in bundle.lines()]
    assert lines[0]["reach"] == pytest.approx(1)
    held = json.loads(run("range", folder, "b250", "--player", "sb", "--json"))["weights"]
    opened = bundle.strategy_table(clean=False)["||p|"]
    assert held == {hand: opened[hand]["open_250"] for hand in CLASS_NAMES if opened[hand]["open_250"] > 0}
    assert json.loads(run("diff", folder, folder, "--json"))["weighted"] == 0
    words = ["--hero-range", "AA,KQs", "--villain-range", "QQ,T9s", "--board", "QsJh2h", "--line", "b250c"]
    solved = json.loads(run("chained", "--bundle", folder, *words, "--target", 20, "--raise", "a", "--json"))
    assert solved["preflop"]["source"] == str(folder)
    assert solved["preflop"]["exploitability_mbb"] == bundle.metrics["exploitability_raw"]


def test_the_same_solve_is_saved_as_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    run("preflop", *GAME, "--iterations", 300, "--out", tmp_path / "again", "--json")
    for file in folder.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes(), file.name


def test_a_preflop_solve_is_no_blueprint(folder: Path) -> None:
    with pytest.raises(BundleError, match="stage preflop_solve; expected one of stage export"):
        open_blueprint(folder)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("none/here", "its folder does not exist"),
        ("file", "is a file; expected a new folder"),
        ("full", "has files in it; expected a new folder"),
    ],
)
def test_a_folder_that_cannot_be_made_is_refused_before_the_solve(
    tmp_path: Path, out: str, message: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(UserError) as error:
        run("preflop", *GAME, "--iterations", 10**9, "--out", tmp_path / out)
    assert message in str(error.value)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "file", "full"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chart", "b250c/"], "'/' is not possible after b250c"),
        (["range", "b250c", "--player", "bb", "--board", "QsJh2h"], "needs 0"),
        (["lines", "--board", "QsJh2h"], "no flop line"),
    ],
)
def test_it_knows_nothing_after_the_flop(folder: Path, words: list[str], message: str) -> None:
    with pytest.raises(UserError) as error:
        run(words[0], folder, *words[1:])
    assert message in str(error.value)
