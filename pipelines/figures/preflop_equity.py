"""Pictures of the equity of the 169 hand classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, NUM_CLASSES
from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def preflop_equity_figures(bundle: Bundle) -> dict[str, Figure]:
    """Equity against a random hand on the 13x13 grid."""
    equity = bundle["equity"]["equity_vs_random"]
    return {"preflop_equity": class_grid(equity, "Equity against a random hand")}


def class_grid(values: NDArray[np.float64], title: str) -> Figure:
    """A figure of each hand class, 13x13."""
    from matplotlib.figure import Figure

    grid = values.reshape(13, 13)
    figure = Figure(figsize=(7, 6.5))
    axes = figure.add_subplot()
    axes.imshow(grid, cmap="viridis")
    for index in range(NUM_CLASSES):
        row, column = divmod(index, 13)
        words = f"{CLASS_NAMES[index]}\n{grid[row, column]:.3f}"
        axes.text(column, row, words, ha="center", va="center", fontsize=6, color="white")
    axes.set_axis_off()
    axes.set_title(title)
    return figure
