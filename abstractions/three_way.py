"""Three players before the flop: every class against every two classes, exact, with card removal.

For a hand a on a board, let M[B] count the weaker hands of class B that share no card with a. Of the pairs of such
hands, one of B and one of C, M[B] M[C] less those that share a card are deals that a wins alone. Pairs that share
card x number Mx[B] Mx[C], with Mx[B] the hands among M[B] that hold x; a pair of equal hands shares two cards and is
added back once. Hands that hold x belong to only 25 classes, so these products are kept by slot, as in
`abstractions.equity`.

Two such counts, of weaker hands (`alone`) and of hands not stronger (`best`), are summed over the canonical rivers.
Together with the number of deals they give all seven sets of winners, see `winners_of_triples`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.card_kernels import _combo_index
from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CARDS, NUM_CLASSES
from abstractions.class_triples import (
    NUM_PAIRS,
    class_pairs_listed,
    disjoint_triples,
    pair_index,
    triple_index,
    triples_listed,
)
from abstractions.equity import _CLASS_SLOTS, _SLOT_CLASSES
from abstractions.evaluator import _sorted_board
from abstractions.isomorphism import canonical_boards

# Rows of pairs are padded to whole vectors: row B holds the classes from the multiple of _LANES below B to _WIDTH.
_LANES, _WIDTH = 16, 176
_ROW_LENGTHS = _WIDTH - np.arange(NUM_CLASSES) // _LANES * _LANES
_ROW_ENDS = np.cumsum(_ROW_LENGTHS)
#: Added to class C, gives the place of the pair (B, C) in padded rows.
_ROW_STARTS = _ROW_ENDS - _WIDTH
# Slots are padded to 28, seven words of four counts each.
_SLOTS, _WORDS = 28, 7
#: Class of every slot by rank, [13, 26]. Slot 13 + r of rank r stands for nothing.
_RANK_CLASSES = _SLOT_CLASSES[[14 * (12 - rank) for rank in range(13)], 0]


@njit(cache=True, nogil=True)
def _lower_hands(
    combo: int,
    hand_class: int,
    bound: int,
    strengths: Any,
    combo_cards: Any,
    rank_classes: Any,
    below: Any,
    below_with: Any,
    below_words: Any,
    with_card: Any,
    words: Any,
    lower: Any,
    shared: Any,
) -> None:
    """Fill `lower` with the hands below `bound` that are disjoint from a combo, and add the pairs that share a card.

    `below` and `below_with` count all hands below the bound, by class, and by card and slot. ``shared[r, s, t]`` takes
    the pairs of slots s and t that share a card of rank r. Counts have 16 bits, and four are multiplied and added at
    a time as one integer: `below_words`, `words` and `shared` are such views of `below_with`, `with_card` (work space)
    and the counts. No count is above 12 * 4 * 9, for a run of 12 hands, four suits and three hands by slot.
    """
    first, second = np.int64(combo_cards[combo, 0]), np.int64(combo_cards[combo, 1])
    for c in range(lower.shape[0]):
        lower[c] = below[c]
    for slot in range(26):
        lower[rank_classes[first >> 2, slot]] -= below_with[first, slot]
        lower[rank_classes[second >> 2, slot]] -= below_with[second, slot]
    if strengths[combo] < bound:
        lower[hand_class] += 1  # it holds both cards, and was taken off twice
    for card in range(52):
        if card in (first, second):
            continue
        for word in range(_WORDS):
            words[word] = below_words[card, word]
        for own in (first, second):
            strength = strengths[_combo_index(min(card, own), max(card, own))]
            if strength >= 0 and strength < bound:
                offsuit = (card ^ own) & 3 != 0 and card >> 2 != own >> 2
                with_card[(own >> 2) + 13 * offsuit] -= 1
        w0, w1, w2, w3, w4, w5, w6 = words[0], words[1], words[2], words[3], words[4], words[5], words[6]
        rows = shared[card >> 2]
        for slot in range(26):
            count = np.int64(with_card[slot])
            if count > 0:
                row = rows[slot]
                row[0] += count * w0
                row[1] += count * w1
                row[2] += count * w2
                row[3] += count * w3
                row[4] += count * w4
                row[5] += count * w5
                row[6] += count * w6


@njit(cache=True, nogil=True)
def _add_run(
    lower: Any, count: int, shared: Any, below: Any, weight: int, starts: Any, pairs: Any, blocked: Any
) -> None:
    """Add the pairs of a run of `count` hands of one class and strength to its class's row of the tables."""
    line = np.empty(_WIDTH, np.int16)
    for b in range(NUM_CLASSES):
        if below[b] == 0:
            continue
        begin = b // _LANES * _LANES
        part = line[begin:]
        part[:] = 0
        for hand in range(count):
            own = lower[hand, b]
            others = lower[hand, begin:]
            for c in range(part.shape[0]):
                part[c] += own * others[c]
            line[b] += own
        row = pairs[starts[b] + begin : starts[b] + _WIDTH]
        for c in range(part.shape[0]):
            row[c] += weight * part[c]
    for i in range(blocked.shape[0]):
        blocked[i] += weight * shared[i]


