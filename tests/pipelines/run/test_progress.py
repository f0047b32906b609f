"""What a person is told about the time left."""

from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console

from pipelines.run import progress
from pipelines.run.progress import PlanRow, Reporter, StageDisk, live_status, solve_status


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


def test_a_plan_says_what_is_written_beside_the_times(output: io.StringIO) -> None:
    rows = [
        PlanRow("flops", "1", True, [], 60.0, StageDisk(7, 7)),
        PlanRow("buckets", "2", False, ["flops"], 90.0, StageDisk(3 << 20, 340 << 20)),
        PlanRow("export", "3", False, ["buckets"], None),
    ]
    Reporter(Console(file=output, width=200)).plan(rows, "5.0 GB free at store")
    words = {line.split("│")[1].strip(): line for line in output.getvalue().splitlines() if "│" in line}
    assert "│ 1 min 30 s │ 3.0 MB  │ 340.0 MB │" in words["buckets"]
    assert words["export"].count("unknown") == 3
    assert "7 B" not in words["flops"]
    assert last_line(output) == (
        "1 of 3 stages cached; about 1 min 30 s and 1 without an estimate; 5.0 GB free at store"
    )


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
