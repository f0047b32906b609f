"""What the person at the terminal sees: the plan, a bar with an estimate, notes, the closing summary.

Everything that moves is drawn by rich, and on a terminal only. Elsewhere (a log file, cron) a `Reporter` writes plain
lines, and a `live_status` writes nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

_LOG_PERIOD_SECONDS = 10.0


@dataclass(frozen=True)
class StageDisk:
    """Bytes that a stage writes.

    Attributes
    ----------
    bundle
        What it leaves.
    scratch
        What it holds on the way, at most: scratch files and checkpoints, gone when the bundle is there.
    """

    bundle: float
    scratch: float


@dataclass(frozen=True)
class PlanRow:
    """One stage of a plan.

    `seconds` is the estimated wall time and `disk` what it will write, None when nobody can tell yet.
    """

    stage: str
    key: str
    cached: bool
    inputs: Sequence[str]
    seconds: float | None
    disk: StageDisk | None = None


def plain_console() -> Console:
    """Standard output; wide enough for every table when it is not a terminal."""
    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 160)


@contextmanager
def live_status(console: Console | None = None) -> Iterator[Callable[[str], None]]:
    """A function that shows how far a solve is, in one line on standard error that it writes anew each time.

    The last text stays on the screen. Where standard error is no terminal, nothing is written.
    """
    console = console or Console(stderr=True, highlight=False)
    if not console.is_interactive:
        yield lambda _: None
        return
    text_column = TextColumn("{task.description}", markup=False)
    bar = Progress(SpinnerColumn(finished_text=" "), text_column, console=console)
    task = bar.add_task("", total=1)

    def show(text: str) -> None:
        bar.start()  # Not earlier, so that an error before the first text leaves no empty line.
        bar.update(task, description=text)

    try:
        yield show
        bar.update(task, completed=1)
    finally:
        bar.stop()


class Reporter:
    """Writes to standard output; one stage at a time."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or plain_console()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._stage = ""
        self._started = self._before = 0.0
        self._last_line = 0.0

    def say(self, text: str) -> None:
        """One line."""
        self.console.print(escape(text))

    def plan(self, rows: Sequence[PlanRow], room: str = "") -> None:
        """The table of stages: what is cached, what will run, for about how long, and what it writes.

        `room` says in words what the disk has to hold.
        """
        columns = ("stage", "state", "key", "inputs", "estimate", "bundle", "scratch")
        table = Table(*columns, title="plan", title_justify="left")
        for row in rows:
            state = "cached" if row.cached else "to run"
            estimates = ["", "", ""]
            if not row.cached:
                disk = (
                    ("unknown", "unknown")
                    if row.disk is None
                    else (size(row.disk.bundle), size(row.disk.scratch))
                )
                estimates = [duration(row.seconds), *disk]
            table.add_row(row.stage, state, row.key, ", ".join(row.inputs), *estimates)
        self.console.print(table)
        waiting = [row for row in rows if not row.cached]
        known = sum(row.seconds for row in waiting if row.seconds is not None)
        unknown = sum(row.seconds is None for row in waiting)
        total = f"about {duration(known)}" + (f" and {unknown} without an estimate" if unknown else "")
        words = [f"{len(rows) - len(waiting)} of {len(rows)} stages cached", total if waiting else "", room]
        self.say("; ".join(word for word in words if word))

    def start(self, stage: str, seconds: float | None) -> None:
        """A stage begins."""
        self._stage, self._last_line = stage, time.monotonic()
        self.phase()
        if self.console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[status]}"),
                console=self.console,
                transient=True,
            )
            self._task = self._bar.add_task(stage, total=None, status="")
            self._bar.start()
        else:
            self.say(f"{stage}: started" + ("" if seconds is None else f", about {duration(seconds)}"))

    def phase(self, done: float = 0.0) -> None:
        """What is counted from here on is another piece of the stage, with its own pace; `done` was before."""
        self._started, self._before = time.monotonic(), done

    def advance(self, done: float, total: float, status: str = "") -> None:
        """`done` of `total` of the phase is finished; the time left is extrapolated from the time taken.

        The first twentieth is not: it holds the start-up of workers and the compilation of kernels.
        """
        elapsed, new = time.monotonic() - self._started, done - self._before
        known = total - self._before <= 20 * new and done < total
        left = f"{duration(elapsed * (total - done) / new)} left" if known else ""
        words = ", ".join(word for word in (left, status) if word)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total, status=words)
        elif time.monotonic() - self._last_line >= _LOG_PERIOD_SECONDS:
            self._last_line = time.monotonic()
            self.say(f"{self._stage}: {done:g} of {total:g}" + (f", {words}" if words else ""))

    def stop(self) -> None:
        """Take the bar away, whatever happened."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = self._task = None

    def note(self, words: str) -> None:
        """One line about the stage that is being computed."""
        self.say(f"{self._stage}: {words}")

    def finish(self, words: str) -> None:
        """The stage ended well."""
        self.stop()
        self.note(words)


def solve_status(iteration: int, seconds: float, percent: float | None) -> str:
    """How far a postflop solve is, with its exploitability where that was measured.

    >>> solve_status(1200, 3.14, 0.5)
    'iteration 1,200: 0.5000 % of pot, 3.1 s'
    """
    found = "" if percent is None else f"{percent:.4f} % of pot, "
    return f"iteration {iteration:,}: {found}{seconds:.1f} s"


def duration(seconds: float | None) -> str:
    """Seconds in words a person reads at a glance.

    >>> duration(0.42), duration(75), duration(4000), duration(None)
    ('0.4 s', '1 min 15 s', '1 h 6 min', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(count: float) -> str:
    """Bytes in words.

    >>> size(12), size(1536), size(3 << 30)
    ('12 B', '1.5 KB', '3.0 GB')
    """
    if count < 1024:
        return f"{round(count)} B"
    for unit in ("KB", "MB", "GB"):
        count /= 1024
        if count < 1024 or unit == "GB":
            break
    return f"{count:.1f} {unit}"
