"""Pictures of the canonical flops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from artifacts.bundle import Bundle

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def flop_figures(bundle: Bundle) -> dict[str, Figure]:
    """How many suits a flop shows: canonical flops and real flops by suitedness."""
    from matplotlib.figure import Figure

    suits = np.array([len(set(board % 4)) for board in bundle["flops"]["board"]])
    weight = bundle["flops"]["weight"]
    figure = Figure(figsize=(6, 3.5))
    axes = figure.add_subplot()
    kinds = {"monotone": 1, "two-tone": 2, "rainbow": 3}
    share = [weight[suits == count].sum() / weight.sum() for count in kinds.values()]
    bars = axes.bar(list(kinds), share)
    axes.bar_label(bars, [f"{(suits == count).sum()} flops" for count in kinds.values()])
    axes.set_ylabel("share of real flops")
    axes.set_title("Canonical flops by suits")
    return {"flops_by_suits": figure}
