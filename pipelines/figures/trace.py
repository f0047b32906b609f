"""Pictures of exploitability measured on the way through the phases of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from artifacts.bundle import Bundle
from artifacts.format.arrow_file import ArrowFile

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def trace_figures(bundle: Bundle) -> dict[str, Figure]:
    """Exploitability over the iterations of a bundle's phases."""
    return {"exploitability": trace_figure(bundle["trace"])}


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
