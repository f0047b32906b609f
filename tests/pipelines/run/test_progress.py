"""What a person is told about the time left."""

from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console

from pipelines.run import progress
from pipelines.run.progress import Reporter


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Text of a reporter whose clock runs a minute per look at it."""
    minutes = itertools.count()
    monkeypatch.setattr(progress.time, "monotonic", lambda: 60.0 * next(minutes))
    return io.StringIO()


def last_line(output: io.StringIO) -> str:
    return output.getvalue().splitlines()[-1]


def test_a_resumed_phase_is_timed_by_what_it_did_itself(output: io.StringIO) -> None:
    reporter = Reporter(Console(file=output, width=200))
    reporter.start("dcfr", None)
    reporter.phase(20_000)
    reporter.advance(21_000, 25_000)  # 1,000 iterations in a minute: four minutes for the other 4,000
    assert last_line(output) == "dcfr: 21000 of 25000, 4 min 0 s left"


def test_nothing_is_promised_before_a_twentieth_is_done(output: io.StringIO) -> None:
    reporter = Reporter(Console(file=output, width=200))
    reporter.start("dcfr", None)
    reporter.phase(20_000)
    reporter.advance(20_100, 25_000)
    assert last_line(output) == "dcfr: 20100 of 25000"
