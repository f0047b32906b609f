"""Buckets of later streets below a search, made for its ranges and its board.

Buckets of a blueprint are made for all boards and all ranges. A search knows its ranges and the cards that lie already.

- On a full board two hands of equal strength differ only by the cards that they block. So the hands are cut into parts
  of equal mass, from the weakest to the strongest, where a hand's mass is its share of both ranges.
- Before it, a hand has a place among the hands on every river: the share of the mass that it beats. The hands are cut
  into parts by the mean of their places, and every part by how far the places spread, because draws are played
  otherwise than made hands.
- What a part should do depends on the cards that came since the search. So each kind of card has rows of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, live_combos
from abstractions.evaluator import _sorted_board

#: Parts of the hands on a river. More of them tell hands apart better, and learn more slowly.
RIVER_PARTS = 50
#: Parts of the hands on a turn, and of each of these by the spread of its places.
TURN_PARTS, SPREADS = 60, 12
#: What a card does, the first that fits: it may bring a flush, pair the board, bring a straight that needs one card of
#: a hand, be the highest card of the board, its second highest, or lower.
FLUSH, PAIR, STRAIGHT, HIGHEST, SECOND, LOW = range(6)
NUM_KINDS = 6
#: A straight has five ranks in a row; with so many of them on the board one card of a hand completes it.
IN_A_ROW, STRAIGHT_NEAR = 5, 4
#: Mass of hands outside of both ranges: next to nothing, but they have a place too.
UNPLAYED = 1e-12


def card_kind(board: NDArray[np.uint8]) -> int:
    """Kind of the last card of a board.

    >>> from abstractions.cards import parse_board
    >>> kinds = {"QsJh2h8d7h": FLUSH, "QsJh2h8d2s": PAIR, "QsJh2h8d9c": STRAIGHT, "QsJh2h8dKc": HIGHEST}
    >>> all(card_kind(parse_board(board)) == kind for board, kind in kinds.items())
    True
    """
    return int(_card_kind(np.ascontiguousarray(board, dtype=np.uint8)))


@njit(cache=True, nogil=True)
def _card_kind(board: Any) -> int:
    last = board[-1]
    suited = 0
    ranks = np.zeros(13, np.uint8)
    for card in board[:-1]:
        suited += card % 4 == last % 4
        ranks[card // 4] = 1
    if suited >= 2:
        return FLUSH
    if ranks[last // 4] > 0:
        return PAIR
    higher = np.sum(ranks[last // 4 :])
    before = _most_in_a_row(ranks)
    ranks[last // 4] = 1
    if _most_in_a_row(ranks) >= max(STRAIGHT_NEAR, before + 1):
        return STRAIGHT
    if higher == 0:
        return HIGHEST
    return SECOND if higher == 1 else LOW


@njit(cache=True, nogil=True)
def _most_in_a_row(ranks: Any) -> int:
    """Most ranks that lie within five in a row, of those marked 1; the ace also comes before the deuce."""
    most = 0
    for lowest in range(-1, len(ranks) - IN_A_ROW + 1):
        count = 0
        for rank in range(lowest, lowest + IN_A_ROW):
            count += ranks[rank]
        most = max(most, count)
    return most


def bucket_counts(known: int) -> tuple[int, int, int]:
    """Buckets of flop, turn and river below a search whose board has `known` cards."""
    turn = NUM_KINDS * TURN_PARTS * SPREADS if known < 4 else 1
    return 1, turn, NUM_KINDS ** (5 - known) * RIVER_PARTS


@dataclass(frozen=True, eq=False)
class RangeBuckets:
    """Buckets of the streets after a search's board, as `Bucketing`. The searched streets have one bucket.

    Attributes
    ----------
    known
        Cards of the board that is searched, 3 or 4.
    masses
        How much each combo counts, [1326].
    """

    known: int
    masses: NDArray[np.float64]

    @classmethod
    def of(cls, known: int, ranges: tuple[NDArray[np.float64], NDArray[np.float64]]) -> RangeBuckets:
        """Buckets for two ranges, each of which counts the same."""
        return cls(known, sum(weights / weights.sum() for weights in ranges))

    @property
    def num_buckets(self) -> tuple[int, int, int]:
        """Buckets of flop, turn and river."""
        return bucket_counts(self.known)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """Bucket of every combo on a board as dealt, [1326]; blocked combos are in bucket 0."""
        found = np.zeros(NUM_COMBOS, dtype=np.int64)
        if len(board) <= self.known:
            return found
        cards = np.asarray(board, dtype=np.uint8)
        kind = self.kind(cards, len(cards))
        if len(cards) == 5:
            _river_parts(cards, self.masses, RIVER_PARTS, found)
            return found + kind * RIVER_PARTS
        combos = np.flatnonzero(live_combos(cards))
        mean, spread = places(cards, self.masses)[:, combos]
        masses = self.masses[combos]
        parts = _equal_parts(mean, masses, TURN_PARTS)
        parts = parts * SPREADS + _equal_parts(spread, masses, SPREADS, within=parts)
        found[combos] = kind * TURN_PARTS * SPREADS + parts
        return found

    def kind(self, board: NDArray[np.uint8], cards: int) -> int:
        """Number of the kinds of the cards that came since the search, up to so many cards of the board."""
        kind = 0
        for dealt in range(self.known + 1, cards + 1):
            kind = kind * NUM_KINDS + card_kind(board[:dealt])
        return kind

    def chain(self, board: NDArray[np.uint8]) -> int:
        """Boards of different numbers share no bucket: the kind of the first card that came since the search."""
        return self.kind(board, self.known + 1)


def places(board: NDArray[np.uint8], masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean and variance of each combo's place over the rivers of a board of 4 or 5 cards, ``[2, 1326]``.

    A place is the share of the mass on that river that the combo beats, half of its ties included: 0 to 1.
    """
    dealt = set(board.tolist())
    rivers = [[]] if len(board) == 5 else [[card] for card in range(52) if card not in dealt]
    boards = np.array([[*board.tolist(), *river] for river in rivers], dtype=np.uint8)
    sums = np.zeros((3, NUM_COMBOS))
    _add_places(boards, masses, sums)
    count = np.maximum(sums[2], 1.0)
    mean = sums[0] / count
    return np.stack([mean, np.maximum(sums[1] / count - mean**2, 0.0)])


