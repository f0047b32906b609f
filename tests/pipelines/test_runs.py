"""Whole runs of the smallest preset: the second recomputes nothing, and ten kills change no byte."""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

#: Where a run in a folder that is no checkout keeps its results.
STORE = "blueprint-store"
COMMAND = ("pipelines.blueprint", "+preset=smoke")
Run = Callable[..., subprocess.CompletedProcess[str]]

#: Metrics of the pipeline's run in MLflow.
SHOWN = [
    "exploitability",
    "exploitability_cleaned",
    "exploitability_raw",
    "exported_bytes",
    "first_in_call",
    "first_in_fold",
    "first_in_raise",
    "iterations_per_second",
    "loss_flop",
    "loss_preflop",
    "loss_river",
    "loss_turn",
    "peak_memory_bytes",
    "sb_ev",
    "spread_flop",
    "spread_river",
    "spread_turn",
    "stopped_early",
    "total_core_hours",
    "training_core_hours",
]

pytestmark = pytest.mark.whole


def hashes(root: Path) -> dict[str, str]:
    """Every file of every finished bundle, manifests included, by its path in the store."""
    files = [file for manifest in root.glob("*-*/manifest.json") for file in manifest.parent.iterdir()]
    return {str(f.relative_to(root)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(files)}


@dataclass(frozen=True)
class Calm:
    """A run that nothing disturbed: where, what it printed, how long it took, what it left."""

    folder: Path
    printed: list[str]
    seconds: float
    files: dict[str, str]


@pytest.fixture(scope="module")
def calm(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    folder = tmp_path_factory.mktemp("calm")
    started = time.monotonic()
    done = run(*COMMAND, cwd=folder)
    assert done.returncode == 0, done.stderr
    seconds = time.monotonic() - started
    return Calm(folder, done.stdout.splitlines(), seconds, hashes(folder / STORE))


def test_the_last_line_names_the_exported_bundle(calm: Calm) -> None:
    assert calm.printed[-1].startswith(f"bundle: {STORE}/export-")
    assert (calm.folder / calm.printed[-1].removeprefix("bundle: ") / "manifest.json").is_file()
    assert {path.name for path in calm.folder.iterdir()} == {STORE}


def test_the_packages_can_be_imported_where_a_run_was_made(calm: Calm) -> None:
    path = calm.printed[-1].removeprefix("bundle: ")
    script = f"from artifacts import open_blueprint; print(open_blueprint({path!r}).lines('preflop')[0])"
    done = subprocess.run([sys.executable, "-c", script], cwd=calm.folder, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("||p|\n", "")


def test_a_chart_names_the_run_that_made_the_bundle(run: Run, calm: Calm) -> None:
    chart = run("pipelines.poker_solver", "chart", "--json", cwd=calm.folder)
    source = json.loads(chart.stdout)["source"]
    assert (source["game"], source["preset"], source["tier"]) == ("hu100", "smoke", "small")
    compared = run("pipelines.poker_solver", "compare", "--store", STORE, "--json", cwd=calm.folder)
    (group,) = json.loads(compared.stdout)
    assert source["run"] in [row["run_id"] for row in group["runs"]]
    assert {row["bundle"] for row in group["runs"]} == {f"export-{source['key']}"}
    assert {tuple(row["stacks"]) for row in group["runs"]} == {(10_000, 10_000)}


def test_the_second_time_recomputes_nothing(run: Run, calm: Calm) -> None:
    second = run(*COMMAND, cwd=calm.folder)
    assert second.returncode == 0
    assert "everything was cached; nothing computed" in second.stdout
    assert second.stdout.splitlines()[-1] == calm.printed[-1]
    assert hashes(calm.folder / STORE) == calm.files

    compare = run("pipelines.compare", "out=runs.json", cwd=calm.folder)
    assert compare.returncode == 0, compare.stderr
    (group,) = json.loads((calm.folder / "runs.json").read_text())
    assert [row["status"] for row in group["runs"]] == ["FINISHED", "FINISHED"]
    assert group["tier"] == "small"
    # Cleaning changes hands that are hardly ever there, for better or worse.
    for row in group["runs"]:
        assert row["exploitability_cleaned"] == pytest.approx(row["exploitability_raw"], rel=0.005)

    again, first = (recorded_metrics(calm.folder, row["run_id"]) for row in group["runs"])
    assert sorted(first) == SHOWN
    assert again == first
    assert [step for step, _ in first["exploitability"]] == [8, 16, 24]
    assert [step for step, _ in first["training_core_hours"]] == [8, 16, 24]


def recorded_metrics(folder: Path, run_id: str) -> dict[str, list[tuple[int, float]]]:
    """Steps and values of each metric of a run in MLflow."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/{STORE}/mlflow.db")
    names = client.get_run(run_id).data.metrics
    return {name: [(m.step, m.value) for m in client.get_metric_history(run_id, name)] for name in names}


def test_the_store_is_listed_and_a_truncated_file_is_found(run: Run, calm: Calm, tmp_path: Path) -> None:
    shutil.copytree(calm.folder / STORE, tmp_path / STORE)
    listing = run("pipelines.store", "list", cwd=tmp_path)
    assert all(name.split("/")[0] in listing.stdout for name in calm.files)
    assert run("pipelines.store", "verify", cwd=tmp_path).returncode == 0
    file = tmp_path / STORE / next(name for name in calm.files if name.endswith(".arrow"))
    file.write_bytes(file.read_bytes()[:-1])
    verify = run("pipelines.store", "verify", cwd=tmp_path)
    assert verify.returncode == 1
    assert file.name in verify.stdout


def test_a_cached_bundle_with_an_altered_byte_is_one_line_that_says_what_to_do(
    run: Run, calm: Calm, tmp_path: Path
) -> None:
    shutil.copytree(calm.folder / STORE, tmp_path / STORE)
    name = next(name for name in calm.files if name.endswith("equity_river.arrow"))
    file = tmp_path / STORE / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    stopped = run(*COMMAND, cwd=tmp_path)
    assert stopped.returncode == 1
    (line,) = stopped.stderr.splitlines()
    assert line.startswith(f"error: {STORE}/{name}: altered")
    assert "remove that bundle's folder and run again" in line
    assert f"python -m pipelines.store verify store.root={STORE}" in line


@pytest.mark.deep
@pytest.mark.timeout(2400)
def test_a_disk_that_is_full_again_and_again_changes_no_byte(run: Run, calm: Calm, tmp_path: Path) -> None:
    """A size limit stands for the full disk. It grows from run to run, so each stage meets it at some file."""
    command = [sys.executable, "-m", *COMMAND, "cluster=inprocess"]
    codes = []
    for limit in (20_000, 60_000, 300_000, 800_000, 5_000_000, 100_000_000, 300_000_000):
        limits = (limit, limit)
        done = subprocess.run(
            command,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, limits),
        )
        codes.append(done.returncode)
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: the disk is full (File too large"), done.stderr
        assert run("pipelines.store", "verify", cwd=tmp_path).returncode == 0
    assert codes == [1] * 7
    assert run(*COMMAND, cwd=tmp_path).returncode == 0
    assert hashes(tmp_path / STORE) == calm.files


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_ten_kills_at_random_moments_change_no_byte(run: Run, calm: Calm, tmp_path: Path) -> None:
    random_ = random.Random(7)
    killed = 0
    command = [sys.executable, "-m", *COMMAND]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(10):
        process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **quiet)
        try:
            # Finished stages are kept, so that half the length at most still gets to the last ones.
            process.wait(timeout=random_.uniform(0.1, 0.5) * calm.seconds)
        except subprocess.TimeoutExpired:
            killed += 1
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        else:  # it got to the end: the next kills need work to interrupt
            for stage in ("bucket_equity", "lcfr", "dcfr", "evaluate", "preflop_ev", "export"):
                for folder in (tmp_path / STORE).glob(f"{stage}-*"):
                    shutil.rmtree(folder)
    assert killed >= 3
    done = run(*COMMAND, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert hashes(tmp_path / STORE) == calm.files
    assert run("pipelines.store", "verify", cwd=tmp_path).returncode == 0
