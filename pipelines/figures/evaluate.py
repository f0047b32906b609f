"""Pictures of where a blueprint loses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def evaluation_figures(bundle: Bundle) -> dict[str, Figure]:
    """Where the loss sits, by street and by flop line."""
    return {"loss": _loss_figure(bundle)}


def _loss_figure(bundle: Bundle) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4))
    for position, (name, column) in enumerate((("loss_by_street", "street"), ("loss_by_line", "line"))):
        table = bundle[name]
        axes = figure.add_subplot(1, 2, position + 1)
        bars = axes.bar([str(label) for label in table[column]], table["loss"])
        axes.bar_label(bars, fmt="%.1f", fontsize=7)
        axes.set(ylabel="mbb/hand", title=f"exploitability by {column}")
        axes.tick_params(axis="x", rotation=0 if column == "street" else 60, labelsize=7)
    figure.tight_layout()
    return figure
