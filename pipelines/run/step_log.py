"""Figures that a stage logs on its way, kept beside the store.

They vary between equal runs, so they are no part of the bundle. A run that finds the stage cached, or that goes on
with it after a crash, reads them here. Losing a file loses these figures and nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class LoggedStep:
    """Figures after an iteration of a stage.

    `core_seconds` is what the stage had cost until then, in all runs that worked on it.
    """

    step: int
    core_seconds: float
    figures: Mapping[str, float]


def read_steps(file: Path) -> tuple[LoggedStep, ...]:
    """The steps in a file, in order; none if there is no such file, or if it cannot be read."""
    try:
        return tuple(LoggedStep(**row) for row in json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return ()


class StepLog:
    """The steps of a stage that this process computes; `steps` starts with those of the runs before it."""

    def __init__(self, file: Path) -> None:
        self.steps = read_steps(file)
        self._file = file
        self._spent_before: float | None = None

    def add(self, step: int, core_seconds: float, figures: Mapping[str, float]) -> None:
        """Append a step of this process, which has spent `core_seconds` on the stage so far.

        Steps from there on are dropped: the stage went back to an earlier checkpoint and repeats them.
        """
        kept = tuple(row for row in self.steps if row.step < step)
        if self._spent_before is None:
            self._spent_before = kept[-1].core_seconds if kept else 0.0
        self.steps = (*kept, LoggedStep(step, self._spent_before + core_seconds, dict(figures)))
        temporary = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps([asdict(row) for row in self.steps]), encoding="utf-8")
            temporary.replace(self._file)
