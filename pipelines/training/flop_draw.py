"""How the flops of the weighted tiers were drawn: stratified, balanced, and weighted to the shares of all flops.

Flops are drawn within strata of suits and pairing, so many of each as the tier asks for. Of many such draws the one
whose weighted means of several other features are closest to those of all flops is kept. Weights are raked: they are
scaled in turn until each stratum and each group of high cards has its share among the 22,100 flops.
`python -m pipelines.training.flop_draw` prints the lists that `pipelines.training.tier_flops` holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards
from abstractions.isomorphism import canonical_boards

Floats = NDArray[np.float64]
#: Unpaired flops of three suits, of two suits, of one suit; paired ones of three suits (trips among them), of two.
STRATA = ("rainbow", "two-tone", "monotone", "paired rainbow", "paired two-tone")
#: Highest card: nine or lower, ten, jack, queen, king, ace.
HIGH_GROUPS = 6
_LOWEST_GROUP = 7
_RAKES = 60
#: Weights may not differ from the mean of their stratum by more than this factor.
_LARGEST_FACTOR = 1.6
_SEED = 20_260_301
_DRAWS = 500
#: Flops of each stratum. Of the rare strata more than their share, so that their weight rests on two flops at least.
REAL_COUNTS = (7, 10, 2, 3, 2)
SMALL_COUNTS = (1, 2, 1, 1, 1)
FULL_COUNTS = (15, 21, 4, 4, 4)


@dataclass(frozen=True, eq=False)
class FlopFeatures:
    """What flops are balanced by.

    Attributes
    ----------
    stratum, high
        Number of the stratum and of the group of the highest card.
    others
        Further features, each with mean 0 and standard deviation 1 over all flops, ``[flop, feature]``: the three
        ranks, whether a straight is possible, how many cards are neighbours or two apart.
    """

    stratum: NDArray[np.intp]
    high: NDArray[np.intp]
    others: Floats


def flop_strata(flops: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Number among `STRATA` of each flop.

    >>> from abstractions.cards import parse_board
    >>> flops = ("2c7dKh", "2c7cKh", "2c7cKc", "7c7d7h", "7c7dKc")
    >>> flop_strata(np.stack([parse_board(flop) for flop in flops])).tolist()
    [0, 1, 2, 3, 4]
    """
    paired = (np.diff(np.sort(flops // 4, axis=1).astype(int), axis=1) == 0).any(axis=1)
    suits = 1 + (np.diff(np.sort(flops % 4, axis=1), axis=1) > 0).sum(axis=1)
    return np.where(paired, np.where(suits == 3, 3, 4), 3 - suits)


def flop_features(flops: NDArray[np.uint8], weights: NDArray) -> FlopFeatures:
    """Features of flops; `weights` say how often each is dealt."""
    ranks = np.sort(flops // 4, axis=1).astype(int)
    gaps = np.diff(ranks, axis=1)
    paired = (gaps == 0).any(axis=1)
    # An ace also plays below the deuce.
    wheel = ~paired & (ranks[:, 2] == 12) & (ranks[:, 1] <= 3)
    straight = ~paired & ((ranks[:, 2] - ranks[:, 0] <= 4) | wheel)
    close = ((gaps > 0) & (gaps <= 2)).sum(axis=1)
    others = np.stack([*ranks.T, straight, close], axis=1).astype(np.float64)
    share = weights / weights.sum()
    others -= share @ others
    others /= np.sqrt(share @ others**2)
    return FlopFeatures(flop_strata(flops), np.maximum(ranks[:, 2] - _LOWEST_GROUP, 0), others)


def balanced_features(flops: NDArray[np.uint8]) -> Floats:
    """What drawn flops are balanced by, ``[flop, feature]``: membership of the strata, and the other features."""
    features = flop_features(flops, np.ones(len(flops)))
    return np.concatenate([np.eye(len(STRATA))[features.stratum], features.others], axis=1)


def shares(groups: NDArray[np.intp], weights: NDArray, count: int) -> Floats:
    """Share of each group in the weights."""
    return np.bincount(groups, weights, minlength=count) / weights.sum()


def raked(groups: Sequence[tuple[NDArray[np.intp], Floats]]) -> Floats | None:
    """Weights under which each grouping has its shares; None where a group with a share has no member.

    >>> raked([(np.array([0, 0, 1]), np.array([0.5, 0.5]))]).tolist()
    [0.25, 0.25, 0.5]
    """
    weights = np.full(len(groups[0][0]), 1.0 / len(groups[0][0]))
    for _ in range(_RAKES):
        for members, wanted in groups:
            found = np.bincount(members, weights, minlength=len(wanted))
            if (found[wanted > 0] <= 0).any():
                return None
            weights *= (wanted / np.where(found > 0, found, 1))[members]
    return weights


def draw_flops(counts: Sequence[int], draws: int, seed: int) -> tuple[NDArray[np.intp], Floats]:
    """Numbers of canonical flops, ascending, and their weights, which sum to 1.

    Parameters
    ----------
    counts
        Flops of each of `STRATA`.
    draws
        Draws to choose from.
    """
    flops = canonical_boards(3)
    features = flop_features(flops.boards, flops.weights)
    wanted = (
        shares(features.stratum, flops.weights, len(STRATA)),
        shares(features.high, flops.weights, HIGH_GROUPS),
    )
    rng = np.random.default_rng(seed)
    strata = [np.flatnonzero(features.stratum == number) for number in range(len(STRATA))]
    best: tuple[float, NDArray[np.intp], Floats] | None = None
    for _ in range(draws):
        rows = np.sort(
            np.concatenate(
                [
                    _systematic(members, flops.weights[members], count, rng)
                    for members, count in zip(strata, counts)
                ]
            )
        )
        if len(np.unique(rows)) < len(rows):
            continue
        score, weights = _imbalance(features, rows, wanted)
        if weights is not None and (best is None or score < best[0]):
            best = score, rows, weights
    if best is None:
        raise ValueError(f"counts {list(counts)}: no draw of {draws} has flops of all groups")
    return best[1], best[2]


def _systematic(
    members: NDArray[np.intp], weights: NDArray, count: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """A systematic sample by weight, in order of the canonical flops, which is that of the high cards."""
    cumulated = np.cumsum(weights)
    points = (np.arange(count) + rng.random()) * cumulated[-1] / count
    return members[np.searchsorted(cumulated, points, side="right")]


def _imbalance(
    features: FlopFeatures, rows: NDArray[np.intp], wanted: tuple[Floats, Floats]
) -> tuple[float, Floats | None]:
    """How far the weighted means of the other features are off, and the weights; None for unusable ones."""
    weights = raked([(features.high[rows], wanted[1]), (features.stratum[rows], wanted[0])])
    if weights is None:
        return np.inf, None
    stratum = features.stratum[rows]
    fair = (wanted[0] / np.maximum(np.bincount(stratum, minlength=len(STRATA)), 1))[stratum]
    if (np.abs(np.log(weights / fair)) > np.log(_LARGEST_FACTOR)).any():
        return np.inf, None
    return float(((weights @ features.others[rows]) ** 2).sum()), weights


def choose_flops(rows: NDArray[np.intp], counts: Sequence[int]) -> tuple[NDArray[np.intp], Floats]:
    """The best balanced choice of so many of some flops from each stratum, each stratum with its share."""
    flops = canonical_boards(3)
    features = flop_features(flops.boards, flops.weights)
    wanted = shares(features.stratum, flops.weights, len(STRATA))
    members = [rows[features.stratum[rows] == number] for number in range(len(STRATA))]
    choices = product(*(combinations(part, count) for part, count in zip(members, counts)))
    weights = np.repeat(wanted / counts, counts)
    found = np.array([list(chain(*choice)) for choice in choices])
    means = np.einsum("i,cif->cf", weights, features.others[found])
    best = found[int((means**2).sum(axis=1).argmin())]
    order = np.argsort(best)
    return best[order], weights[order]


def drawn_tiers() -> dict[str, tuple[NDArray[np.intp], Floats]]:
    """Canonical flops and weights of the tiers that are drawn here."""
    real = draw_flops(REAL_COUNTS, _DRAWS, _SEED)
    return {
        "real": real,
        "real_small": choose_flops(real[0], SMALL_COUNTS),
        "full": draw_flops(FULL_COUNTS, _DRAWS, _SEED + 1),
    }


def main() -> None:
    """Print the flops of each tier, with their weights in parts of 100,000."""
    boards = canonical_boards(3).boards
    for name, (rows, weights) in drawn_tiers().items():
        listed = (f"{format_cards(boards[row])}:{round(1e5 * weight)}" for row, weight in zip(rows, weights))
        print(f"{name}\n{' '.join(listed)}\n")


if __name__ == "__main__":
    main()
