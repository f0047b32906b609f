"""The MLflow run of one stage, and what of it the pipeline's run shows too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from artifacts.bundle import Bundle
from artifacts.format.manifest import MANIFEST
from pipelines.run.headline import CURVE, SERIES, TrainingCurve, phase_trace, shown_figures, shown_tags
from pipelines.run.step_log import LoggedStep, StepLog, read_steps

if TYPE_CHECKING:
    from pipelines.run.tracking import Tracker

#: Stages whose plots the pipeline's run shows too: they picture its result.
_PICTURED = ("evaluate", "export")
#: Table of the measurements on the way, in the bundles of the training stages.
_TRACE = "trace"


class StageRecord:
    """The child run of one stage, as a context manager that ends it with the right status.

    Parameters
    ----------
    run
        The stage's run in the tracker.
    curve
        The training of the whole pipeline, which the stages extend in turn.
    steps
        File of the figures that the stage logs on its way.
    """

    def __init__(self, tracker: Tracker, run: str, stage: str, curve: TrainingCurve, steps: Path) -> None:
        self._tracker = tracker
        self._run = run
        self._stage = stage
        self._curve = curve
        self._steps = steps
        self._log: StepLog | None = None
        self._sent: set[int] = set()
        self._computed = False

    def __enter__(self) -> StageRecord:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tracker.tags({"cached": str(not self._computed).lower()}, run=self._run)
        self._tracker.finish_after(error, run=self._run)

    def cost(self, figures: Mapping[str, float]) -> None:
        """What computing the stage cost."""
        self._computed = True
        self._tracker.metrics(figures, run=self._run)

    def step(self, figures: Mapping[str, float], step: int, core_seconds: float) -> None:
        """Figures on the way to the bundle, `core_seconds` after this run began to work on the stage.

        MLflow's step is the iteration over all phases of training, here and in the pipeline's run.
        """
        if self._log is None:
            self._log = StepLog(self._steps)
        self._log.add(step, core_seconds, figures)
        # The first step of a resumed stage brings along those of the runs before it.
        self._send_steps([self._curve.series(logged) for logged in self._log.steps])

    def bundle(self, bundle: Bundle, pictures: Mapping[str, bytes]) -> None:
        """The finished bundle: figures, manifest and plots, those of the result to the pipeline's run too."""
        metrics = bundle.manifest.metrics
        if _TRACE in bundle:
            self._finish_phase(phase_trace(bundle[_TRACE], self._stage))
        self._tracker.metrics(metrics, run=self._run)
        self._tracker.file(MANIFEST, bundle.manifest.to_json().encode(), run=self._run)
        for name, content in pictures.items():
            self._tracker.file(f"plots/{name}.png", content, run=self._run)
            # The curve of the whole run is drawn at its end, over core-hours too.
            if self._stage in _PICTURED and name != CURVE:
                self._tracker.file(f"plots/{name}.png", content)
        self._tracker.show(shown_figures(self._stage, metrics))
        if tags := shown_tags(self._stage, metrics):
            self._tracker.tags(tags)

    def _finish_phase(self, trace: Mapping[int, float]) -> None:
        """Send what is missing of a phase: all of it if it was cached."""
        if not trace:
            return
        logged = {row.step: row for row in read_steps(self._steps)}
        steps = []
        for iteration, value in trace.items():
            row = logged.get(iteration)
            if row is None:
                steps.append(self._curve.measured(iteration, value))
            else:
                figures = {**row.figures, CURVE: value}
                steps.append(self._curve.series(LoggedStep(iteration, row.core_seconds, figures)))
        self._send_steps(steps)
        self._curve.finish_phase(self._stage, trace, logged)

    def _send_steps(self, steps: list[tuple[int, dict[str, float]]]) -> None:
        """Send each step once, however often it is repeated after a loss of hosts."""
        new = {step: figures for step, figures in steps if step not in self._sent}
        if not new:
            return
        self._sent |= set(new)
        self._tracker.series(new, run=self._run)
        shown = {s: {n: figures[n] for n in SERIES if n in figures} for s, figures in new.items()}
        self._tracker.series({step: figures for step, figures in shown.items() if figures})
