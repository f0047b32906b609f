"""What a person is told about the time left."""

from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console

from pipelines.run import progress
from pipelines.run.progress import Reporter, live_status, solve_status


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


def test_a_status_is_one_line_that_stays_on_a_terminal() -> None:
    screen = io.StringIO()
    with live_status(Console(file=screen, force_terminal=True, force_interactive=True, width=80)) as show:
        show(solve_status(10, 0.1, 2.5))
        show(solve_status(20, 0.2, 0.25))
    before, last = screen.getvalue().rsplit("iteration", maxsplit=1)
    assert last.startswith(" 20: 0.2500 % of pot, 0.2 s")
    assert before.count("\n") == 0
    assert last.count("\n") == 1


def test_a_status_is_silent_in_a_log_file_and_before_there_is_anything_to_show() -> None:
    log, screen = io.StringIO(), io.StringIO()
    with live_status(Console(file=log, width=80)) as show:
        show(solve_status(10, 0.1, 2.5))
    with pytest.raises(ValueError, match="refused"), live_status(Console(file=screen, force_terminal=True)):
        raise ValueError("refused")
    assert log.getvalue() == screen.getvalue() == ""
