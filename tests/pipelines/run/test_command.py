"""One place turns failures into a line and an exit code."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from artifacts import BundleError
from pipelines.run.command import failure_line, run_command
from pipelines.run.errors import MachineError, UserError

RESUME = "kept. Resume with: again"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("seed: 'x' is not a number"), 2, "error: seed: 'x' is not a number"),
        (BundleError("/s/a.arrow: altered"), 1, "error: /s/a.arrow: altered"),
        (MachineError("Ray died"), 1, f"error: Ray died; {RESUME}"),
        (MachineError("no room", resumable=False), 1, "error: no room"),
        (MachineError("two\n  lines"), 1, f"error: two lines; {RESUME}"),
        (
            OSError(errno.ENOSPC, "No space left on device", "/s/file"),
            1,
            f"error: the disk is full (No space left on device: /s/file); {RESUME}",
        ),
        (
            OSError(errno.ENOSPC, "Error writing bytes. Detail: [errno 28] No space"),
            1,
            f"error: the disk is full (No space left on device); {RESUME}",
        ),
        (OSError(errno.EFBIG, "x", "/s/f"), 1, f"error: the disk is full (File too large: /s/f); {RESUME}"),
        (OSError(errno.EDQUOT, "x"), 1, f"error: the disk is full ({os.strerror(errno.EDQUOT)}); {RESUME}"),
        (OSError(errno.EIO, "x", "/s/f"), 1, f"error: /s/f: Input/output error; {RESUME}"),
        (OSError("odd"), 1, f"error: odd; {RESUME}"),
        (MemoryError(), 1, f"error: out of memory; {RESUME}"),
        (KeyboardInterrupt(), 130, f"interrupted; {RESUME}"),
    ],
)
def test_a_failure_is_one_line_and_an_exit_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, line: str
) -> None:
    def body() -> None:
        raise error

    with pytest.raises(SystemExit) as ending:
        run_command(body, resume=RESUME)
    assert ending.value.code == code
    assert capsys.readouterr().err == line + "\n"


def test_a_command_without_resume_says_nothing_of_it() -> None:
    assert failure_line(MachineError("gone")) == ("gone", 1)
    assert failure_line(OSError(errno.ENOSPC, "x")) == ("the disk is full (No space left on device)", 1)


def test_a_fault_of_the_program_keeps_its_traceback() -> None:
    def body() -> None:
        raise ZeroDivisionError

    assert failure_line(ZeroDivisionError()) is None
    with pytest.raises(ZeroDivisionError):
        run_command(body)


def test_output_that_goes_to_a_full_disk_is_no_second_error() -> None:
    """As when a run is logged to the disk that it fills."""
    program = "\n".join(
        [
            "import errno",
            "from pipelines.run.command import run_command",
            "def body():",
            "    print('x' * 100)",
            "    raise OSError(errno.ENOSPC, 'x', 'log')",
            "run_command(body)",
        ]
    )
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", program]
        environment = os.environ | {"PYTHONUNBUFFERED": ""}  # what is printed waits for the end
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert done.stderr == "error: the disk is full (No space left on device: log)\n"
    assert done.returncode == 1


def test_an_interrupt_that_python_drops_in_a_callback_comes_again() -> None:
    program = """
import time
from pipelines.run.command import run_command

class Callback:
    def __del__(self):
        raise KeyboardInterrupt

def body():
    del [Callback()][:]
    time.sleep(20)

run_command(body, resume="go on")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (130, "interrupted; go on\n")


def test_an_interrupt_in_the_midst_of_an_import_waits_for_its_end() -> None:
    program = """
import os, signal, sys, time
from types import SimpleNamespace
from pipelines.run.command import _interrupt, run_command

def body():
    importing = SimpleNamespace(f_code=SimpleNamespace(co_filename="<frozen importlib._bootstrap>"))
    _interrupt(signal.SIGINT, importing)
    print("the import ended", flush=True)
    time.sleep(20)

run_command(body)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "the import ended\n", "interrupted\n")
