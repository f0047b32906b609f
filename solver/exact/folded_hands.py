"""How likely the hands of folded players leave a set of cards alone, exactly for up to four of them.

A folded player held each hand with some weight. The hands of all of them together leave the board and both hands of
a deal alone, so every deal weighs as much as there are ways to deal the folded hands around it
(`solver.exact.folded_counts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS
from solver.exact.folded_counts import (
    _avoid,
    _draw_deals,
    _of_pairs,
    _sampled_fours,
    _sums_of_fours,
    used_cards,
)

Floats = NDArray[np.float64]
#: Folded players that are counted exactly; more are sampled.
MAX_EXACT = 4
#: Folded players at all: nine seats, two of them in the hand.
MAX_FOLDED = 7
#: Ways to deal the folded hands that are drawn where they are sampled.
SAMPLES = 1 << 17
#: Parts of the sample whose spread says how far off it is.
BATCHES = 8
_NUM_PAIRS = comb(NUM_CARDS, 2)


@dataclass(frozen=True)
class AvoidingWeights:
    """Weights of the deals of the folded hands on one board that avoid four more cards.

    Attributes
    ----------
    place : int64 array [52]
        Number of each card among those that the board leaves; -1 for the board's.
    table : float64 array
        By the number of the set of four cards, relative to folded players whose hands may be any.
    """

    place: NDArray[np.int64]
    table: Floats

    def of_pairs(self, first: NDArray[np.uint8], second: NDArray[np.uint8]) -> Floats:
        """Weights of pairs of hands, ``[first, second]``; zero for hands with a common card."""
        return _of_pairs(self.place, self.table, first, second)


class FoldedHands:
    """Hands that folded players may have held.

    Parameters
    ----------
    weights : arrays [52, 52]
        Of each folded player, the weight of every hand by its two cards; symmetric, with an empty diagonal.
    samples
        Deals of the folded hands to draw where there are too many players to count exactly.
    """

    def __init__(self, weights: Sequence[Floats], *, samples: int = SAMPLES) -> None:
        if not 1 <= len(weights) <= MAX_FOLDED:
            raise ValueError(f"folded_ranges: {len(weights)} ranges; accepted: 1 to {MAX_FOLDED}")
        # Relative to its total, so that products of many players stay near one.
        self.weights = [np.asarray(w, dtype=np.float64) / (w.sum() / 2.0) for w in weights]
        self.is_exact = len(self.weights) <= MAX_EXACT
        self._drawn = None if self.is_exact else self._draw(samples)

    def __len__(self) -> int:
        return len(self.weights)

    def is_unchanged_by(self, cards: NDArray[np.integer]) -> bool:
        """Whether the ranges stay what they are when every card becomes the one given for it."""
        # Samples are not symmetric, whatever the ranges are.
        return self.is_exact and all(np.array_equal(w, w[np.ix_(cards, cards)]) for w in self.weights)

    def avoiding(self, board: Sequence[int]) -> AvoidingWeights:
        """Weights on a board, by the four private cards of a deal."""
        live, place = _live_cards(board)
        if self._drawn is None:
            used = used_cards([np.ascontiguousarray(w[np.ix_(live, live)]) for w in self.weights])
            table = _avoid(*used)
        else:
            table = self._sampled(place, len(live), slice(None))
        return AvoidingWeights(place, table / _any_hands(len(live) - 4, len(self)))

    def _draw(self, samples: int) -> tuple[NDArray[np.uint8], Floats]:
        """Some ways to deal the folded hands, always the same ones, and their weights."""
        draws = np.random.default_rng(1).random((samples, len(self)))
        cards, weights = _draw_deals(np.array(self.weights), draws)
        return cards, weights

    def _sampled(self, place: NDArray[np.int64], count: int, part: slice) -> Floats:
        assert self._drawn is not None
        cards, weights = self._drawn
        fours = _sampled_fours(cards[part], weights[part], place, count) / len(weights[part])
        return _avoid(fours, *_sums_of_fours(fours, count, 2 * len(self)))

    def relative_error(self, board: Sequence[int]) -> float:
        """Standard error of the weight of a deal by sampling, as a share of the weight; 0 where it is exact."""
        if self._drawn is None:
            return 0.0
        live, place = _live_cards(board)
        edges = np.linspace(0, len(self._drawn[1]), BATCHES + 1).astype(int).tolist()
        parts = np.array([self._sampled(place, len(live), slice(a, b)) for a, b in pairwise(edges)])
        error = parts.std(axis=0, ddof=1) / np.sqrt(BATCHES)
        return float(np.sqrt((error**2).mean()) / max(parts.mean(), np.finfo(np.float64).tiny))


def _live_cards(board: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cards that a board leaves, and the number of each card among them."""
    live = np.setdiff1d(np.arange(NUM_CARDS), np.array(board, dtype=np.int64))
    place = np.full(NUM_CARDS, -1, dtype=np.int64)
    place[live] = np.arange(len(live))
    return live, place


def _any_hands(unseen: int, players: int) -> float:
    """The weight that players without information give to deals that leave `unseen` cards to them."""
    weight = 1.0
    for player in range(players):
        weight *= comb(unseen - 2 * player, 2) / _NUM_PAIRS
    return weight
