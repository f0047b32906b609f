"""Games of three seats through the whole pipeline, and what the commands say of the bundle."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, parse_combo
from abstractions.ranges import parse_range
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.bundle import open_bundle
from pipelines.figures.multiway import multiway_figures
from solver.postflop.solver import PostflopSolver

Run = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.whole
BLUEPRINT = ["pipelines.blueprint", "+preset=smoke", "game=three_max25", "store.root=store"]
CHECKDOWN = [*BLUEPRINT, "solver.postflop=checkdown", "cluster=inprocess"]


@pytest.fixture(scope="module")
def folder(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a checked-down game of three seats was trained."""
    where = tmp_path_factory.mktemp("multiway")
    done = run(*CHECKDOWN, "multiway.epochs=8", "multiway.deals=500", cwd=where)
    assert done.returncode == 0, done.stderr
    *_, last = done.stdout.splitlines()
    assert last.startswith("bundle: store/export-")
    (where / "bundle").symlink_to(last.removeprefix("bundle: "))
    return where


@pytest.fixture
def bundle(folder: Path) -> MultiwayBundle:
    found = open_bundle(folder / "bundle")
    assert isinstance(found, MultiwayBundle)
    return found


@pytest.fixture
def answer(run: Run, folder: Path) -> Callable[[str], dict]:
    def ask(line: str) -> dict:
        done = run("pipelines.poker_solver", *shlex.split(line), "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def test_figures_of_every_seat_are_in_the_bundle(bundle: MultiwayBundle) -> None:
    for seat in ("SB", "BB", "BTN"):
        low, gain, high = (bundle.metrics[f"gain_{seat}{end}"] for end in ("_low", "", "_high"))
        assert low <= gain <= high
    assert sum(bundle.metrics[f"ev_{seat}"] for seat in ("SB", "BB", "BTN")) == pytest.approx(0, abs=900)
    assert 0 < bundle.metrics["first_in_raise_BTN"] < 1


def test_aces_raise_and_the_worst_hand_folds_first_in(bundle: MultiwayBundle) -> None:
    table = bundle.strategy_table(clean=False)["||p|"]
    assert table["AA"]["fold"] < 0.05
    assert table["72o"]["fold"] > 0.5


def test_lines_name_the_seat_of_every_decision_and_hold_folds(answer) -> None:
    lines = {entry["line"]: entry for entry in answer("lines bundle")["lines"]}
    assert (lines[""]["player"], lines["f"]["player"], lines["fb200"]["player"]) == ("BTN", "SB", "BB")
    for entry in lines.values():
        assert entry["reach"] == 0 or sum(entry["frequencies"].values()) == pytest.approx(1)
    shares = lines[""]["frequencies"]
    assert lines["f"]["reach"] == pytest.approx(shares["fold"], abs=1e-5)


def test_a_chart_finds_the_decision_of_a_seat(answer, run: Run, folder: Path) -> None:
    assert answer("chart bundle --seat SB")["line"] == "f"
    assert answer("chart bundle b200 --seat BB")["line"] == "b200f"
    done = run("pipelines.poker_solver", "chart", "bundle", "ff", "--seat", "BTN", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    done = run("pipelines.poker_solver", "chart", "bundle", "--seat", "UTG", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "0 or SB, 1 or BB, 2 or BTN" in done.stderr


def test_a_range_is_what_the_seat_played(answer, bundle: MultiwayBundle) -> None:
    weights = answer("range bundle b200 --player BTN")["weights"]
    table = bundle.strategy_table(clean=False)["||p|"]
    for hand in ("AA", "T9s", "72o"):
        assert weights.get(hand, 0.0) == pytest.approx(table[hand]["open_200"], abs=1e-6)


def test_a_bundle_does_not_differ_from_itself(answer) -> None:
    assert answer("diff bundle bundle")["weighted"] == 0


def test_other_tools_read_the_tables(folder: Path, bundle: MultiwayBundle) -> None:
    frame = pl.read_ipc(folder / "bundle" / "preflop.arrow")
    first = frame.filter(pl.col("line") == "")
    assert first["seat"].unique().to_list() == ["BTN"]
    total = np.array(first["raw_probability"].to_list()).sum(axis=0)
    assert total == pytest.approx(np.ones(169), abs=1e-5)
    with duckdb.connect() as database:
        database.register("preflop", frame.to_arrow())
        ((count,),) = database.execute("select count(distinct line) from preflop").fetchall()
    assert count == len(bundle.lines()) == bundle.metrics["lines"]


def test_hands_that_folded_before_are_off_the_line(bundle: MultiwayBundle) -> None:
    rows = bundle.preflop("b200ff" if "b200ff" in bundle.lines() else "b200fr600")
    raiser = bundle.preflop("")
    index = CLASS_NAMES.index("AA")
    assert rows.reasons[index] is None
    fold = raiser.raw_probability[:, raiser.actions.index("fold")]
    for hand in np.flatnonzero(fold >= 0.999).tolist():
        assert rows.reasons[hand] == "folded"
        assert rows.probability[hand, rows.actions.index("fold")] == 1.0


def test_every_first_in_and_facing_a_raise_decision_has_a_picture(bundle: MultiwayBundle) -> None:
    assert set(multiway_figures(bundle)) == {
        "chart_BTN_first_in",
        "chart_SB_first_in",
        "chart_SB_vs_BTN",
        "chart_BB_vs_BTN",
        "chart_BB_vs_SB",
    }


def test_runs_are_compared_within_their_game(run: Run, folder: Path) -> None:
    done = run("pipelines.compare", "store.root=store", "out=runs.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (group,) = json.loads((folder / "runs.json").read_text())
    assert group["game"].startswith("three_max25-")
    assert group["runs"][0]["gain_mean"] is not None


def test_a_report_of_the_run_has_its_charts_and_gains(run: Run, folder: Path, bundle: MultiwayBundle) -> None:
    done = run("pipelines.report", "last", "store.root=store", "out=run.html", cwd=folder)
    assert done.returncode == 0, done.stderr
    page = (folder / "run.html").read_text()
    assert page.count("data:image/png;base64,") >= len(multiway_figures(bundle))
    assert "gain in seat BTN" in page


def test_values_by_hand_are_refused(run: Run, folder: Path) -> None:
    done = run("pipelines.poker_solver", "chart", "bundle", "--ev", cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "two seats only" in done.stderr


def test_a_blueprint_that_checks_flops_down_has_no_subgames(run: Run, folder: Path) -> None:
    words = ["subgame", "bundle", "--line", "b200c", "--board", "QsJh2h"]
    done = run("pipelines.poker_solver", *words, cwd=folder)
    assert done.returncode == 2
    assert "flops are checked down" in done.stderr


CHAINED = "chained --bundle bundle --hero-range KK,AKs,T9s --villain-range QQ,AQs,87s --bet a --target 5 --line b200fc"


def test_a_chained_solve_takes_what_the_others_folded_from_the_line(answer, bundle: MultiwayBundle) -> None:
    found = answer(f"{CHAINED} --board Ad8h9d2c")
    assert (found["hero"]["seat"], found["villain"]["seat"]) == ("BTN", "BB")
    assert found["folded_seats"] == ["SB"]
    folded = bundle.range("b200fc", "SB")
    assert parse_range(found["folded_ranges"][0]) == pytest.approx(folded[CLASS_OF_COMBO], abs=1e-6)
    assert bundle.preflop("b200").raw_probability[:, 0] == pytest.approx(folded, abs=1e-6)
    assert 0 < found["preflop"]["probability"] < 1
    flop, turn = found["streets"]
    assert (flop["pot"], flop["stack"]) == (450, 2300)
    weights = np.zeros(1326)
    for hole, weight in flop["ranges"]["hero"].items():
        weights[parse_combo(hole)] = weight
    held = np.flatnonzero(weights)
    reach = bundle.range("b200fc", "BTN")[CLASS_OF_COMBO]
    assert np.ptp(weights[held] / reach[held]) == pytest.approx(
        0, abs=1e-5 * (weights[held] / reach[held]).max()
    )
    again = PostflopSolver(
        board=turn["board"],
        oop_range=_range_of(turn["ranges"]["villain"]),
        ip_range=_range_of(turn["ranges"]["hero"]),
        pot=turn["pot"],
        stack=turn["stack"],
        bet_sizes={"turn": {"bet": "a", "raise": "3x"}},
        folded_ranges=found["folded_ranges"],
    )
    again.solve(max_iterations=turn["solve"]["iterations"], target_exploitability_pct=None)
    assert again.node().ev[1] == pytest.approx(turn["ev"]["hero"], abs=0.5)


def _range_of(hands: dict[str, float]) -> np.ndarray:
    weights = np.zeros(1326)
    for hole, weight in hands.items():
        weights[parse_combo(hole)] = weight
    return weights


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--line b200cc", "line: 3 players see the flop after 'b200cc'"),
        ("--line b200", "line: 'b200' does not lead to a flop"),
        ("--hero SB", "hero: SB does not see the flop; accepted: BB, BTN"),
        ("--depth 1", "depth: 1 needs a whole blueprint"),
    ],
)
def test_a_chained_solve_that_cannot_be_is_refused(run: Run, folder: Path, words: str, message: str) -> None:
    done = run("pipelines.poker_solver", *shlex.split(f"{CHAINED} --board Ad8h9d {words}"), cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
