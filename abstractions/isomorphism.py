"""Boards and hands up to a renaming of suits.

A board is four 13-bit rank masks, one per suit. Renaming suits permutes the masks, so the canonical board is
the one whose masks descend from spades to clubs, and the number of real boards in its class is 24 over the
product of the factorials of the multiplicities of equal masks. The renamings that leave a canonical board in
place permute suits with equal masks; which neighbouring masks are equal (three bits) names this stabiliser,
so eight tables hold the orbits of the 1,326 combos for every board there is.

A hand-board class is a canonical board with one orbit of live combos. Class ids run board by board, and
within a board in the order of each orbit's lowest combo.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations
from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.card_kernels import _combo_index
from abstractions.cards import (
    COMBO_CARDS,
    COMBO_INDEX,
    NUM_CARDS,
    NUM_COMBOS,
    format_cards,
    format_combo,
)

NUM_STABILISERS = 8

#: The 24 renamings of suits: ``SUIT_PERMUTATIONS[p, s]`` is the new suit of suit s. Row 0 changes nothing.
SUIT_PERMUTATIONS: NDArray[np.uint8] = np.array(list(permutations(range(4))), dtype=np.uint8)


def permute_cards(cards: NDArray, permutation: NDArray) -> NDArray[np.uint8]:
    """Cards after a renaming of suits."""
    numbers = np.asarray(cards)
    return (numbers & ~np.uint8(3) | np.asarray(permutation, dtype=np.uint8)[numbers & 3]).astype(np.uint8)


def permute_combos(permutation: NDArray) -> NDArray[np.int16]:
    """Combo that each combo becomes under a renaming of suits, int16 [1326]."""
    cards = permute_cards(COMBO_CARDS, permutation)
    return COMBO_INDEX[cards[:, 0], cards[:, 1]]


#: `permute_combos` of every row of `SUIT_PERMUTATIONS`, int16 [24, 1326].
COMBO_PERMUTATION: NDArray[np.int16] = np.stack([permute_combos(row) for row in SUIT_PERMUTATIONS])


def _permutation_number_table() -> NDArray[np.int8]:
    table = np.full(256, -1, dtype=np.int8)
    table[SUIT_PERMUTATIONS @ np.array([64, 16, 4, 1])] = np.arange(24)
    return table


# Row of SUIT_PERMUTATIONS by its suits packed two bits each, first suit highest.
_PERMUTATION_NUMBER = _permutation_number_table()


def permutation_number(permutation: NDArray) -> NDArray[np.int8]:
    """Row number in `SUIT_PERMUTATIONS` of each permutation (the last axis holds the four suits)."""
    return _PERMUTATION_NUMBER[np.asarray(permutation, dtype=np.int64) @ np.array([64, 16, 4, 1])]


def _stabiliser_tables() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Lowest combo and size of each combo's orbit, for the eight stabilisers."""
    lowest = np.empty((NUM_STABILISERS, NUM_COMBOS), dtype=np.int16)
    sizes = np.empty((NUM_STABILISERS, NUM_COMBOS), dtype=np.int16)
    for stabiliser in range(NUM_STABILISERS):
        # Bit i joins suits i and i + 1 into one block; a member of the group keeps every suit in its block.
        block = np.concatenate([[0], np.cumsum([not stabiliser >> i & 1 for i in range(3)])])
        members = [p for p in range(24) if (block[SUIT_PERMUTATIONS[p]] == block).all()]
        images = COMBO_PERMUTATION[members]
        lowest[stabiliser] = images.min(axis=0)
        sizes[stabiliser] = np.bincount(lowest[stabiliser], minlength=NUM_COMBOS)[lowest[stabiliser]]
    return lowest, sizes


#: Lowest combo of each combo's orbit under each stabiliser, int16 [8, 1326].
ORBIT_COMBO: NDArray[np.int16]
#: Number of combos in each combo's orbit under each stabiliser, int16 [8, 1326].
ORBIT_SIZE: NDArray[np.int16]
ORBIT_COMBO, ORBIT_SIZE = _stabiliser_tables()


