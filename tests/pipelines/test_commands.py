"""The commands as a person types them: exit codes, what is printed, what is written, interrupts."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.config import composition

PYTHON = [sys.executable, "-m"]
Run = Callable[..., subprocess.CompletedProcess[str]]


def test_a_plan_writes_nothing(run: Run, tmp_path: Path) -> None:
    plan = run("pipelines.blueprint", "+preset=standard", "plan=true", cwd=tmp_path)
    assert plan.returncode == 0
    assert "to run" in plan.stdout
    assert "store: blueprint-store (the default in this folder; store.root=DIR sets another)" in plan.stdout
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
    run: Run, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_help_and_cfg_explain_themselves(run: Run, tmp_path: Path) -> None:
    shown = run("pipelines.blueprint", "--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert "+preset=standard" in shown.stdout
    config = run("pipelines.blueprint", "--cfg", "job", "+preset=fast", "game=hu25", cwd=tmp_path)
    assert config.returncode == 0
    assert "stacks:\n  - 2500" in config.stdout
    assert "store:\n  root: blueprint-store\n" in config.stdout
    assert "uri: sqlite:///blueprint-store/mlflow.db" in config.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.whole
def test_a_sweep_runs_every_job(run: Run, tmp_path: Path) -> None:
    sweep = ("+preset=smoke", "game=hu25", "cluster=inprocess", "evaluate.reach_rule=max,total")
    done = run("pipelines.blueprint", "-m", *sweep, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("bundle: ") for line in done.stdout.splitlines()) == 2
    assert {path.name for path in tmp_path.iterdir()} == {"blueprint-store"}


@pytest.mark.whole
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_says_how_to_resume_and_exits_130(tmp_path: Path, number: signal.Signals) -> None:
    command = [*PYTHON, "pipelines.blueprint", "+preset=smoke"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "blueprint-store/.locks").exists():
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Resume with: " in errors
    assert "-m pipelines.blueprint +preset=smoke" in errors
    assert "Traceback" not in errors


def test_the_command_and_the_library_agree_on_the_configuration(run: Run, tmp_path: Path) -> None:
    shown = run("pipelines.blueprint", "--cfg", "job", "+preset=smoke", cwd=tmp_path).stdout
    assert f"seed: {composition.compose_config(['+preset=smoke']).seed}" in shown
