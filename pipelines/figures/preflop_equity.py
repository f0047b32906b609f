"""Pictures of the equity of the 169 hand classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from abstractions.cards import CLASS_NAMES, NUM_CLASSES
from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def preflop_equity_figures(bundle: Bundle) -> dict[str, Figure]:
    """Equity against a random hand on the 13x13 grid."""
    from matplotlib.figure import Figure

    equity = bundle["equity"]["equity_vs_random"].reshape(13, 13)
    figure = Figure(figsize=(7, 6.5))
    axes = figure.add_subplot()
    axes.imshow(equity, cmap="viridis")
    for index in range(NUM_CLASSES):
        row, column = divmod(index, 13)
        words = f"{CLASS_NAMES[index]}\n{equity[row, column]:.3f}"
        axes.text(column, row, words, ha="center", va="center", fontsize=6, color="white")
    axes.set_axis_off()
    axes.set_title("Equity against a random hand")
    return {"preflop_equity": figure}
