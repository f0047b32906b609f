"""Random ranges: DeepStack's recursive ones, and noise on ranges that come from play.

DeepStack (Moravcik and others, 2017, supplement) draws a range R(S, p) for a set S of hands with total probability p:
one hand gets p; more hands are split by strength into a weaker and a stronger half, p into two parts at a uniformly
random point, and each half is drawn from its part. So strong and weak hands are correlated, as in play.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS, NUM_COMBOS, live_combos
from abstractions.evaluator import evaluate_board
from solver.postflop.holdem import BOARD_CARDS

Floats = NDArray[np.float64]
#: Run-outs over which the strength of a hand is averaged before the river.
MAX_RUN_OUTS = 64


def recursive_range(order: NDArray[np.integer], rng: np.random.Generator) -> Floats:
    """A range R(S, 1) over hands in order of strength, by combo.

    Parameters
    ----------
    order
        Combos from the weakest to the strongest.

    Examples
    --------
    >>> weights = recursive_range(np.array([5, 9, 2]), np.random.default_rng(0))
    >>> float(weights.sum().round(12)), np.flatnonzero(weights).tolist()
    (1.0, [2, 5, 9])
    """
    # All sets of one depth at once: their sizes and probabilities.
    sizes, shares = np.array([len(order)]), np.ones(1)
    while sizes.max() > 1:
        cut = rng.random(len(sizes))
        # A set of one hand stays what it is.
        cut[sizes == 1] = 0.0
        weak = sizes // 2
        sizes = np.stack([weak, sizes - weak], axis=1).ravel()
        shares = np.stack([shares * cut, shares * (1.0 - cut)], axis=1).ravel()
        kept = sizes > 0
        sizes, shares = sizes[kept], shares[kept]
    weights = np.zeros(NUM_COMBOS)
    weights[order] = shares
    return weights


def strength_order(board: Sequence[int], rng: np.random.Generator) -> NDArray[np.int64]:
    """The combos that a board leaves, from the weakest to the strongest.

    Before the river a hand counts by its mean rank over random run-outs, hands of equal strength in random order.
    """
    cards = np.array(board, dtype=np.uint8)
    live = np.flatnonzero(live_combos(cards))
    rest = np.setdiff1d(np.arange(NUM_CARDS), cards)
    missing = BOARD_CARDS - len(cards)
    score = np.zeros(NUM_COMBOS)
    seen = np.zeros(NUM_COMBOS)
    for _ in range(1 if missing == 0 else MAX_RUN_OUTS):
        full = np.concatenate([cards, rng.choice(rest, missing, replace=False).astype(np.uint8)])
        strength = evaluate_board(full)
        there = np.flatnonzero(strength >= 0)
        ranks = np.unique(strength[there], return_inverse=True)[1]
        score[there] += ranks / max(int(ranks.max()), 1)
        seen[there] += 1.0
    mean = score[live] / np.maximum(seen[live], 1.0)
    return live[np.lexsort((rng.random(len(live)), mean))]


def with_noise(weights: Floats, live: NDArray[np.bool_], noise: float, rng: np.random.Generator) -> Floats:
    """A range changed at random: each weight times exp(noise z), with a little of a uniform range mixed in.

    Parameters
    ----------
    weights
        By combo, not all zero on `live`.
    noise
        Standard deviation of the logarithm of a weight; the share of the uniform range is at most a tenth of it.
    """
    changed = np.where(live, weights * np.exp(noise * rng.standard_normal(NUM_COMBOS)), 0.0)
    uniform = live / live.sum()
    share = min(0.5, 0.1 * noise) * rng.random()
    return (1.0 - share) * changed / changed.sum() + share * uniform
