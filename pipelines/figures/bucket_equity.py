"""Pictures of the equity of bucket against bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstractions.streets import BOARD_STREETS
from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bucket_equity_figures(bundle: Bundle) -> dict[str, Figure]:
    """Heat map of bucket equity per street (the first texture's where there are several)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 4.8))
    for position, name in enumerate(BOARD_STREETS.values()):
        axes = figure.add_subplot(1, 3, position + 1)
        table = bundle[f"equity_{name}"]
        buckets = int(table["bucket"].max()) + 1
        shown = np.where(table["weight"][:buckets] > 0, table["equity"][:buckets], np.nan)
        picture = axes.imshow(shown, origin="lower", cmap="RdYlGn", vmin=0, vmax=1, aspect="equal")
        axes.set(title=f"{name}: {buckets} buckets", xlabel="opponent's bucket", ylabel="bucket")
        figure.colorbar(picture, ax=axes, shrink=0.7)
    return {"bucket_equity": figure}
