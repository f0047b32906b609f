"""What all commands share: exit codes, one line for what is no fault of the program, interrupts that can be resumed."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import typer

from artifacts.errors import BundleError
from pipelines.run.errors import MachineError, UserError, is_full

DONE, FAILED, USER_ERROR, INTERRUPTED = 0, 1, 2, 130


def run_command(body: Callable[[], int | None], *, resume: str = "") -> NoReturn:
    """Run `body` and exit: 0 done, 1 failed, 2 the user's mistake, 130 interrupted.

    Parameters
    ----------
    resume
        What is kept of the work and how to go on, for a command that can.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    before, sys.unraisablehook = sys.unraisablehook, _interrupt_again
    try:
        sys.exit(body() or DONE)
    except KeyboardInterrupt:
        fail("; ".join(word for word in ("interrupted", resume) if word), INTERRUPTED)
    except Exception as error:
        told = failure_line(error, resume=resume)
        if told is None:  # a fault of the program, which its traceback helps to mend
            raise
        fail(*told)
    finally:
        sys.unraisablehook = before


def failure_line(error: Exception, *, resume: str = "") -> tuple[str, int] | None:
    """What to tell a person of a failure, and the exit code; None if it is a fault of the program."""
    if isinstance(error, UserError):
        return _one_line(str(error)), USER_ERROR
    if isinstance(error, BundleError):
        return _one_line(str(error)), FAILED
    if isinstance(error, MachineError):
        message, resumable = str(error), error.resumable
    elif isinstance(error, OSError):
        message, resumable = _disk_line(error), True
    elif isinstance(error, MemoryError):
        message, resumable = "out of memory", True
    else:
        return None
    return _one_line("; ".join(word for word in (message, resume if resumable else "") if word)), FAILED


def _disk_line(error: OSError) -> str:
    """A failure of the system, most likely of the disk, with its file if that is known."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    if is_full(error):
        return f"the disk is full ({reason}{f': {error.filename}' if error.filename else ''})"
    return f"{error.filename}: {reason}" if error.filename else reason


def _one_line(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines())


def run_app(app: typer.Typer) -> NoReturn:
    """Run a typer app under the same exit codes."""
    run_command(lambda: _without_standalone(app))


def _without_standalone(app: typer.Typer) -> int:
    try:
        result = app(standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except Exception as error:
        # typer may bundle its own click, so recognise a usage error by its attributes, not by its class.
        if hasattr(error, "exit_code") and hasattr(error, "format_message"):
            # Without a command the message is the whole help text.
            first = next(iter(error.format_message().splitlines()), "no command")
            raise UserError(f"{first} (--help explains)") from None
        raise
    return result if isinstance(result, int) else DONE


def fail(message: str, code: int) -> NoReturn:
    """One line on standard error, then exit. What the user typed may hold line breaks."""
    message = " ".join(message.splitlines())
    print(f"error: {message}" if code != INTERRUPTED else message, file=sys.stderr)
    _drop_output_that_cannot_be_written()
    sys.exit(code)


def _drop_output_that_cannot_be_written() -> None:
    """Python writes what is left of the output when it ends. On a full disk that would be a second error."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """A scheduler that takes the machine away is a Ctrl-C: stop cleanly, resume later."""
    if frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        # Raised in the midst of an import, it could leave a lock taken for good, and all later imports would wait.
        _send_later(number)
        return
    raise KeyboardInterrupt


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Send an interrupt again that Python dropped: it drops what is raised in a callback, as of an import lock."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _send_later(signal.SIGTERM)
    else:
        sys.__unraisablehook__(lost)


def _send_later(number: int) -> None:
    """Send this process a signal from another thread, when what it does now has ended."""
    threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
