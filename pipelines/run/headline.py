"""What the run of a whole pipeline shows in MLflow: one curve, and the figures that matter.

MLflow sorts charts by name and draws figures of step 0 as bars. So no name here comes before the curve's, and single
figures are logged at step 0. The stages' own runs hold everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from artifacts.format.arrow_file import ArrowFile
from pipelines.run.step_log import LoggedStep
from solver.betting.lines import FLOP, POSITIONS, STREETS

#: Exploitability in mbb/hand of the average strategy, over the iterations of all phases.
CURVE = "exploitability"
#: Core-hours of training until a step: an x-axis for the curve.
CURVE_COST = "training_core_hours"
#: Series of the training stages that the pipeline's run shows too.
SERIES = (CURVE, "iterations_per_second", CURVE_COST)

#: Figures of stages that the pipeline's run shows under the same name, by pattern. The starred ones come with
#: re-solving and with more than two players.
_SHOWN = {
    "dcfr": ("stopped_early",),
    "evaluate": (
        "exploitability_raw",
        "exploitability_raw_se",
        "exploitability_all_flops",
        "exploitability_all_flops_se",
        "exploitability_cleaned",
        "exploitability_resolved_*",
        *(f"loss_{street}" for street in STREETS),
        "gain_*",
        "ev_?B",
        "ev_[A-Z]*",
        *(f"first_in_raise_{seat}" for seat in POSITIONS),
        "first_in_fold",
        "first_in_call",
        "first_in_raise",
    ),
}
#: Figures that it shows under another name.
_RENAMED = {
    "buckets": {f"{street}_sd_mean": f"spread_{street}" for street in STREETS[FLOP:]},
    "preflop_ev": {"ev_sb": "sb_ev"},
    "export": {"bytes": "exported_bytes"},
}
#: The phase of which the best measurement is exported, not the last.
_PHASE_WITH_BEST = "dcfr"
#: Counts that follow from the configuration: tags of the pipeline's run.
_TAGS = {"evaluate": {"boards": "evaluation_boards"}, "export": {"lines": "lines"}}


def shown_figures(stage: str, metrics: Mapping[str, float]) -> dict[str, float]:
    """Figures of a stage's bundle that the pipeline's run shows, by the names they have there.

    >>> shown_figures("export", {"bytes": 8.0, "rows": 2.0})
    {'exported_bytes': 8.0}
    """
    patterns, renamed = _SHOWN.get(stage, ()), _RENAMED.get(stage, {})
    same = {n: v for n, v in metrics.items() if any(fnmatchcase(n, pattern) for pattern in patterns)}
    return same | {renamed[name]: value for name, value in metrics.items() if name in renamed}


def shown_tags(stage: str, metrics: Mapping[str, float]) -> dict[str, str]:
    """Counts of a stage's bundle that are tags of the pipeline's run."""
    tags = _TAGS.get(stage, {})
    return {tags[name]: f"{value:.0f}" for name, value in metrics.items() if name in tags}


def result_words(metrics: Mapping[str, float], tier: str) -> str:
    """How exploitable an exported bundle is, in one line.

    >>> figures = {"exploitability_raw": 904.31, "exploitability_raw_se": 21.66, "exploitability_cleaned": 904.5}
    >>> result_words(figures, "real")
    'exploitability: 904.3 ± 21.7 mbb/hand on tier real, cleaned 904.5'
    >>> result_words(figures | {"exploitability_all_flops": 861.2, "exploitability_all_flops_se": 9.14}, "real")
    'exploitability: 904.3 ± 21.7 mbb/hand on tier real, cleaned 904.5; over all flops about 861.2 ± 9.1'
    """
    words = (
        f"exploitability: {_with_error(metrics, 'exploitability_raw')} mbb/hand on tier {tier}, "
        f"cleaned {metrics['exploitability_cleaned']:.1f}"
    )
    if "exploitability_all_flops" in metrics:
        words += f"; over all flops about {_with_error(metrics, 'exploitability_all_flops')}"
    return words


def _with_error(metrics: Mapping[str, float], name: str) -> str:
    error = metrics.get(f"{name}_se")
    return f"{metrics[name]:.1f}" + ("" if error is None else f" ± {error:.1f}")


def gain_words(metrics: Mapping[str, float]) -> str:
    """What responders gain from an exported bundle of three or more seats, in one line.

    >>> gain_words({"gain_mean": 3.0, "gain_SB": 4.0, "gain_SB_low": 2.5, "gain_SB_high": 5.5, "gain_BB": 2.0})
    'gains of a responder: SB 4.0, BB 2.0 mbb/hand'
    """
    seats = {
        name.removeprefix("gain_"): value
        for name, value in metrics.items()
        if name.startswith("gain_") and not name.endswith(("_low", "_high", "_mean"))
    }
    return f"gains of a responder: {', '.join(f'{seat} {gain:.1f}' for seat, gain in seats.items())} mbb/hand"


@dataclass(frozen=True)
class CurvePoint:
    """Exploitability after an iteration of all phases; core-hours until then, None where nobody knows."""

    step: int
    exploitability: float
    core_hours: float | None


@dataclass
class TrainingCurve:
    """The phases of training in one count of iterations.

    Attributes
    ----------
    finished_steps, finished_core_seconds
        Iterations of the phases that have ended, and their cost; None where a phase's cost is not known.
    points
        What was measured so far, by step.
    exported_step
        Iteration whose average is the blueprint: the best of `dcfr`, or the last of `lcfr` alone.
    """

    finished_steps: int = 0
    finished_core_seconds: float | None = 0.0
    points: dict[int, CurvePoint] = field(default_factory=dict)
    exported_step: int = 0

    def series(self, logged: LoggedStep) -> tuple[int, dict[str, float]]:
        """Step over all phases and figures of a step of the current phase."""
        step = self.finished_steps + logged.step
        figures = dict(logged.figures)
        hours = None
        if self.finished_core_seconds is not None:
            hours = (self.finished_core_seconds + logged.core_seconds) / 3600
            figures[CURVE_COST] = hours
        if CURVE in figures:
            self.points[step] = CurvePoint(step, figures[CURVE], hours)
        return step, figures

    def measured(self, step: int, exploitability: float) -> tuple[int, dict[str, float]]:
        """The same for a measurement of which only the bundle tells."""
        step += self.finished_steps
        self.points[step] = CurvePoint(step, exploitability, None)
        return step, {CURVE: exploitability}

    def finish_phase(self, phase: str, trace: Mapping[int, float], logged: Mapping[int, LoggedStep]) -> None:
        """Count the next phase from the end of this one.

        Parameters
        ----------
        phase
            Name of its stage.
        trace
            Exploitability by iteration of the phase.
        logged
            What was logged, by iteration of the phase.
        """
        last = max(trace)
        best = min(trace, key=lambda iteration: trace[iteration])
        self.exported_step = self.finished_steps + (best if phase == _PHASE_WITH_BEST else last)
        if self.finished_core_seconds is not None:
            self.finished_core_seconds = (
                self.finished_core_seconds + logged[last].core_seconds if last in logged else None
            )
        self.finished_steps += last


def phase_trace(trace: ArrowFile, phase: str) -> dict[int, float]:
    """Exploitability by iteration of a phase, from a bundle's table `trace`."""
    here = trace["phase"] == phase
    return dict(zip(trace["iteration"][here].tolist(), trace["exploitability"][here].tolist()))


def description(game: str, stacks: str, tiers: tuple[str, str]) -> str:
    """What the pipeline's run shows, in MLflow's Markdown; `tiers` are those of the curve and of the result."""
    curve, result = tiers
    return (
        f"Blueprint of game {game}, stacks {stacks}.\n\n"
        f"- `{CURVE}`: mbb/hand while training, on tier {curve}. Steps are iterations, both phases in one count. "
        f"For core-hours: Model metrics, the gear, X-axis, Metric, `{CURVE_COST}`.\n"
        f"- `exploitability_raw`, `exploitability_cleaned`: the exported bundle, on tier {result}; "
        "`_se`: error over its flops; `_all_flops`: without their luck.\n"
        "- Plots: Artifacts, `plots`. Every stage has a run of its own below this one."
    )
