"""Strengths and equities of every hand on canonical rivers, and the runouts that lead there.

An opponent hand is uniform over the hands disjoint from board and hand: 990 on the river. Every runout is
equally likely, hence an equity before the river is the mean of the river equities that can follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from abstractions.evaluator import _board_strengths
from abstractions.features.hand_classes import check_board_range, class_numbers
from abstractions.isomorphism import COMBO_PERMUTATION, canonical_boards, hand_class_offsets

#: Entry of a per-combo table where the board blocks the combo.
BLOCKED = 65535
#: Twice the number of opponents on the river: the count of a hand that beats them all.
RIVER_SCALE = 1980
#: Hands that a river leaves.
LIVE_HANDS = 1081
#: Cards still to come and ways to deal them to two disjoint hands, by board size.
_RUNOUTS = {3: 990, 4: 44, 5: 1}
# Unsigned, because an index that cannot be negative needs no check in a kernel.
_PERMUTATIONS = COMBO_PERMUTATION.astype(np.uint16)


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    """Number of bits set in a 64-bit word, as one machine instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@njit(cache=True, nogil=True)
def _order_hands(strengths: Any, order: Any, starts: Any) -> int:
    """Live combos by ascending strength and the start of each group of ties; returns the number of groups.

    A counting sort over the distinct strengths, which a bit set of all 7,462 finds and numbers.
    """
    bits = np.zeros(117, np.int64)
    for combo in range(1326):
        strength: Any = np.int64(strengths[combo])
        if strength >= 0:
            bits[strength >> 6] |= 1 << (strength & 63)
    base = np.empty(117, np.int64)
    groups = 0
    for word in range(117):
        base[word] = groups
        groups += _popcount(bits[word])
    ranks = np.empty(1326, np.uint16)
    for group in range(groups + 1):
        starts[group] = 0
    for combo in range(1326):
        strength = np.int64(strengths[combo])
        if strength >= 0:
            word = strength >> 6
            rank = base[word] + _popcount(bits[word] & ((1 << (strength & 63)) - 1))
            ranks[combo] = rank
            starts[rank + 1] += 1
    for group in range(groups):
        starts[group + 1] += starts[group]
    cursor = starts[:groups].copy()
    for combo in range(1326):
        if strengths[combo] >= 0:
            order[cursor[ranks[combo]]] = combo
            cursor[ranks[combo]] += 1
    return groups


@njit(cache=True, nogil=True)
def _river_orders(boards: Any, orders: Any) -> None:
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.uint16)
    starts = np.empty(1327, np.uint16)
    for row in range(boards.shape[0]):
        _board_strengths(boards[row], strengths)
        groups = _order_hands(strengths, order, starts)
        orders[row] = order[:1081]
        for group in range(groups):
            orders[row, starts[group]] |= 0x8000


@njit(cache=True)
def _read_order(row: Any, image: Any, order: Any, starts: Any) -> int:
    """Order and groups of ties of a real river from the row of its canonical river; returns their number.

    `image` turns canonical combos into real ones.
    """
    groups = -1
    starts[0] = 0
    for m in range(1081):
        entry = row[m]
        order[m] = image[entry & 0x7FFF]
        groups += entry >> 15
        # The end of the group so far; the last one written stays.
        starts[groups + 1] = m + 1
    return groups + 1


@njit(cache=True)
def _renaming_number(renaming: Any, permutation_number: Any) -> int:
    """Row of the renaming of suits in the tables of all 24."""
    first = np.int64(renaming[0]) << 6 | np.int64(renaming[1]) << 4
    return permutation_number[first | np.int64(renaming[2]) << 2 | np.int64(renaming[3])]


def river_orders(start: int, stop: int) -> NDArray[np.uint16]:
    """Hands of canonical rivers from the weakest to the strongest, uint16 [stop - start, 1081].

    An entry is a combo; its top bit is set on the first hand of each group of ties. All strengths that the
    features and bucket equities of earlier streets need are read from this table.

    >>> row = river_orders(0, 1)[0]
    >>> bool(row[0] >> 15), len(set((row & 0x7FFF).tolist()))
    (True, 1081)
    """
    check_board_range(5, start, stop)
    orders = np.empty((stop - start, LIVE_HANDS), dtype=np.uint16)
    _river_orders(canonical_boards(5).boards[start:stop], orders)
    return orders


