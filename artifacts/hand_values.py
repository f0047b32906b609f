"""What hands are worth at a decision besides its strategy: equity, and how much of it they realise.

Hands are the 169 classes before the flop and the 1,326 combos after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES, disjoint_weight
from abstractions.equity import combo_equities
from artifacts.agents import Agent
from artifacts.blueprint.preflop_bundle import PreflopBundle
from solver.strategy import by_combo

if TYPE_CHECKING:
    from artifacts.spot_bundle import SpotBundle
    from artifacts.subgame_bundle import SubgameBundle

Floats = NDArray[np.float64]


def hand_equities(
    source: PreflopBundle | SpotBundle | SubgameBundle | Agent,
    line: str,
    board: NDArray[np.uint8],
    opponent: int,
) -> Floats:
    """Equity of each hand against the range of a player at a line.

    Nan for combos that the board blocks, for hands that meet no hand of the range, and before the flop where the
    source does not hold the equities of class against class.
    """
    weights = source.range(line, opponent, board)
    if len(board):
        if not (weights > 0.0).any():
            return np.full(len(weights), np.nan)
        return combo_equities(weights, board)
    assert isinstance(source, PreflopBundle | Agent)
    if not source.has_class_equity:
        return np.full(NUM_CLASSES, np.nan)
    wins, ties, totals = source.class_equity()
    met = totals @ weights
    won = (wins + 0.5 * ties) @ weights
    return np.divide(won, met, out=np.full(NUM_CLASSES, np.nan), where=met > 0.0)


def equity_realisation(received: Floats, equity: Floats, pot: float) -> Floats:
    """Chips that a hand receives from here on, as a share of what its equity claims of the pot.

    >>> equity_realisation(np.array([60.0]), np.array([0.5]), 100.0)
    array([1.2])
    """
    claimed = equity * pot
    return np.divide(received, claimed, out=np.full(len(claimed), np.nan), where=claimed > 0.0)


def met_weights(own: Floats, other: Floats) -> Floats:
    """How often each hand of a range is held against another range, card removal included, up to a factor."""
    met = by_combo(own) * disjoint_weight(by_combo(other))
    if len(own) != NUM_CLASSES:
        return met
    return np.bincount(CLASS_OF_COMBO, weights=met, minlength=NUM_CLASSES).astype(np.float64)


def mean_over(weights: Floats, values: Floats) -> float | None:
    """Mean of the values that are known, by weight; None where nothing has weight."""
    known = np.isfinite(values) & (weights > 0.0)
    total = float(weights[known].sum())
    return float(weights[known] @ values[known]) / total if total > 0.0 else None


@dataclass(frozen=True, eq=False)
class Curve:
    """Values of a range from its best hands to its worst: `values` at each of `shares` of the range."""

    shares: Floats
    values: Floats


def range_curve(weights: Floats, values: Floats, points: int = 101) -> Curve | None:
    """The values of a range in descending order, as a curve over the share of the range; None for no hands.

    >>> curve = range_curve(np.array([1.0, 1.0]), np.array([0.2, 0.8]), points=3)
    >>> curve.shares.tolist(), curve.values.tolist()
    ([0.0, 0.5, 1.0], [0.8, 0.2, 0.2])
    """
    known = np.isfinite(values) & (weights > 0.0)
    if not known.any():
        return None
    order = np.argsort(-values[known], kind="stable")
    filled = np.cumsum(weights[known][order])
    shares = np.linspace(0.0, 1.0, points)
    # The hand at a share of the range is the first one that fills more than that share.
    place = np.searchsorted(filled, shares * filled[-1], side="right")
    return Curve(shares, values[known][order][np.minimum(place, len(order) - 1)])