def _orbit_counts() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Number of orbits whose lowest combo is below c = 0..1326: all of them, and those that hold a card."""
    is_lowest = (np.arange(NUM_COMBOS) == ORBIT_COMBO).astype(np.int16)
    holds_card = (COMBO_CARDS[:, :, None] == np.arange(NUM_CARDS)).any(axis=1).astype(np.int16)
    below = np.zeros((NUM_STABILISERS, NUM_COMBOS + 1), dtype=np.int16)
    below[:, 1:] = np.cumsum(is_lowest, axis=1)
    card_below = np.zeros((NUM_STABILISERS, NUM_CARDS, NUM_COMBOS + 1), dtype=np.int16)
    card_below[:, :, 1:] = np.cumsum(is_lowest[:, None, :] * holds_card.T, axis=2)
    return below, card_below


_ORBITS_BELOW, _CARD_ORBITS_BELOW = _orbit_counts()


@dataclass(frozen=True)
class CanonicalBoards:
    """All boards of a size up to suits.

    Attributes
    ----------
    boards : uint8 [B, n], each row ascending
    weights : int64 [B], the number of real boards of each class; they sum to C(52, n)
    stabilisers : uint8 [B], row of `ORBIT_COMBO` that holds for each board
    keys : int64 [B], ascending; the four rank masks, spades highest
    slots : int32, the hash table from keys to ids that `_board_id` searches
    """

    boards: NDArray[np.uint8]
    weights: NDArray[np.int64]
    stabilisers: NDArray[np.uint8]
    keys: NDArray[np.int64]
    slots: NDArray[np.int32]


@njit(cache=True)
def _canonical_masks(m0: int, m1: int, m2: int, m3: int) -> tuple[int, int, int, int]:
    """Masks in descending order by a five-exchange sorting network."""
    if m0 < m1:
        m0, m1 = m1, m0
    if m2 < m3:
        m2, m3 = m3, m2
    if m0 < m2:
        m0, m2 = m2, m0
    if m1 < m3:
        m1, m3 = m3, m1
    if m1 < m2:
        m1, m2 = m2, m1
    return m0, m1, m2, m3


@njit(cache=True)
def _canonicalise(cards: Any, n: int, permutation: Any) -> int:
    """Key of the canonical board of ``cards[:n]``; fills the renaming of suits that leads there.

    ``permutation[s]`` is the canonical suit of real suit s. Suits with equal masks keep their order, so a
    canonical board is renamed by the identity.
    """
    # One 16-bit lane per suit: the rank mask above the suit's own number, which settles ties.
    lanes = 0x0003000200010000
    for position in range(n):
        card: Any = np.int64(cards[position])
        lanes |= 4 << ((card & 3) * 16 + (card >> 2))
    m0, m1, m2, m3 = _canonical_masks(
        lanes & 0xFFFF, lanes >> 16 & 0xFFFF, lanes >> 32 & 0xFFFF, lanes >> 48 & 0xFFFF
    )
    permutation[m0 & 3] = 3
    permutation[m1 & 3] = 2
    permutation[m2 & 3] = 1
    permutation[m3 & 3] = 0
    return (m0 >> 2) << 39 | (m1 >> 2) << 26 | (m2 >> 2) << 13 | m3 >> 2


@njit(cache=True)
def _board_slot(key: int, size: int) -> int:
    """First slot to try in a table of a power-of-two size: Fibonacci hashing, from the high bits."""
    return (key * -7046029254386353131 >> 40) & (size - 1)


@njit(cache=True)
def _board_id(key: int, keys: Any, slots: Any) -> int:
    """Canonical id of a canonical key by open addressing, -1 if there is no such board."""
    slot = _board_slot(key, slots.shape[0])
    while slots[slot] >= 0:
        if keys[slots[slot]] == key:
            return slots[slot]
        slot = (slot + 1) & (slots.shape[0] - 1)
    return -1


@njit(cache=True)
def _fill_slots(keys: Any, slots: Any) -> None:
    for index in range(keys.shape[0]):
        slot = _board_slot(keys[index], slots.shape[0])
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.shape[0] - 1)
        slots[slot] = index


@njit(cache=True)
def _canonical_keys(n: int, masks: Any, starts: Any, keys: Any) -> int:
    """Keys of all descending mask quadruples with n bits. ``masks[starts[k]:starts[k+1]]`` have k bits."""
    count = 0
    for n0 in range(1, n + 1):
        for i0 in range(starts[n0], starts[n0 + 1]):
            m0 = masks[i0]
            for n1 in range(n - n0 + 1):
                for i1 in range(starts[n1], starts[n1 + 1]):
                    m1 = masks[i1]
                    if m1 > m0:
                        break
                    for n2 in range(n - n0 - n1 + 1):
                        n3 = n - n0 - n1 - n2
                        for i2 in range(starts[n2], starts[n2 + 1]):
                            m2 = masks[i2]
                            if m2 > m1:
                                break
                            for i3 in range(starts[n3], starts[n3 + 1]):
                                if masks[i3] > m2:
                                    break
                                if count < keys.shape[0]:
                                    keys[count] = m0 << 39 | m1 << 26 | m2 << 13 | masks[i3]
                                count += 1
    return count


def _check_size(num_cards: int) -> None:
    if num_cards not in (3, 4, 5):
        raise ValueError(f"boards of {num_cards} cards: expected 3 (flop), 4 (turn) or 5 (river)")


@cache
def canonical_boards(num_cards: int) -> CanonicalBoards:
    """Canonical flops (3), turns (4) or rivers (5) with their weights.

    >>> flops = canonical_boards(3)
    >>> len(flops.boards), int(flops.weights.sum())
    (1755, 22100)
    """
    _check_size(num_cards)
    by_bits = [[m for m in range(8192) if m.bit_count() == bits] for bits in range(num_cards + 1)]
    masks = np.array([m for group in by_bits for m in group], dtype=np.int64)
    starts = np.cumsum([0] + [len(group) for group in by_bits])
    keys = np.empty(comb(52, num_cards) // 6, dtype=np.int64)
    keys = np.sort(keys[: _canonical_keys(num_cards, masks, starts, keys)])

    suit_masks = keys[:, None] >> np.array([0, 13, 26, 39]) & 8191
    bits = suit_masks[:, None, :] >> np.arange(13)[None, :, None] & 1
    boards = np.nonzero(bits.reshape(keys.size, NUM_CARDS))[1].reshape(keys.size, num_cards)
    equal = suit_masks[:, :-1] == suit_masks[:, 1:]
    stabilisers = equal @ np.array([1, 2, 4])
    # Orders of the eight stabilisers: products of factorials of the block sizes.
    weights = 24 // np.array([1, 2, 2, 6, 2, 4, 6, 24])[stabilisers]
    slots = np.full(1 << int(2 * keys.size - 1).bit_length(), -1, dtype=np.int32)
    _fill_slots(keys, slots)
    arrays = (boards.astype(np.uint8), weights.astype(np.int64), stabilisers.astype(np.uint8), keys, slots)
    for array in arrays:
        array.setflags(write=False)
    return CanonicalBoards(*arrays)


@njit(cache=True, nogil=True)
def _index_boards(boards: Any, keys: Any, slots: Any, ids: Any, permutations_out: Any) -> None:
    for row in range(boards.shape[0]):
        key = _canonicalise(boards[row], boards.shape[1], permutations_out[row])
        ids[row] = _board_id(key, keys, slots)


def board_index(boards: NDArray) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Canonical id of each real board, and the renaming of suits that turns it into the canonical board.

    Parameters
    ----------
    boards : [m, n] cards in any order, n = 3, 4 or 5

    Returns
    -------
    ids : int32 [m]
    suit_permutations : uint8 [m, 4], the canonical suit of each real suit

    >>> ids, renaming = board_index(np.array([[0, 5, 51]]))
    >>> bool((np.sort(permute_cards([0, 5, 51], renaming[0])) == canonical_boards(3).boards[ids[0]]).all())
    True
    """
    real = np.asarray(boards)
    if real.ndim != 2:
        raise ValueError(f"boards of shape {real.shape}: expected one board per row")
    _check_size(real.shape[1])
    if real.size and (real.min() < 0 or real.max() >= NUM_CARDS):
        raise ValueError("boards hold a number that is no card: cards are numbers from 0 to 51")
    real = np.ascontiguousarray(real, dtype=np.uint8)
    canon = canonical_boards(real.shape[1])
    ids = np.empty(real.shape[0], dtype=np.int32)
    renamings = np.empty((real.shape[0], 4), dtype=np.uint8)
    _index_boards(real, canon.keys, canon.slots, ids, renamings)
    if ids.size and ids.min() < 0:
        row = int(np.argmin(ids))
        raise ValueError(f"board {format_cards(real[row])} in row {row} holds a card twice")
    return ids, renamings


