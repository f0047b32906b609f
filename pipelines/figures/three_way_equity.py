"""Pictures of the equity of the 169 hand classes against two opponents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from artifacts.bundle import Bundle
from pipelines.figures.preflop_equity import class_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def three_way_equity_figures(bundle: Bundle) -> dict[str, Figure]:
    """Equity against two random hands on the 13x13 grid."""
    equity = bundle["classes"]["equity_vs_two_random"]
    return {"three_way_equity": class_grid(equity, "Equity against two random hands")}
