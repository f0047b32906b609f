"""Exploitability measured on the way through the phases of training: its table, figures and picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from artifacts.format.arrow_file import ArrowFile, Column
from pipelines.training.checkpoints import Measurement, best_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trace_table(
    phase: str, trace: tuple[Measurement, ...], before: ArrowFile | None = None
) -> dict[str, Column]:
    """Columns of the measurements of a phase, after those of the phases before."""
    phases = [phase] * len(trace)
    iterations = np.array([m.iteration for m in trace], dtype=np.int64)
    values = np.array([m.exploitability for m in trace], dtype=np.float64)
    if before is not None:
        phases = [*before["phase"].tolist(), *phases]
        iterations = np.concatenate([before["iteration"], iterations])
        values = np.concatenate([before["exploitability"], values])
    return {"phase": pa.array(phases, pa.string()), "iteration": iterations, "exploitability": values}


def trace_metrics(trace: tuple[Measurement, ...]) -> dict[str, float]:
    """Iterations run, and the last and the best exploitability measured."""
    if not trace:
        return {"iterations": 0.0}
    return {
        "iterations": float(trace[-1].iteration),
        "exploitability_last": trace[-1].exploitability,
        "exploitability_best": min(m.exploitability for m in trace),
        "best_iteration": float(best_of(trace)[0]),
    }


def trace_figure(trace: ArrowFile) -> Figure:
    """Exploitability over iterations, phases one after the other."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5))
    axes = figure.add_subplot()
    axes.set(xlabel="iteration", ylabel="exploitability (mbb/hand)", yscale="log")
    before = 0
    phases = trace["phase"]
    for phase in dict.fromkeys(phases.tolist()):
        here = phases == phase
        iterations = trace["iteration"][here]
        axes.plot(before + iterations, trace["exploitability"][here], marker="o", label=phase)
        before += int(iterations[-1])
    axes.grid(alpha=0.3)
    if before:
        axes.legend()
    return figure
