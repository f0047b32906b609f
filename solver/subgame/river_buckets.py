"""Buckets of the river below a search: hands of about equal strength, on rivers of one kind.

Buckets of a blueprint are made for all boards and all ranges. A search knows its ranges and the cards on the board. On
a full board two hands of equal strength differ only by the cards that they block. So the hands are cut into parts of
equal mass, from the weakest to the strongest, where a hand's mass is its share of both ranges. What a part should do
depends on the card that came, so each kind of river has rows of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from abstractions.evaluator import _sorted_board
from solver.blueprint.boards import Bucketing

#: Parts that the hands of a river are cut into. More of them tell hands apart better, and learn more slowly.
PARTS = 50
#: What the last card does: it may bring a flush, pair the board, be its highest card, its second highest, or lower.
FLUSH, PAIR, HIGHEST, SECOND, LOW = range(5)
NUM_KINDS = 5
NUM_RIVER_BUCKETS = NUM_KINDS * PARTS


def river_kind(board: NDArray[np.uint8]) -> int:
    """Kind of the last card of a full board.

    >>> from abstractions.cards import parse_board
    >>> kinds = {"QsJh2h8d7h": FLUSH, "QsJh2h8d2s": PAIR, "QsJh2h8dKc": HIGHEST, "QsJh2c8dQd": PAIR}
    >>> all(river_kind(parse_board(board)) == kind for board, kind in kinds.items())
    True
    """
    ranks, suits = np.asarray(board, dtype=np.int64) // 4, np.asarray(board) % 4
    if np.count_nonzero(suits[:-1] == suits[-1]) >= 2:
        return FLUSH
    if ranks[-1] in ranks[:-1]:
        return PAIR
    higher = len({rank for rank in ranks[:-1].tolist() if rank > ranks[-1]})
    return (HIGHEST, SECOND, LOW)[min(higher, 2)]


@dataclass(frozen=True, eq=False)
class RiverBuckets:
    """Buckets of the river as `Bucketing`; earlier streets have those of another one.

    Attributes
    ----------
    earlier
        Buckets of flop and turn.
    masses
        How much each combo counts, [1326].
    """

    earlier: Bucketing
    masses: NDArray[np.float64]

    @classmethod
    def of(cls, earlier: Bucketing, ranges: tuple[NDArray[np.float64], NDArray[np.float64]]) -> RiverBuckets:
        """Buckets for two ranges, each of which counts the same."""
        return cls(earlier, sum(weights / weights.sum() for weights in ranges))

    @property
    def num_buckets(self) -> tuple[int, int, int]:
        """Buckets of flop, turn and river."""
        flop, turn, _ = self.earlier.num_buckets
        return flop, turn, NUM_RIVER_BUCKETS

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        """Bucket of every combo on a board as dealt, [1326]; blocked combos are in bucket 0."""
        if len(board) < 5:
            return self.earlier.buckets(board, texture)
        strengths = np.empty(NUM_COMBOS, dtype=np.int16)
        order = np.empty(NUM_COMBOS, dtype=np.int16)
        count = _sorted_board(np.asarray(board, dtype=np.uint8), strengths, order)
        combos = order[:count]
        found = np.zeros(NUM_COMBOS, dtype=np.int64)
        found[combos] = river_kind(board) * PARTS + _parts(strengths[combos], self.masses[combos])
        return found


def _parts(strengths: NDArray[np.integer], masses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Part of each hand, given hands from weakest to strongest; hands of equal strength are in one part."""
    starts_group = np.append(True, strengths[1:] != strengths[:-1])
    edges = np.append(np.flatnonzero(starts_group), len(strengths))
    below = np.append(0.0, np.cumsum(masses))[edges]
    if below[-1] == 0.0:
        return np.zeros(len(strengths), dtype=np.int64)
    middle = (below[:-1] + below[1:]) / (2.0 * below[-1])
    parts = np.minimum((middle * PARTS).astype(np.int64), PARTS - 1)
    return parts[np.cumsum(starts_group) - 1]
