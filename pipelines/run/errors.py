"""Failures that are no fault of the program: one line, and an exit code that says whose they are."""

from __future__ import annotations

import errno

#: No space left, quota exceeded, file larger than allowed: whatever the limit is called, nothing more can be written.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class UserError(Exception):
    """A mistake of the person at the keyboard (exit code 2).

    The message names the config key or file, what was found and what is accepted.
    """


class MachineError(RuntimeError):
    """What the machine could not do (exit code 1).

    Parameters
    ----------
    message
        Names what failed, and what would help.
    resumable
        Whether work may have been done that the same command would go on from.
    """

    def __init__(self, message: str, *, resumable: bool = True) -> None:
        super().__init__(message)
        self.resumable = resumable


def is_full(error: OSError) -> bool:
    """Whether a write failed because there was no room for it."""
    return error.errno in _FULL