@njit(cache=True)
def _number_classes(board: Any, orbit_combo: Any, numbers: Any) -> int:
    """Class number of every combo on a canonical board, -1 if blocked; returns the number of classes.

    `orbit_combo` is the row of `ORBIT_COMBO` of the board's stabiliser.
    """
    dead: Any = 0
    for position in range(board.shape[0]):
        dead |= 1 << np.int64(board[position])
    count = 0
    combo = 0
    for low in range(52):
        low_dead = dead >> low & 1
        for high in range(low + 1, 52):
            if low_dead or dead >> high & 1:
                numbers[combo] = -1
            elif orbit_combo[combo] == combo:
                numbers[combo] = count
                count += 1
            else:
                numbers[combo] = numbers[orbit_combo[combo]]
            combo += 1
    return count


@njit(cache=True)
def _live_orbits_below(board: Any, bound: int, orbit_combo: Any, below: Any, card_below: Any) -> int:
    """Number of orbits with a lowest combo under `bound` that an ascending canonical board leaves alive.

    Inclusion and exclusion over the board's cards, of which a combo holds at most two. The tables are the
    rows of the board's stabiliser. For the lowest combo of a live orbit this is its class number.
    """
    count: Any = np.int64(below[bound])
    for i in range(board.shape[0]):
        high = np.int64(board[i])
        count -= card_below[high, bound]
        for j in range(i):
            blocked = _combo_index(np.int64(board[j]), high)
            if blocked < bound and orbit_combo[blocked] == blocked:
                count += 1
    return count