@njit(cache=True, nogil=True)
def _river_counts(boards: Any, combo_cards: Any, counts: Any) -> None:
    """``2 * wins + ties`` of every combo against the 990 hands disjoint from it; 65535 if blocked."""
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.uint16)
    starts = np.empty(1327, np.uint16)
    held = np.empty(52, np.int64)
    for row in range(boards.shape[0]):
        _board_strengths(boards[row], strengths)
        groups = _order_hands(strengths, order, starts)
        counts[row] = 65535
        held[:] = 0
        for group in range(groups):
            first, stop = np.int64(starts[group]), np.int64(starts[group + 1])
            for m in range(first, stop):
                combo = order[m]
                # Weaker hands, less those that share a card.
                counts[row, combo] = first - held[combo_cards[combo, 0]] - held[combo_cards[combo, 1]]
            for m in range(first, stop):
                held[combo_cards[order[m], 0]] += 1
                held[combo_cards[order[m], 1]] += 1
            for m in range(first, stop):
                combo = order[m]
                # The hand itself is counted once and subtracted with both of its cards: add one back.
                counts[row, combo] += stop - held[combo_cards[combo, 0]] - held[combo_cards[combo, 1]] + 1


def river_equity_counts(start: int, stop: int) -> NDArray[np.uint16]:
    """Equity of every combo on canonical rivers, in units of 1/1980, uint16 [stop - start, 1326].

    Entries are ``2 * wins + ties`` over the 990 opponent hands; `BLOCKED` where the board holds a card.

    >>> counts = river_equity_counts(0, 1)
    >>> int((counts < BLOCKED).sum()), int(counts[counts < BLOCKED].astype(int).sum()) == 1081 * 990
    (1081, True)
    """
    check_board_range(5, start, stop)
    boards = canonical_boards(5).boards[start:stop]
    counts = np.empty((len(boards), NUM_COMBOS), dtype=np.uint16)
    _river_counts(boards, COMBO_CARDS, counts)
    return counts


@njit(cache=True, nogil=True)
def _lowest_of_classes(numbers: Any, table: Any, values: Any) -> None:
    """Entry of the lowest combo of each class of each board, in class order."""
    offset = 0
    for row in range(numbers.shape[0]):
        count = 0
        for combo in range(1326):
            # Classes are numbered by their lowest combos, so a new number is always the next one.
            if numbers[row, combo] == count:
                values[offset + count] = table[row, combo]
                count += 1
        offset += count


def river_equities(start: int, stop: int) -> NDArray[np.float64]:
    """Equity against a random hand of each class of canonical rivers."""
    counts = river_equity_counts(start, stop)
    offsets = hand_class_offsets(5)
    values = np.empty(int(offsets[stop] - offsets[start]), dtype=np.float64)
    _lowest_of_classes(class_numbers(5, start, stop), counts, values)
    return values / RIVER_SCALE


def _all_rivers(name: str, table: NDArray[np.uint16] | None, columns: int) -> NDArray[np.uint16]:
    rows = len(canonical_boards(5).boards)
    shape = None if table is None else table.shape
    if table is None or shape != (rows, columns):
        raise ValueError(f"{name} of shape {shape}: expected ({rows}, {columns}), all canonical rivers")
    return table


@njit(cache=True, nogil=True)
def _card_runouts(board: Any, stabiliser: int, orbits: Any, runouts: Any) -> int:
    """Runouts to the river up to the board's stabiliser: rows (card, card or -1, size of orbit).

    `orbits` holds `ORBIT_COMBO` and `ORBIT_SIZE`: two cards to come have the orbits of two hole cards.
    """
    dead: Any = 0
    for position in range(board.shape[0]):
        dead |= 1 << np.int64(board[position])
    count = 0
    if board.shape[0] == 4:
        for card in range(52):
            suit = card & 3
            # Bit i of a stabiliser joins suits i and i + 1: the lowest suit of a block stands for it.
            if dead >> card & 1 or (suit > 0 and stabiliser >> (suit - 1) & 1):
                continue
            size = 1
            while suit + size < 4 and stabiliser >> (suit + size - 1) & 1:
                size += 1
            runouts[count, 0], runouts[count, 1], runouts[count, 2] = card, -1, size
            count += 1
        return count
    combo = 0
    for low in range(52):
        for high in range(low + 1, 52):
            alive = not (dead >> low & 1 or dead >> high & 1)
            if alive and orbits[0][stabiliser, combo] == combo:
                size = orbits[1][stabiliser, combo]
                runouts[count, 0], runouts[count, 1], runouts[count, 2] = low, high, size
                count += 1
            combo += 1
    return count
