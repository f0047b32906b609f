"""What goes wrong inside a run ends in one line and an exit code, and costs no finished stage."""

from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from pipelines import blueprint
from pipelines.run import disk
from pipelines.run.command import run_command
from pipelines.run.errors import MachineError

SMOKE = ("+preset=smoke", "cluster=inprocess")


def typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    """Exit code, output and errors of the command line, in this process."""
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    monkeypatch.setattr(sys, "argv", ["blueprint", *arguments])
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ending:
            run_command(blueprint.main, resume="Resume with: again")
    finally:
        signal.signal(signal.SIGTERM, terminate)
    printed = capsys.readouterr()
    code = ending.value.code
    return code if isinstance(code, int) else 0, printed.out, printed.err


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("file", "error: store.root: file is not a folder"),
        ("file/below", "error: store.root: file in file/below is not a folder"),
        ("x" * 300, "(300 characters) cannot be used (File name too long)"),
        ("/proc/no/store", "error: store.root: /proc/no/store is not writable"),
    ],
)
@pytest.mark.parametrize("sweep", [(), ("-m", "seed=1,2")])
def test_a_store_that_cannot_be_used_is_one_line_and_exit_2(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    root: str,
    message: str,
    sweep: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    code, _, errors = typed(monkeypatch, capsys, *sweep, *SMOKE, f"store.root={root}")
    assert code == 2
    assert message in errors or sweep  # Hydra finds it first in a sweep
    assert len(errors.splitlines()) == 1
    assert errors.startswith("error: store.root: ")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_read_only_store_can_be_planned_but_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def read_only(**_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(disk.tempfile, "TemporaryFile", read_only)
    code, output, errors = typed(monkeypatch, capsys, *SMOKE, f"store.root={tmp_path}/s", "plan=true")
    assert (code, errors) == (0, "")
    assert "340.3 MB" in output  # scratch of stage buckets
    assert "at most 346." in output
    assert f" free at {tmp_path}/s" in output
    code, _, errors = typed(monkeypatch, capsys, *SMOKE, f"store.root={tmp_path}/s")
    assert code == 2
    assert errors == f"error: store.root: {tmp_path}/s is not writable (Read-only file system)\n"
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_does_not_fit_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small = shutil._ntuple_diskusage(0, 0, 100 << 20)  # type: ignore[attr-defined]
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: small)
    code, output, errors = typed(monkeypatch, capsys, *SMOKE, f"store.root={tmp_path}/s")
    assert code == 1
    assert "100.0 MB free" in output
    (line,) = errors.splitlines()
    assert line.startswith(f"error: store.root: {tmp_path}/s has 100.0 MB free and the run needs about 346.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "code", "line"),
    [
        (
            MachineError("Ray's process raylet died"),
            1,
            "error: Ray's process raylet died; Resume with: again",
        ),
        (
            OSError(28, "x", "f"),
            1,
            "error: the disk is full (No space left on device: f); Resume with: again",
        ),
        (KeyboardInterrupt(), 130, "interrupted; Resume with: again"),
    ],
)
def test_hydra_says_nothing_of_a_failure(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    failure: BaseException,
    code: int,
    line: str,
) -> None:
    def fail(_: object) -> None:
        raise failure

    monkeypatch.setattr(blueprint, "run_pipeline", fail)
    assert typed(monkeypatch, capsys, *SMOKE) == (code, "", line + "\n")


def test_a_sweep_goes_on_after_a_failure_and_tells_all_of_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(config: blueprint.Config) -> Path:
        if config.seed == 2:
            return tmp_path
        raise MachineError(f"seed {config.seed}")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(blueprint, "run_pipeline", fail)
    code, output, errors = typed(monkeypatch, capsys, "-m", *SMOKE, "seed=1,2,3")
    assert code == 1
    assert output == "bundle: .\n"
    assert errors == "error: seed 3\nerror: seed 1; Resume with: again\n"


@pytest.mark.whole
def test_a_size_limit_ends_a_run_in_one_line_and_the_next_goes_on(tmp_path: Path) -> None:
    """RLIMIT_FSIZE stands for a full disk: it needs no root. Two stages fit, the table of all rivers does not."""
    command = [sys.executable, "-m", "pipelines.blueprint", *SMOKE]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 20, 100 << 20))

    stopped = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=limited
    )
    assert stopped.returncode == 1
    (line,) = stopped.stderr.splitlines()
    assert line.startswith("error: the disk is full (File too large: blueprint-store/.tmp/textures-")
    assert "rivers.u16); finished stages and checkpoints are kept. Resume with: " in line
    assert line.endswith(" -m pipelines.blueprint +preset=smoke cluster=inprocess")
    assert "preflop_equity: done" in stopped.stdout
    assert list((tmp_path / "blueprint-store/.tmp").iterdir()) == []
    plan = subprocess.run([*command, "plan=true"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 of 10 stages cached" in plan.stdout


@pytest.mark.whole
def test_a_raylet_that_dies_is_one_line_with_the_resume_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipelines.blueprint", "+preset=smoke"]
    with (tmp_path / "output").open("w") as output, (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=output, stderr=errors)
    while "flops: started" not in (tmp_path / "output").read_text():
        assert process.poll() is None, (tmp_path / "errors").read_text()
        time.sleep(0.05)
    (raylet,) = (p for p in psutil.Process(process.pid).children(recursive=True) if p.name() == "raylet")
    raylet.kill()
    assert process.wait(timeout=120) == 1
    (line,) = (tmp_path / "errors").read_text().splitlines()
    assert line.startswith("error: Ray's process raylet died, and the workers with it; finished stages and")
    assert line.endswith("Resume with: python -m pipelines.blueprint +preset=smoke")
    said = (tmp_path / "output").read_text()
    assert "Traceback" not in said
    assert "(raylet)" not in said
    assert list((tmp_path / "blueprint-store").glob("*-*")) == []