@njit(cache=True, nogil=True)
def _count_classes(
    boards: Any, stabilisers: Any, orbit_combo: Any, below: Any, card_below: Any, counts: Any
) -> None:
    for row in range(boards.shape[0]):
        kind = stabilisers[row]
        counts[row] = _live_orbits_below(boards[row], 1326, orbit_combo[kind], below[kind], card_below[kind])


@cache
def hand_class_offsets(num_cards: int) -> NDArray[np.int64]:
    """First class id of each canonical board, int64 [B + 1]; the last entry is the number of classes.

    >>> int(hand_class_offsets(3)[-1])
    1286792
    """
    canon = canonical_boards(num_cards)
    counts = np.empty(len(canon.boards), dtype=np.int64)
    _count_classes(canon.boards, canon.stabilisers, ORBIT_COMBO, _ORBITS_BELOW, _CARD_ORBITS_BELOW, counts)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    offsets.setflags(write=False)
    return offsets


def hand_classes(board_id: int, num_cards: int) -> NDArray[np.int16]:
    """Class number within a canonical board of every combo, int16 [1326]; -1 for blocked combos.

    The global class id is this number plus ``hand_class_offsets(num_cards)[board_id]``.
    """
    canon = canonical_boards(num_cards)
    _check_id("board", board_id, len(canon.boards))
    numbers = np.empty(NUM_COMBOS, dtype=np.int16)
    _number_classes(canon.boards[board_id], ORBIT_COMBO[canon.stabilisers[board_id]], numbers)
    return numbers


def _check_id(what: str, number: int, stop: int) -> None:
    if not 0 <= number < stop:
        raise ValueError(f"{what} {number}: expected a number from 0 to {stop - 1}")


@njit(cache=True, nogil=True)
def _index_classes(
    combos: Any,
    combo_cards: Any,
    ids: Any,
    renamings: Any,
    boards: Any,
    stabilisers: Any,
    offsets: Any,
    orbit_combo: Any,
    below: Any,
    card_below: Any,
    classes: Any,
) -> None:
    """Class id of real combos whose boards have been indexed; -1 where the board blocks the combo."""
    for row in range(combos.shape[0]):
        first, second = combo_cards[combos[row], 0], combo_cards[combos[row], 1]
        a = np.int64(first & 252 | renamings[row, first & 3])
        b = np.int64(second & 252 | renamings[row, second & 3])
        board = boards[ids[row]]
        blocked = False
        for position in range(board.shape[0]):
            blocked |= board[position] == a or board[position] == b
        if blocked:
            classes[row] = -1
            continue
        kind = stabilisers[ids[row]]
        lowest = orbit_combo[kind, _combo_index(min(a, b), max(a, b))]
        number = _live_orbits_below(board, lowest, orbit_combo[kind], below[kind], card_below[kind])
        classes[row] = offsets[ids[row]] + number


def hand_class_index(combos: NDArray, boards: NDArray) -> NDArray[np.int64]:
    """Class id of each real combo on its real board, int64 [m].

    Parameters
    ----------
    combos : [m] combo indices
    boards : [m, n] cards in any order, or one board [n] for all combos
    """
    hands = np.atleast_1d(np.asarray(combos))
    real = np.asarray(boards)
    if hands.size and (hands.min() < 0 or hands.max() >= NUM_COMBOS):
        raise ValueError("combos hold a number that is no combo: expected numbers from 0 to 1325")
    if real.ndim == 1:
        ids, renamings = board_index(real[None, :])
        ids, renamings = np.repeat(ids, hands.size), np.repeat(renamings, hands.size, axis=0)
    else:
        if len(real) != hands.size:
            raise ValueError(f"{hands.size} combos for {len(real)} boards: expected one board per combo")
        ids, renamings = board_index(real)
    num_cards = real.shape[-1]
    canon = canonical_boards(num_cards)
    classes = np.empty(hands.size, dtype=np.int64)
    _index_classes(
        hands.astype(np.int16),
        COMBO_CARDS,
        ids,
        renamings,
        canon.boards,
        canon.stabilisers,
        hand_class_offsets(num_cards),
        ORBIT_COMBO,
        _ORBITS_BELOW,
        _CARD_ORBITS_BELOW,
        classes,
    )
    if classes.size and classes.min() < 0:
        row = int(np.argmin(classes))
        board = real if real.ndim == 1 else real[row]
        raise ValueError(
            f"hand {format_combo(int(hands[row]))} shares a card with board {format_cards(board)}"
        )
    return classes
