"""Every benchmark runs from a checkout, as a user starts it, on sizes that take seconds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.whole


def bench(name: str, *options: str) -> str:
    """Standard output of a script."""
    command = [sys.executable, f"scripts/bench_{name}.py", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_script_is_run_here() -> None:
    scripts = {path.stem.removeprefix("bench_") for path in (ROOT / "scripts").glob("bench_*.py")}
    known = {
        "abstractions",
        "blueprint",
        "equities",
        "evaluate",
        "explorer",
        "folded",
        "multiway",
        "postflop",
        "scaling",
        "subgame",
        "value_data",
    }
    assert scripts == known


def test_folded_players_are_timed_beside_the_plain_solve() -> None:
    output = bench("folded", "--players", "1", "--target", "5", "--repeats", "1")
    plain, folded = output.splitlines()
    assert plain.startswith("plain")
    assert "x plain" in folded


def test_value_data_is_timed_against_its_target() -> None:
    output = bench(
        "value_data", "--streets", "river", "--seconds", "1", "--cores", "1", "--profile", "--rivers", "1"
    )
    assert "x the target" in output
    assert "set-up" in output
    assert "every river of 1 turns" in output


def test_the_evaluation_of_a_flop_is_timed_beside_a_sweep_of_every_board() -> None:
    small = ["game=hu25", "game.stacks=[600,600]", "game.raise_sizes=[2]"]
    output = bench("evaluate", "--boards", "2", "--flops", "monotone", "--", *small)
    assert output.count("times faster") == 2
    assert output.count("monotone") == 2


def test_subgames_are_timed_and_judged(exported: Path) -> None:
    output = bench(
        "subgame", str(exported), "--kinds", "turn", "--spots", "b250c/xx/@QsJh2h8d", "--threads", "1",
        "--sizes", "75%", "--judge-pct", "1",
    )  # fmt: skip
    kind, solved, judged, mean = output.splitlines()
    assert kind == "turn"
    for row in (solved, judged):
        assert row.split()[:2] == ["b250c/xx/", "QsJh2h8d"]
    assert "iterations" in solved
    assert re.search(r"loss -?[\d.]+ % after 0\.5 s", judged)
    assert re.search(r"0\.5 s: mean loss +-?[\d.]+ %, at most", mean)


def test_the_steps_of_the_explorer_are_timed_street_by_street(exported: Path) -> None:
    heading, *rows = bench("explorer", str(exported), "--hands", "3").splitlines()
    assert "clock: median  worst" in heading
    assert [row.split()[:2] for row in rows[:4]] == [
        [street, asked] for street in ("preflop", "flop") for asked in ("strategy", "EVs")
    ]
    for row in rows:
        steps, median, worst = (int(part) for part in row.split()[2:5])
        assert steps > 0
        assert median <= worst


def test_training_of_three_seats_is_timed() -> None:
    (row,) = json.loads(bench("multiway", "--seats", "3", "--deals", "200", "--epochs", "2", "--json"))
    assert row["seats"] == 3
    assert row["traversals_per_second"] > 0


def test_gains_of_responders_are_measured_after_every_step_of_training() -> None:
    few = ("--responder-deals", "2000", "--measured-deals", "1000", "--max-flop-players", "2", "--json")
    rows = [
        json.loads(line)
        for line in bench("multiway", "--seats", "3", "--gains", "5000,10000", *few).splitlines()
    ]
    assert [row["deals"] for row in rows] == [5000, 10_000]
    assert rows[0]["training_seconds"] < rows[1]["training_seconds"]
    for row in rows:
        assert list(row["gains"]) == ["SB", "BB", "BTN"]
        assert all(gain["low"] <= gain["mean"] <= gain["high"] for gain in row["gains"].values())


def test_the_chain_of_abstractions_buckets_every_street() -> None:
    output = bench("abstractions", "--preset", "smoke", "--pieces", "1")
    for street in ("flop", "turn", "river"):
        assert f"{street} bucket equity, 12 x 12" in output
    assert output.count("rows whose mean equity rises with the bucket: 100.0%") == 3


def test_equities_of_several_players_are_timed_beside_ranking() -> None:
    output = bench("equities", "--boards", "5")
    assert output.count("times ranking") == 9
    assert "core-seconds" in output


def test_k_means_is_timed_beside_scikit_learn() -> None:
    output = bench("abstractions", "--kmeans", "--pieces", "1", "--points", "2000", "--clusters", "8,16")
    ratios = [float(line.split()[-1]) for line in output.splitlines() if "inertia over" in line]
    assert len(ratios) == 2
    assert all(0.8 < ratio < 1.2 for ratio in ratios)


def test_sweeps_of_the_blueprint_are_timed_beside_the_exact_solver() -> None:
    sizes = ["--stack", "10", "--buckets", "10", "--boards", "1", "--repeats", "1"]
    figures = json.loads(bench("blueprint", *sizes, "--json"))
    assert figures["river_buckets_per_board"] == 10
    assert figures["over_exact_solver"] > 0


def test_a_river_is_solved_to_the_reference_value(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    bench("postflop", "--spots", "R1", "--repeats", "1", "--startup", "warm", "--out", str(out))
    figures = json.loads(out.read_text())
    (spot,) = figures["spots"]
    assert spot["ev"] == pytest.approx(spot["reference_ev"], abs=0.2)
    assert spot["to_target"]["0.1 %"]["exploitability_pct"] <= 0.1
    assert figures["startup_warm_seconds"] > 0


def test_the_scaling_model_is_made_of_what_was_measured() -> None:
    sizes = ["--stack", "10", "--buckets", "10", "--textures", "4", "--repeats", "2"]
    model = ["--cores", "1,2,8", "--batches", "8,32"]
    report: dict[str, Any] = json.loads(bench("scaling", *sizes, *model, "--json"))
    assert list(report) == ["global", "texture"]
    for scope in report.values():
        assert scope["measured_ms"]["1"] > 0
        assert {(row["cores"], row["batch"]) for row in scope["model"]} == {
            (cores, batch) for cores in (1, 2, 8) for batch in (8, 32)
        }
        (one,) = (row["ms"] for row in scope["model"] if (row["cores"], row["batch"]) == (1, 8))
        assert scope["modelled_ms"]["1"] == one
        # On one host every board is swept there, so an iteration takes at least eight sweeps.
        assert one > 8 * max(scope["costs"]["board"].values())