@njit(cache=True, nogil=True)
def _count_three_way(
    rivers: Any,
    weights: Any,
    class_of: Any,
    combo_cards: Any,
    slots: Any,
    rank_classes: Any,
    starts: Any,
    pairs: Any,
    blocked: Any,
) -> None:
    """Add every river to ``pairs[k, A]`` and ``blocked[k, A]``: k = 0 for weaker hands, 1 for not stronger ones."""
    strengths, order = np.empty(1326, np.int16), np.empty(1326, np.int16)
    below, below_with = np.empty(_WIDTH, np.int16), np.empty((52, _SLOTS), np.int16)
    lower, shared = np.empty((12, _WIDTH), np.int16), np.empty((13, 26, _SLOTS), np.int16)
    with_card = np.empty(_SLOTS, np.int16)
    below_words, words, shared_words = (
        below_with.view(np.int64),
        with_card.view(np.int64),
        shared.view(np.int64),
    )
    flat = shared.reshape(shared.size)
    for river in range(rivers.shape[0]):
        count = _sorted_board(rivers[river], strengths, order)
        below[:] = 0
        below_with[:] = 0
        weight = np.int32(weights[river])
        start = 0
        while start < count:
            strength = np.int64(strengths[order[start]])
            stop = start
            while stop < count and strengths[order[stop]] == strength:
                stop += 1
            for kind in range(2):
                if kind == 1:
                    for i in range(start, stop):
                        combo = order[i]
                        below[class_of[combo]] += 1
                        below_with[combo_cards[combo, 0], slots[combo, 0]] += 1
                        below_with[combo_cards[combo, 1], slots[combo, 1]] += 1
                elif start == 0:
                    continue
                first = start
                while first < stop:
                    hand_class = class_of[order[first]]
                    flat[:] = 0
                    size = 0
                    while first + size < stop and class_of[order[first + size]] == hand_class:
                        _lower_hands(
                            order[first + size],
                            hand_class,
                            strength + kind,
                            strengths,
                            combo_cards,
                            rank_classes,
                            below,
                            below_with,
                            below_words,
                            with_card,
                            words,
                            lower[size],
                            shared_words,
                        )
                        size += 1
                    _add_run(
                        lower,
                        size,
                        flat,
                        below,
                        weight,
                        starts,
                        pairs[kind, hand_class],
                        blocked[kind, hand_class],
                    )
                    first += size
            start = stop


def three_way_chunk(start: int, stop: int) -> NDArray[np.int64]:
    """Pairs of hands that a class beats on the canonical rivers ``start..stop-1``, int64 [2, 169, 14365].

    Entry ``[0, A, p]`` counts the deals in which a hand of A beats one hand of each class of pair p, and entry
    ``[1, A, p]`` those in which neither beats it. Chunks sum, in any order, to the tables of all boards.
    """
    rivers = canonical_boards(5)
    if not 0 <= start <= stop <= len(rivers.boards):
        raise ValueError(f"rivers {start} to {stop}: expected a part of 0 to {len(rivers.boards)}")
    total = np.zeros((2, NUM_CLASSES, NUM_PAIRS), dtype=np.int64)
    # A river adds at most 24 * 12 * 144 < 2^16 to an entry, so 2^15 rivers fit int32.
    for first in range(start, stop, 1 << 15):
        part = slice(first, min(stop, first + (1 << 15)))
        pairs = np.zeros((2, NUM_CLASSES, int(_ROW_ENDS[-1])), dtype=np.int32)
        blocked = np.zeros((2, NUM_CLASSES, 13 * 26 * _SLOTS), dtype=np.int32)
        _count_three_way(
            rivers.boards[part],
            rivers.weights[part],
            CLASS_OF_COMBO,
            COMBO_CARDS,
            _CLASS_SLOTS,
            _RANK_CLASSES,
            _ROW_STARTS,
            pairs,
            blocked,
        )
        low, high = class_pairs_listed()
        total += pairs[:, :, _ROW_STARTS[low] + high]
        by_slot = blocked.reshape(2, NUM_CLASSES, 13, 26, _SLOTS)
        for rank in range(13):
            slots = np.array([slot for slot in range(26) if slot != 13 + rank])
            one, other = (slots[side] for side in np.triu_indices(slots.size))
            ends = _RANK_CLASSES[rank, one], _RANK_CLASSES[rank, other]
            total[:, :, pair_index(*ends)] -= by_slot[:, :, rank, one, other]
    return total


