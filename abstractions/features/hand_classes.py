"""Hand-board classes in ranges of canonical boards: their sizes, weights and numbers.

Whatever is computed for every hand is computed once per class. Functions take a range ``start..stop`` of canonical
board ids and return rows in class order, ``hand_class_offsets(n)[start]`` up to ``[stop]``, so that any split of the
boards into ranges gives the same rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from abstractions.isomorphism import (
    ORBIT_COMBO,
    ORBIT_SIZE,
    _number_classes,
    canonical_boards,
    hand_class_offsets,
)


def check_board_range(num_cards: int, start: int, stop: int) -> None:
    """Refuse ids that no canonical board has."""
    boards = len(canonical_boards(num_cards).boards)
    if not 0 <= start <= stop <= boards:
        raise ValueError(f"boards {start}..{stop}: expected a range within 0..{boards}")


@njit(cache=True, nogil=True)
def _class_sizes(boards: Any, stabilisers: Any, orbits: Any, combo_cards: Any, sizes: Any) -> None:
    """Number of combos in each class: an orbit under a board's stabiliser is alive or dead as a whole."""
    count = 0
    for row in range(boards.shape[0]):
        dead: Any = 0
        for position in range(boards.shape[1]):
            dead |= 1 << np.int64(boards[row, position])
        lowest, orbit_size = orbits[0][stabilisers[row]], orbits[1][stabilisers[row]]
        for combo in range(1326):
            blocked = (dead >> np.int64(combo_cards[combo, 0]) | dead >> np.int64(combo_cards[combo, 1])) & 1
            if lowest[combo] == combo and not blocked:
                sizes[count] = orbit_size[combo]
                count += 1


def class_sizes(num_cards: int, start: int, stop: int) -> NDArray[np.int64]:
    """Number of combos in each class of a range of boards."""
    check_board_range(num_cards, start, stop)
    canon = canonical_boards(num_cards)
    offsets = hand_class_offsets(num_cards)
    sizes = np.empty(int(offsets[stop] - offsets[start]), dtype=np.int64)
    _class_sizes(
        canon.boards[start:stop], canon.stabilisers[start:stop], (ORBIT_COMBO, ORBIT_SIZE), COMBO_CARDS, sizes
    )
    return sizes


def class_weights(num_cards: int, start: int, stop: int) -> NDArray[np.int64]:
    """Number of real (hand, board) pairs in each class of a range of boards."""
    classes = np.diff(hand_class_offsets(num_cards)[start : stop + 1])
    return class_sizes(num_cards, start, stop) * np.repeat(
        canonical_boards(num_cards).weights[start:stop], classes
    )


@njit(cache=True, nogil=True)
def _class_numbers(boards: Any, stabilisers: Any, orbit_combo: Any, numbers: Any) -> None:
    for row in range(boards.shape[0]):
        _number_classes(boards[row], orbit_combo[stabilisers[row]], numbers[row])


def class_numbers(num_cards: int, start: int, stop: int) -> NDArray[np.int16]:
    """Class number of every combo within its board, int16 [stop - start, 1326]; -1 if blocked."""
    check_board_range(num_cards, start, stop)
    canon = canonical_boards(num_cards)
    numbers = np.empty((stop - start, NUM_COMBOS), dtype=np.int16)
    _class_numbers(canon.boards[start:stop], canon.stabilisers[start:stop], ORBIT_COMBO, numbers)
    return numbers


def expand_classes(num_cards: int, start: int, stop: int, values: NDArray, blocked: Any) -> NDArray:
    """Table [stop - start, 1326] of one value per class in class order, `blocked` for blocked combos."""
    numbers = class_numbers(num_cards, start, stop).astype(np.int64)
    offsets = hand_class_offsets(num_cards)[start : stop + 1]
    if len(values) != offsets[-1] - offsets[0]:
        raise ValueError(
            f"{len(values)} values for boards {start}..{stop} of {offsets[-1] - offsets[0]} classes"
        )
    live = numbers >= 0
    numbers += (offsets[:-1] - offsets[0])[:, None]
    table = np.full(numbers.shape, blocked, dtype=values.dtype)
    table[live] = values[numbers[live]]
    return table
