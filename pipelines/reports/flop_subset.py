"""Few flops that stand for all 1,755: drawn and weighted so that their mean is close to that of all flops.

Flops are drawn within strata of suits and pairing, systematically by high card, as the evaluation tiers are
(`pipelines.training.flop_draw`). Of many draws the one whose features have means nearest to those of all flops is kept.
The weights d of the strata are then calibrated: the weights w minimise

    sum (w - d)^2 / d + |X' w|^2      with the share of each stratum held

where X holds the features, each with mean 0 and standard deviation 1 over all flops: how often each rank is there, the
highest card, the three ranks in order, straights, neighbours, broadway cards, the rank of a pair. Nothing here knows
what will be averaged; `scripts/flop_subset_error.py` measures the error on equities of pairs of ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from abstractions.isomorphism import canonical_boards
from pipelines.training.flop_draw import HIGH_GROUPS, STRATA, _systematic, flop_features, shares

Floats = NDArray[np.float64]
NUM_FLOPS = 1755
#: Sizes that solvers' users know; any other from `SMALLEST` up is drawn alike.
USUAL_SIZES = (25, 49, 95, 184)
SMALLEST = 12
#: Flops that every stratum has at least.
_LEAST = (2, 2, 1, 2, 2)
_BROADWAY = 8
_DRAWS = 4000
_SEED = 1


@dataclass(frozen=True, eq=False)
class FlopSubset:
    """Numbers of canonical flops, ascending, with weights that sum to 1."""

    numbers: NDArray[np.intp]
    weights: Floats

    @property
    def flops(self) -> NDArray[np.uint8]:
        """The cards, ``[flop, 3]``."""
        return canonical_boards(3).boards[self.numbers]

    def mean(self, figures: Floats) -> float:
        """Weighted mean of a figure that is given for each flop of the subset."""
        return float(self.weights @ figures)


@cache
def flop_subset(size: int) -> FlopSubset:
    """So many flops, always the same ones; 1,755 are all, weighted as they are dealt.

    >>> subset = flop_subset(25)
    >>> len(subset.numbers), round(float(subset.weights.sum()), 9)
    (25, 1.0)
    """
    flops = canonical_boards(3)
    dealt = flops.weights / flops.weights.sum()
    if size == NUM_FLOPS:
        return FlopSubset(np.arange(NUM_FLOPS), dealt)
    if not SMALLEST <= size < NUM_FLOPS:
        raise ValueError(f"{size} flops: accepted are {SMALLEST} to {NUM_FLOPS}")
    stratum, features = flop_features(flops.boards, flops.weights).stratum, _features()
    counts = stratum_counts(size)
    even = (shares(stratum, dealt, len(STRATA)) / counts)[stratum]
    members = [np.flatnonzero(stratum == number) for number in range(len(STRATA))]
    rng = np.random.default_rng(_SEED)
    best, chosen = np.inf, np.empty(0, dtype=np.intp)
    for _ in range(_DRAWS):
        parts = [_systematic(part, flops.weights[part], n, rng) for part, n in zip(members, counts)]
        numbers = np.unique(np.concatenate(parts))
        off = float(((even[numbers] @ features[numbers]) ** 2).sum())
        if len(numbers) == size and off < best:
            best, chosen = off, numbers
    return FlopSubset(
        chosen, calibrated(features[chosen], np.eye(len(STRATA))[stratum[chosen]], even[chosen])
    )


def stratum_counts(size: int) -> tuple[int, ...]:
    """Flops of each stratum: in proportion to how often it is dealt, a few at least.

    >>> stratum_counts(25), sum(stratum_counts(184))
    ((8, 12, 1, 2, 2), 184)
    """
    flops = canonical_boards(3)
    wanted = shares(flop_features(flops.boards, flops.weights).stratum, flops.weights, len(STRATA)) * size
    counts = np.maximum(np.floor(wanted).astype(int), _LEAST)
    while counts.sum() != size:
        step = 1 if counts.sum() < size else -1
        # Whoever is furthest from its share, among those that may change.
        gap = step * (wanted - counts) - np.where((step < 0) & (counts <= _LEAST), np.inf, 0.0)
        counts[int(gap.argmax())] += step
    return tuple(counts.tolist())


def calibrated(features: Floats, groups: Floats, weights: Floats) -> Floats:
    """Weights near the given ones under which features have means near 0 and groups keep their weight.

    Parameters
    ----------
    features
        Of the flops, ``[flop, feature]``.
    groups
        Membership, ``[flop, group]``.
    """
    size = len(weights)
    curvature = np.diag(1.0 / weights) + features @ features.T
    held = groups.shape[1]
    system = np.block([[curvature, groups], [groups.T, np.zeros((held, held))]])
    wanted = np.concatenate([np.ones(size), groups.T @ weights])
    found = np.linalg.lstsq(system, wanted, rcond=None)[0][:size]
    # Least squares could leave a flop that pulls the wrong way; the given weights are right on average too.
    return found if (found > 0.0).all() else weights


@cache
def _features() -> Floats:
    """What all flops are balanced by, ``[flop, feature]``, each with mean 0 and standard deviation 1."""
    flops = canonical_boards(3)
    known = flop_features(flops.boards, flops.weights)
    ranks = np.sort(flops.boards // 4, axis=1).astype(int)
    each_rank = (ranks[:, :, None] == np.arange(13)).sum(axis=1)
    paired = (np.diff(ranks, axis=1) == 0).any(axis=1)
    table = np.concatenate(
        [
            each_rank,
            np.eye(HIGH_GROUPS)[known.high],
            known.others,
            np.where(paired, ranks[:, 1], 0)[:, None],
            (ranks[:, 2:] == 12) & (ranks[:, 1:2] >= _BROADWAY),
            (ranks >= _BROADWAY).sum(axis=1)[:, None] == np.arange(4),
        ],
        axis=1,
    ).astype(np.float64)
    dealt = flops.weights / flops.weights.sum()
    table -= dealt @ table
    return table / np.sqrt(dealt @ table**2)
