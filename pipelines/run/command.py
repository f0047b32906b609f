"""What all commands share: exit codes, one line for a user's mistake, interrupts that can be resumed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import typer

from artifacts.errors import BundleError
from pipelines.run.errors import UserError

DONE, FAILED, USER_ERROR, INTERRUPTED = 0, 1, 2, 130


def run_command(body: Callable[[], int | None], *, on_interrupt: str = "interrupted") -> NoReturn:
    """Run `body` and exit: 0 done, 1 failed, 2 the user's mistake, 130 interrupted."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        sys.exit(body() or DONE)
    except UserError as error:
        fail(str(error), USER_ERROR)
    except BundleError as error:
        fail(str(error), FAILED)
    except KeyboardInterrupt:
        fail(on_interrupt, INTERRUPTED)


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
    sys.exit(code)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """A scheduler that takes the machine away is a Ctrl-C: stop cleanly, resume later."""
    raise KeyboardInterrupt