@njit(cache=True, nogil=True)
def _add_places(boards: Any, masses: Any, sums: Any) -> None:
    """Add the places of all combos on full boards, their squares and their number to `sums`."""
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.int16)
    for row in range(len(boards)):
        count = _sorted_board(boards[row], strengths, order)
        total = 0.0
        for h in range(count):
            total += masses[order[h]]
        scale = 1.0 / total if total > 0.0 else 0.0
        below = 0.0
        first = 0
        while first < count:
            last = first
            tied = 0.0
            while last < count and strengths[order[last]] == strengths[order[first]]:
                tied += masses[order[last]]
                last += 1
            place = (below + tied / 2) * scale
            for h in range(first, last):
                sums[0, order[h]] += place
                sums[1, order[h]] += place * place
                sums[2, order[h]] += 1.0
            below += tied
            first = last


@njit(cache=True, nogil=True)
def _river_parts(board: Any, masses: Any, count: int, out: Any) -> None:
    """Part of each live combo of a full board, as `_equal_parts` of the places makes them."""
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.int16)
    live = _sorted_board(board, strengths, order)
    total = 0.0
    for h in range(live):
        total += masses[order[h]]
    scale = 1.0 / total if total > 0.0 else 0.0
    every = total + live * UNPLAYED
    below = 0.0
    first = 0
    last = 0
    while first < live:
        # Strengths between which there is no mass have the same place.
        tied = 0.0
        place = -1.0
        while last < live:
            end = last
            equal = 0.0
            while end < live and strengths[order[end]] == strengths[order[last]]:
                equal += masses[order[end]]
                end += 1
            here = round((below + tied + equal / 2) * scale * 1e9)
            if last > first and here != place:
                break
            place = here
            tied += equal
            last = end
        middle = below + tied / 2 + (first + last) / 2 * UNPLAYED
        part = min(int(middle / every * count), count - 1)
        for h in range(first, last):
            out[order[h]] = part
        below += tied
        first = last


def _equal_parts(
    keys: NDArray[np.float64],
    masses: NDArray[np.float64],
    count: int,
    *,
    within: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Part of each hand, when hands in the order of their keys are cut into parts of equal mass.

    Hands of equal keys are in one part. With `within`, each group of hands of the same number is cut on its own.
    """
    groups = np.zeros(len(keys), dtype=np.int64) if within is None else within
    # Equivalent hands have the same key but for rounding.
    rounded = np.round(keys, 9)
    order = np.lexsort((rounded, groups))
    new_group = np.diff(groups[order], prepend=-1) != 0
    new_tie = new_group | (np.diff(rounded[order], prepend=np.nan) != 0)
    below = np.append(0.0, np.cumsum(masses[order] + UNPLAYED))
    ties, starts = np.flatnonzero(new_tie), np.flatnonzero(new_group)
    middle = (below[ties] + below[np.append(ties[1:], len(keys))]) / 2
    owner = np.cumsum(new_group)[ties] - 1
    lowest, total = below[starts], np.diff(below[np.append(starts, len(keys))])
    share = (middle - lowest[owner]) / total[owner]
    parts = np.empty(len(keys), dtype=np.int64)
    parts[order] = np.minimum((share * count).astype(np.int64), count - 1)[np.cumsum(new_tie) - 1]
    return parts
