"""A saved postflop solve: what is in the folder, what it answers, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from typer.testing import CliRunner

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, NUM_COMBOS, parse_board, parse_combo
from artifacts import SpotBundle, open_bundle
from artifacts.postflop_offpath import mark_off_path_with_reason
from pipelines.commands import saved_spot
from pipelines.commands.history_rows import by_hole, per_history_strategy
from pipelines.figures.charts import DASH
from pipelines.poker_solver import app
from pipelines.run.errors import UserError
from solver.postflop.solver import PostflopSolver
from solver.postflop.spot import spot_solver

SPOT = {
    "board": "QsJh2h8d",
    "oop_range": "AA,QJs,T9s,KJs:0.5",
    "ip_range": "KK,AQs,98s,55",
    "pot": 200,
    "stack": 300,
    "bet_sizes": {"turn": {"bet": "50%", "raise": "a"}},
    "max_iterations": 60,
    "target_exploitability_pct": 0.0,
}


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    if done.exception is not None:
        raise done.exception
    return done.stdout


@pytest.fixture(scope="module")
def spot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spots") / "spot.json"
    path.write_text(json.dumps(SPOT))
    return path


@pytest.fixture(scope="module")
def folder(spot_file: Path) -> Path:
    path = spot_file.with_name("solved")
    assert f"written: {path}" in run("solve", spot_file, "--out", path, "--nodes", "all")
    return path


@pytest.fixture(scope="module")
def bundle(folder: Path) -> SpotBundle:
    opened = open_bundle(folder, verify="always")
    assert isinstance(opened, SpotBundle)
    return opened


@pytest.fixture(scope="module")
def solver() -> PostflopSolver:
    solver = spot_solver(SPOT)
    solver.solve(max_iterations=60, target_exploitability_pct=0.0)
    return solver


def test_every_decision_is_there_on_every_board(
    folder: Path, bundle: SpotBundle, solver: PostflopSolver
) -> None:
    tree = solver.tree
    decisions = [node for node in range(len(tree)) if tree.player[node] >= 0 and tree.num_children[node] > 1]
    assert bundle.lines() == [tree.line(node) for node in decisions]
    nodes = polars.read_ipc(folder / "nodes.arrow")
    assert nodes.filter(polars.col("line") == "")["board"].to_list() == ["QsJh2h8d"]
    rivers = nodes.filter(polars.col("line") == "xx/")["board"].to_list()
    assert len(set(rivers)) == len(rivers) == 48
    files = {"manifest.json", "spot.json", "result.json", "nodes.arrow", "hands.arrow", "lines.arrow"}
    assert {file.name for file in folder.iterdir()} == files
    assert bundle.spot["pot"] == 200
    assert "seconds" not in json.loads(bundle.text("result.json"))


@pytest.mark.parametrize(
    ("line", "cards"), [("", ""), ("x", ""), ("xb100", ""), ("xx/", "3c"), ("xx/x", "2d"), ("b100c/xA", "Ah")]
)
def test_the_rows_of_a_decision_are_those_of_the_solver(
    folder: Path, bundle: SpotBundle, solver: PostflopSolver, line: str, cards: str
) -> None:
    report = solver.go(line, cards).node()
    hands = polars.read_ipc(folder / "hands.arrow").with_columns(
        polars.col("line", "board").cast(polars.String)
    )
    here = hands.filter((polars.col("line") == line) & (polars.col("board") == report.board))
    own = report.hands[report.player]
    assert here["hand"].to_list() == own.names
    for name, expected in (("weight", own.weights), ("ev", own.ev), ("equity", own.equity)):
        np.testing.assert_allclose(here[name].to_numpy(), expected, atol=1e-9)
    np.testing.assert_allclose(here["strategy"].to_list(), report.strategy.T, atol=1e-6)
    np.testing.assert_allclose(here["action_ev"].to_list(), report.action_ev.T, rtol=1e-6, atol=1e-4)
    board = parse_board(report.board)
    for player, held in enumerate(report.hands):
        weights = np.zeros(NUM_COMBOS)
        weights[held.combos] = held.weights
        np.testing.assert_allclose(bundle.range(line, player, board), weights, atol=1e-6)
    shares = bundle.probabilities(bundle.decision(line), board)
    np.testing.assert_allclose(shares[:, own.combos], report.strategy, atol=1e-6)


def test_hands_are_off_path_by_the_rules_of_everywhere(bundle: SpotBundle, solver: PostflopSolver) -> None:
    line, board = "xb100A", "QsJh2h8d"
    rows = bundle.postflop(line, board)
    table = per_history_strategy(solver.engine, 0, ())
    expected = mark_off_path_with_reason(
        table, by_hole(bundle.dealt_range(1)), board=board, history=line, hero_is_oop=False
    )
    found = dict(zip(rows.combos.tolist(), rows.reasons))
    assert {combo: found[combo] for combo in map(parse_combo, expected)} == {
        parse_combo(hole): reason for hole, reason in expected.items()
    }
    assert {"not_held", None} < set(rows.reasons)


def test_commands_read_a_saved_solve(folder: Path, bundle: SpotBundle) -> None:
    data = json.loads(run("chart", folder, "--ev", "--json"))
    root = json.loads(bundle.text("result.json"))["root"]
    assert (data["player"], data["board"], data["actions"]) == (
        "oop",
        "QsJh2h8d",
        ["check", "bet_100", "all_in"],
    )
    assert set(data["combos"]) == set(root["hands"])
    for name, hand in root["hands"].items():
        row = data["combos"][name]
        assert list(row["strategy"].values()) == pytest.approx(hand["strategy"], abs=1e-6)
        assert row["ev"] == pytest.approx(hand["ev"] / 100, abs=1e-4)
    aces = [name for name in root["hands"] if CLASS_NAMES[CLASS_OF_COMBO[parse_combo(name)]] == "AA"]
    mean = np.mean([root["hands"][name]["ev"] for name in aces]) / 100
    assert data["hands"]["AA"]["ev"] == pytest.approx(mean, abs=1e-4)
    assert data["hands"]["72o"]["reason"] == "not_held"
    for flags in ([], ["--raw"]):
        text = run("chart", folder, "xx/", "--board", "QsJh2h8d3c", *flags)
        assert "xx/: oop to act on QsJh2h8d3c" in text
        assert f"72o {DASH}" in text
    lines = json.loads(run("lines", folder, "--json"))["lines"]
    by_line = {line["line"]: line for line in lines}
    assert by_line[""]["reach"] == pytest.approx(1)
    assert list(by_line[""]["frequencies"].values()) == pytest.approx(root["frequencies"], abs=1e-6)
    checked = by_line[""]["frequencies"]["check"]
    assert by_line["x"]["reach"] == pytest.approx(checked, abs=1e-6)
    river = json.loads(run("lines", folder, "--board", "QsJh2h8d3c", "--json"))["lines"]
    assert {line["street"] for line in river} == {"river"}
    held = json.loads(run("range", folder, "x", "--player", "ip", "--json"))
    assert held["player"] == "ip"
    assert held["weights"]["KsKh"] == 1
    assert held == json.loads(run("range", folder, "x", "--player", "sb", "--json"))


def test_a_depth_keeps_what_is_so_many_actions_from_the_root(spot_file: Path, tmp_path: Path) -> None:
    for depth, lines in ((0, [""]), (1, ["", "x", "b100", "A"])):
        run("solve", spot_file, "--out", tmp_path / str(depth), "--nodes", depth, "--json")
        opened = open_bundle(tmp_path / str(depth))
        assert isinstance(opened, SpotBundle)
        assert opened.lines() == lines
    with pytest.raises(ValueError, match="nothing, the betting is over, or was not saved"):
        opened.decision("xxx")


def test_the_same_solve_is_saved_as_the_same_bytes(spot_file: Path, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        run("solve", spot_file, "--out", folder, "--nodes", 2)
    for file in folders[0].iterdir():
        assert (folders[1] / file.name).read_bytes() == file.read_bytes(), file.name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nodes", "all"], "--nodes: needs --out FOLDER"),
        (["--nodes", "some", "--out", "{new}"], "--nodes: 'some'; accepted: all, or a number of actions"),
        (["--nodes", "-1", "--out", "{new}"], "--nodes: '-1'; accepted"),
        (["--nodes", "1", "--out", "{spot}"], "is a file; expected a new folder"),
        (["--nodes", "1", "--out", "none/solved"], "its folder does not exist"),
    ],
)
def test_a_mistake_is_named_before_the_solve(
    spot_file: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    names = {"{new}": str(tmp_path / "new"), "{spot}": str(spot_file)}
    with pytest.raises(UserError) as error:
        run("solve", spot_file, *(names.get(word, word) for word in words))
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_more_than_fits_is_refused_with_the_depth_that_does(
    spot_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_spot, "MAX_HANDS", 100)
    with pytest.raises(
        UserError, match=r"--nodes: all is [\d,]+ rows of hands, more than 100; accepted: up to 1"
    ):
        run("solve", spot_file, "--out", tmp_path / "new", "--nodes", "all")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chart", "{bundle}", "xx/"], "has 4 cards: line 'xx/' needs 5"),
        (["chart", "{bundle}", "--board", "QsJh3h8d"], "does not start with that of the spot, QsJh2h8d"),
        (["chart", "{bundle}", "b7"], "'b7' is not possible after the start; accepted: x b100 A"),
        (["diff", "{bundle}", "{bundle}"], "a saved postflop solve; expected a blueprint"),
        (
            [
                "chained",
                "--bundle",
                "{bundle}",
                "--hero-range",
                "AA",
                "--villain-range",
                "KK",
                "--board",
                "QsJh2h",
            ],
            "a saved postflop solve; expected a blueprint",
        ),
    ],
)
def test_a_question_that_it_cannot_answer_is_one_line(folder: Path, words: list[str], message: str) -> None:
    with pytest.raises(UserError) as error:
        run(*(word.replace("{bundle}", str(folder)) for word in words))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