@dataclass(frozen=True, eq=False)
class ThreeWayTable:
    """Deals by set of winners for every three classes.

    Attributes
    ----------
    winners
        int64 [818805, 7]: row `triple_index` of the classes, column mask - 1, where bit i of the mask stands for the
        i-th class in ascending order. Rows that cannot be dealt are zero.
    """

    winners: NDArray[np.int64]

    @property
    def deals(self) -> NDArray[np.int64]:
        """Number of deals of every triple."""
        return self.winners.sum(axis=1)

    def equities(self) -> NDArray[np.float64]:
        """Mean part of the pot of each of the three, float64 [818805, 3]; nan where no deal is possible."""
        among = np.arange(1, 8)[:, None] >> np.arange(3) & 1
        with np.errstate(invalid="ignore"):
            return self.winners @ (among / among.sum(axis=1, keepdims=True)) / self.deals[:, None]

    def equity(self, first: int, second: int, third: int) -> float:
        """Equity of the first class against the two others."""
        row = int(triple_index(first, second, third))
        (equities,) = ThreeWayTable(self.winners[row : row + 1]).equities()
        return float(equities[sorted((first, second, third)).index(first)])

    def cube(self) -> NDArray[np.float64]:
        """Equity of every class (first axis) against every two others, float64 [169, 169, 169]."""
        return _spread(self.equities())

    def against_two_random(self) -> NDArray[np.float64]:
        """Equity of every class against two random hands, float64 [169]."""
        deals = _spread(np.repeat(self.deals[:, None], 3, axis=1))
        shares = np.nan_to_num(self.cube()) * deals
        return shares.sum(axis=(1, 2)) / deals.sum(axis=(1, 2))


def _spread(values: NDArray[Any]) -> NDArray[np.float64]:
    """Values of the three classes of every triple, [818805, 3], by class and its two opponents in either order."""
    cube = np.empty((NUM_CLASSES,) * 3)
    triples = triples_listed().astype(np.intp)
    for own in range(3):
        a, b, c = triples[:, own], triples[:, own - 2], triples[:, own - 1]
        cube[a, b, c] = cube[a, c, b] = values[:, own]
    return cube


def winners_of_triples(counts: NDArray[np.int64]) -> ThreeWayTable:
    """Deals by set of winners from the summed chunks.

    Let X_i count the deals that player i wins alone and Y_i those in which nobody beats it. Every deal has one, two or
    three winners, so sum(X) + sum(Y) is twice the number of deals plus once the deals that all three share. Ties of two
    follow: Y_i - X_i less those is the sum of player i's ties with one other.
    """
    low, middle, high = triples_listed().T.astype(np.intp)
    places = (low, pair_index(middle, high)), (middle, pair_index(low, high)), (high, pair_index(low, middle))
    alone, best = (np.stack([table[place] for place in places]) for table in counts)
    deals = disjoint_triples() * comb(NUM_CARDS - 6, 5)
    all_three = alone.sum(axis=0) + best.sum(axis=0) - 2 * deals
    tied = best - alone - all_three
    with_one = (
        tied.sum(axis=0) - 2 * tied[[2, 1, 0]]
    ) // 2  # of the first two, of first and third, of the last two
    columns = [alone[0], alone[1], with_one[0], alone[2], with_one[1], with_one[2], all_three]
    return ThreeWayTable(np.stack(columns, axis=1))
