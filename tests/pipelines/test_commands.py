"""The commands as a person types them: exit codes, what is printed, what is written, interrupts and kills."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines import composition

PYTHON = [sys.executable, "-m"]


def run(*arguments: str, cwd: Path, timeout: float = 800) -> subprocess.CompletedProcess[str]:
    command = [*PYTHON, *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)


def hashes(root: Path) -> dict[str, str]:
    """Every file of every finished bundle, manifests included, by its path in the store."""
    files = [file for manifest in root.glob("*-*/manifest.json") for file in manifest.parent.iterdir()]
    return {str(f.relative_to(root)): hashlib.sha256(f.read_bytes()).hexdigest() for f in sorted(files)}


def test_the_pipeline_runs_and_the_second_time_recomputes_nothing(tmp_path: Path) -> None:
    first = run("pipelines.blueprint", "+preset=smoke", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    last = first.stdout.splitlines()[-1]
    assert last.startswith("bundle: artifacts/store/export-")
    assert (tmp_path / last.removeprefix("bundle: ") / "manifest.json").is_file()
    before = hashes(tmp_path / "artifacts/store")
    second = run("pipelines.blueprint", "+preset=smoke", cwd=tmp_path)
    assert second.returncode == 0
    assert "everything was cached; nothing computed" in second.stdout
    assert second.stdout.splitlines()[-1] == last
    assert hashes(tmp_path / "artifacts/store") == before
    assert {path.name for path in tmp_path.iterdir()} == {"artifacts"}

    compare = run("pipelines.compare", "out=runs.json", cwd=tmp_path)
    assert compare.returncode == 0, compare.stderr
    (group,) = json.loads((tmp_path / "runs.json").read_text())
    assert [row["status"] for row in group["runs"]] == ["FINISHED", "FINISHED"]
    assert group["tier"] == "small"
    assert all(row["exploitability_cleaned"] >= row["exploitability_raw"] - 1 for row in group["runs"])

    listing = run("pipelines.store", "list", cwd=tmp_path)
    assert all(name.split("/")[0] in listing.stdout for name in before)
    assert run("pipelines.store", "verify", cwd=tmp_path).returncode == 0
    file = tmp_path / "artifacts/store" / next(name for name in before if name.endswith(".arrow"))
    file.write_bytes(file.read_bytes()[:-1])
    verify = run("pipelines.store", "verify", cwd=tmp_path)
    assert verify.returncode == 1
    assert file.name in verify.stdout


def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    plan = run("pipelines.blueprint", "+preset=standard", "plan=true", cwd=tmp_path)
    assert plan.returncode == 0
    assert "to run" in plan.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pipelines.blueprint", "game.stacks=[-1,2]"), "error: game.stacks[0]: -1 is not a whole number"),
        (("pipelines.blueprint", "+preset=smoke", "foo=1"), "error: foo: unknown key"),
        (("pipelines.blueprint", "-m", "+preset=smoke", "seed=1,x"), "error: seed: 'x' is not accepted"),
        (("pipelines.store", "verify", "store.root=nowhere"), "error: store.root: nowhere does not exist"),
        (("pipelines.store", "unpack", "no.tar"), "error: no.tar: no such file"),
        (("pipelines.compare", "store.root=nowhere"), "error: tracking.uri: sqlite:///nowhere/mlflow.db"),
        (
            ("pipelines.compare", "out=no/where.json"),
            "error: out: the folder of no/where.json does not exist",
        ),
    ],
)
def test_a_mistake_is_one_line_exit_2_and_nothing_written(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_help_and_cfg_explain_themselves(tmp_path: Path) -> None:
    shown = run("pipelines.blueprint", "--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert "+preset=standard" in shown.stdout
    config = run("pipelines.blueprint", "--cfg", "job", "+preset=fast", "game=hu25", cwd=tmp_path)
    assert config.returncode == 0
    assert "stacks:\n  - 2500" in config.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_runs_every_job(tmp_path: Path) -> None:
    done = run(
        "pipelines.blueprint", "-m", "+preset=smoke", "cluster=inprocess", "game=hu25,hu100", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("bundle: ") for line in done.stdout.splitlines()) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"artifacts"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_how_to_resume_and_exits_130(tmp_path: Path, number: signal.Signals) -> None:
    command = [*PYTHON, "pipelines.blueprint", "+preset=smoke"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "artifacts/store/.locks").exists():
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Resume with: " in errors
    assert "-m pipelines.blueprint +preset=smoke" in errors
    assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_ten_kills_at_random_moments_change_no_byte(tmp_path: Path) -> None:
    calm = tmp_path / "calm"
    calm.mkdir()
    started = time.monotonic()
    assert run("pipelines.blueprint", "+preset=smoke", cwd=calm).returncode == 0
    length = time.monotonic() - started
    expected = hashes(calm / "artifacts/store")
    stormy = tmp_path / "stormy"
    stormy.mkdir()
    random_ = random.Random(7)
    killed = 0
    command = [*PYTHON, "pipelines.blueprint", "+preset=smoke"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(10):
        process = subprocess.Popen(command, cwd=stormy, start_new_session=True, **quiet)
        try:
            process.wait(timeout=random_.uniform(0.1, 1.0) * length)
        except subprocess.TimeoutExpired:
            killed += 1
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        else:  # it got to the end: the next kills need work to interrupt
            for stage in ("bucket_equity", "lcfr", "dcfr", "evaluate", "export"):
                for folder in (stormy / "artifacts/store").glob(f"{stage}-*"):
                    shutil.rmtree(folder)
    assert killed >= 3
    done = run("pipelines.blueprint", "+preset=smoke", cwd=stormy)
    assert done.returncode == 0, done.stderr
    assert hashes(stormy / "artifacts/store") == expected
    assert run("pipelines.store", "verify", cwd=stormy).returncode == 0


def test_the_command_and_the_library_agree_on_the_configuration(tmp_path: Path) -> None:
    shown = run("pipelines.blueprint", "--cfg", "job", "+preset=smoke", cwd=tmp_path).stdout
    assert f"seed: {composition.compose_config(['+preset=smoke']).seed}" in shown
