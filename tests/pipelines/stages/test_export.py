"""The export stage: the bundle says what the blueprint plays, whole and readable by anybody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pytest
from omegaconf import OmegaConf
from typer.testing import CliRunner

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_COMBOS, parse_board
from abstractions.textures import medoid_boards
from artifacts import BlueprintBundle, open_blueprint
from artifacts.preflop_offpath import clean_off_path, reasons_by_line
from artifacts.readers import read_textures
from pipelines.figures.export import bundle_figures, equity_realisation
from pipelines.run.cluster import InProcess
from pipelines.stages.evaluate import cleaned_blueprint
from pipelines.store import app
from pipelines.training.evaluation_boards import evaluation_boards, exploitability
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import action_labels
from solver.blueprint.continuation import Continuations
from solver.preflop.solver import PreflopStrategy

RIVER = "QsJh2h8d3c"


@pytest.fixture(scope="module")
def bundle(exported: Path) -> BlueprintBundle:
    return open_blueprint(exported)


def test_the_exported_strategy_is_the_one_that_was_evaluated(bundle: BlueprintBundle) -> None:
    blueprint = bundle.blueprint
    boards = evaluation_boards("small", read_textures(bundle), bundle, "medoids")
    raw = exploitability(blueprint, boards, InProcess())
    assert raw == pytest.approx(bundle.metrics["exploitability_raw"], rel=1e-5)
    cleaned = exploitability(cleaned_blueprint(blueprint), boards, InProcess())
    assert cleaned == pytest.approx(bundle.metrics["exploitability_cleaned"], rel=1e-5)


def test_preflop_rows_hold_both_strategies_with_reasons_reach_and_values(bundle: BlueprintBundle) -> None:
    play = PreflopStrategy(bundle.blueprint.game.preflop, bundle.blueprint.preflop)
    raw = play.by_line()
    assert bundle.strategy_table(clean=False) == raw
    assert bundle.strategy_table() == clean_off_path(raw)
    reasons = reasons_by_line(raw)
    for line in bundle.lines("preflop"):
        rows = bundle.preflop(line)
        assert dict(zip(rows.hands, rows.reasons)) == reasons[line]
        np.testing.assert_array_equal(rows.reach, play.reach(line, bundle.decision(line).player))
    counts = {name: value for name, value in bundle.metrics.items() if name.startswith("cleaned_")}
    marked = [reason for hands in reasons.values() for reason in hands.values() if reason]
    assert counts.pop("cleaned_rows") == len(marked) > 0
    assert counts == {f"cleaned_{reason}": marked.count(reason) for reason in set(marked)}
    first = bundle.preflop("||p|")
    won = (first.raw_probability * first.ev).sum(axis=1)
    assert won @ CLASS_COMBOS / 1326 * 10 == pytest.approx(bundle.metrics["ev_sb"])
    np.testing.assert_allclose(first.ev[:, first.actions.index("fold")], -50)


def test_every_decision_has_its_line_and_its_rows(bundle: BlueprintBundle) -> None:
    blueprint = bundle.blueprint
    tree = blueprint.game.tree
    decisions = np.flatnonzero(tree.kind == NodeKind.DECISION)
    assert {line.removeprefix("||p|") for line in bundle.lines()} == {tree.lines[node] for node in decisions}
    for street, name in enumerate(("flop", "turn", "river"), start=1):
        table = bundle[f"postflop_{name}"]
        np.testing.assert_allclose(table["probability"].sum(), len(bundle.lines(name)) * (3 + street))
        for line in bundle.lines(name)[:: 7 * street]:
            found, node = bundle.decision(line), tree.node_at(line)
            assert list(found.actions) == action_labels(tree, node)
            assert (found.player, found.pot) == (tree.player[node], tree.pot[node])
            assert found.committed == tuple(tree.committed[node])
            here = slice(found.row, found.row + len(found.actions))
            assert set(table["line"][here]) == {line}
            assert table["action"][here].tolist() == list(found.actions)


@pytest.mark.parametrize(
    ("scope", "pot_types"), [("global", "per_line"), ("texture", "per_line"), ("global", "shared")]
)
def test_reach_agrees_with_the_solvers_queries(
    export_tiny: Callable[..., Path], scope: str, pot_types: str
) -> None:
    bundle = open_blueprint(export_tiny(scope, pot_types))
    queries = bundle.blueprint
    textures = read_textures(bundle)
    for board in (parse_board(RIVER), *medoid_boards(textures)[0][:2]):
        for street, name in enumerate(("flop", "turn", "river"), start=1):
            cards = board[: street + 2]
            for line in bundle.lines(name)[:: 11 * street]:
                for seat in range(2):
                    expected = queries.reach(line, cards, seat)
                    np.testing.assert_allclose(bundle.range(line, seat, cards), expected, rtol=1e-5)
                expected = queries.opponent_reach(line, cards)
                np.testing.assert_allclose(bundle.opponent_reach(line, cards), expected, rtol=1e-5)


def test_lines_of_one_pot_type_share_their_rows(export_tiny: Callable[..., Path]) -> None:
    bundle = open_blueprint(export_tiny("global", "shared"))
    table = bundle["lines"].table().to_pylist()
    flops = [row for row in table if row["street"] == "flop" and row["line"].endswith("/")]
    rows = {row["line"]: row["row"] for row in flops}
    assert rows["b250c/"] == rows["cb250c/"] != rows["cx/"]
    for history in ("", "xb250", "b250c/x"):
        one, other = (bundle.decision(f"{start}/{history}") for start in ("b250c", "cb250c"))
        assert (one.row, one.tokens, one.pot) == (other.row, other.tokens, other.pot)
    first, second = (bundle.range(f"{start}/b250c/x", 1, "QsJh2h8d") for start in ("b250c", "cb250c"))
    start = [bundle.range(line, 1, "QsJh2h") for line in ("b250c", "cb250c")]
    np.testing.assert_allclose(first * start[1], second * start[0])
    everybody = (np.ones(NUM_COMBOS), np.ones(NUM_COMBOS))
    values = [
        bundle.continuation_value(f"{start}/xx/xx/", RIVER, everybody, 0) for start in ("b250c", "cb250c")
    ]
    np.testing.assert_array_equal(*values)
    blueprint = bundle.blueprint
    assert len(blueprint.pots.templates) == len(set(rows.values()))
    boards = evaluation_boards("small", read_textures(bundle), bundle, "medoids")
    assert exploitability(blueprint, boards, InProcess()) == pytest.approx(
        bundle.metrics["exploitability_raw"], rel=1e-5
    )


def test_continuation_values_are_the_solvers(bundle: BlueprintBundle) -> None:
    continuations = Continuations(bundle.blueprint)
    line, cards = "b250c/xx/xx/", parse_board(RIVER)
    ranges = (bundle.range(line, 0, cards), bundle.range(line, 1, cards))
    plain = bundle.continuation_value(line, RIVER)  # of the big blind, who acts first
    np.testing.assert_allclose(plain, continuations.value(line, cards, ranges, 1))
    afraid = bundle.continuation_value(line, RIVER, player="bb", bias="fold")
    expected = continuations.value(line, cards, ranges, 1, biases=("fold", "blueprint"))
    np.testing.assert_allclose(afraid, expected)
    assert np.nanmean(afraid) > np.nanmean(plain)
    everybody = (np.ones(NUM_COMBOS), np.ones(NUM_COMBOS))
    turn = bundle.continuation_value("b250c/xx", RIVER[:8], everybody, 0, runouts=None)
    assert np.isfinite(turn).sum() == 1128


def test_other_tools_read_every_table(exported: Path) -> None:
    tables = {path.stem: pa.ipc.open_file(path).read_all() for path in exported.glob("*.arrow")}
    assert {"preflop", "lines", "postflop_turn", "textures", "buckets_river", "centroids", "equity"} <= set(
        tables
    )
    for name, table in tables.items():
        frame = polars.read_ipc(exported / f"{name}.arrow")
        assert frame.columns == table.column_names == duckdb.from_arrow(table).columns
        assert duckdb.from_arrow(table).aggregate("count(*)").fetchall() == [(len(frame),)]
    totals = duckdb.from_arrow(tables["preflop"]).aggregate("line, hand, sum(probability) as s")
    assert totals.aggregate("max(abs(s - 1))").fetchall()[0][0] < 1e-9
    folded = polars.read_ipc(exported / "preflop.arrow").filter(
        (polars.col("hand") == "72o") & (polars.col("reason") == "folded")
    )
    assert set(folded.filter(polars.col("action") == "fold")["probability"]) == {1.0}
    assert tables["postflop_river"].schema.field("probability").type == pa.list_(pa.float32(), 6)
    sizes = duckdb.from_arrow(tables["postflop_river"]).project("len(probability)").distinct()
    assert sizes.fetchall() == [(6,)]


def test_the_configuration_travels_with_the_bundle(bundle: BlueprintBundle) -> None:
    config = OmegaConf.create(bundle.text("config.yaml"))
    assert list(config.game.stacks) == [1000, 1000]
    assert bundle.game.stacks == (1000, 1000)
    assert config.dcfr.iterations == 20
    assert bundle.config["reach_rule"] == "max"
    assert bundle.manifest.schema_version == 2


def test_an_archive_gives_back_the_same_blueprint(exported: Path, tmp_path: Path) -> None:
    file, root = tmp_path / "blueprint.tar", tmp_path / "store"
    command = CliRunner()
    assert command.invoke(app, ["pack", str(exported), str(file)]).exit_code == 0
    done = command.invoke(app, ["unpack", str(file), f"store.root={root}"])
    assert done.exit_code == 0
    again = open_blueprint(done.stdout.strip().removeprefix("bundle: "))
    assert again.path.resolve().parent == root.resolve()
    assert again.manifest == open_blueprint(exported).manifest
    assert again.strategy_table() == open_blueprint(exported).strategy_table()


def test_pictures_show_the_spots_that_the_game_has(bundle: BlueprintBundle) -> None:
    pictures = bundle_figures(bundle)
    charts = {"chart_sb_first_in", "chart_bb_vs_limp", "chart_bb_vs_open"}
    assert pictures.keys() == charts | {"exploitability", "frequencies", "equity_realisation"}
    for figure in pictures.values():
        figure.canvas.draw()


def test_a_hand_that_wins_half_the_pot_with_half_the_equity_realises_all_of_it(
    bundle: BlueprintBundle,
) -> None:
    share = equity_realisation(bundle, "||p|")
    always_folds = share[CLASS_NAMES.index("72o")]
    assert always_folds == pytest.approx(0)
    rows, equity = bundle.preflop("||p|"), bundle["equity"]
    hand = CLASS_NAMES.index("AA")
    won = (rows.raw_probability * rows.ev).sum(axis=1)[hand] + 50
    aces = (equity["wins"] + equity["ties"] / 2)[hand].sum() / equity["totals"][hand].sum()
    assert share[hand] == pytest.approx(won / (150 * aces))
