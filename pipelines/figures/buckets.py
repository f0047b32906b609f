"""Pictures of the buckets: how hands spread inside them and in feature space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from abstractions.streets import BOARD_STREETS
from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def bucket_figures(bundle: Bundle) -> dict[str, Figure]:
    """Buckets by mean equity: how much equity varies inside them, and how many hands they hold."""
    from matplotlib.figure import Figure

    table = bundle["centroids"]
    streets = np.array(table.table().column("street").to_pylist())
    figure = Figure(figsize=(15, 4.5))
    for position, street in enumerate(BOARD_STREETS.values()):
        here = {name: table[name][streets == street] for name in ("share", "equity", "equity_sd")}
        axes = figure.add_subplot(1, 3, position + 1)
        size = 4 + 60 * here["share"] / here["share"].max()
        axes.scatter(here["equity"], here["equity_sd"], s=size, alpha=0.4)
        mean = bundle.metrics[f"{street}_sd_mean"]
        axes.axhline(mean, color="black", linewidth=0.8)
        axes.set(title=f"{street}: {len(here['share'])} buckets, mean sd {mean:.4f}", xlabel="mean equity")
        axes.set_ylabel("equity sd in the bucket")
    return {"bucket_spread": figure, "hands_in_feature_space": _hand_scatter(bundle)}


def _hand_scatter(bundle: Bundle) -> Figure:
    """Sampled flop hands: equity against its spread over the runouts (emd) or potential (ehs), by bucket."""
    from matplotlib.figure import Figure

    sample = bundle["flop_sample"]
    points, equity = sample["point"], sample["equity"]
    if bundle.config["features"] == "ehs":
        spread, label = points[:, 1], "positive potential"
    else:
        # The mean and variance of a distribution on bins 0..n from its cumulative counts.
        share = points / 1081
        mean = (1 - share).sum(axis=1)
        square = ((1 - share) * (2 * np.arange(points.shape[1]) + 1)).sum(axis=1)
        spread = np.sqrt(np.maximum(square - mean**2, 0)) / (points.shape[1] + 1)
        label = "sd of river equity over the runouts"
    figure = Figure(figsize=(9, 6.5))
    axes = figure.add_subplot()
    axes.scatter(equity, spread, c=sample["bucket"] % 20, cmap="tab20", s=4, alpha=0.6)
    axes.set(xlabel="equity", ylabel=label, title=f"{len(equity)} flop hands, coloured by bucket")
    return figure
