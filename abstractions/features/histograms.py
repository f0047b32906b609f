"""Distributions of the river equity of every hand: what ``emd`` compares before the river."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES, NUM_COMBOS
from abstractions.features.hand_classes import check_board_range
from abstractions.features.rivers import _PERMUTATIONS, BLOCKED, RIVER_SCALE, _all_rivers, _renaming_number
from abstractions.isomorphism import (
    _PERMUTATION_NUMBER,
    ORBIT_COMBO,
    _board_id,
    _canonicalise,
    _number_classes,
    canonical_boards,
    hand_class_offsets,
)


@njit(cache=True, nogil=True)
def _histograms(
    boards: Any,
    stabilisers: Any,
    bin_of_entry: Any,
    river_counts: Any,
    river_keys: Any,
    river_slots: Any,
    orbit_combo: Any,
    suits: Any,
    histograms: Any,
    sums: Any,
) -> None:
    """Number of runouts by bin of river equity, and summed table entries, of each class.

    Runouts that block the hand are counted too: they have a bin of their own.
    """
    n = boards.shape[1]
    permutations, permutation_number = suits
    lowest = np.empty(1326, np.uint16)
    numbers = np.empty(1326, np.int16)
    full = np.empty(5, np.uint8)
    renaming = np.empty(4, np.uint8)
    offset = 0
    for row in range(boards.shape[0]):
        classes = _number_classes(boards[row], orbit_combo[stabilisers[row]], numbers)
        count = 0
        for combo in range(1326):
            # Classes are numbered by their lowest combos, so a new number is always the next one.
            if numbers[combo] == count:
                lowest[count] = combo
                count += 1
        full[:n] = boards[row]
        dead: Any = 0
        for position in range(n):
            dead |= 1 << np.int64(boards[row, position])
        board_histograms, board_sums = histograms[offset : offset + classes], sums[offset : offset + classes]
        for first in range(52):
            if dead >> first & 1:
                continue
            for second in range(first + 1 if n == 3 else 51, 52):
                if n == 3 and dead >> second & 1:
                    continue
                full[n] = first
                if n == 3:
                    full[4] = second
                key = _canonicalise(full, 5, renaming)
                table = river_counts[_board_id(key, river_keys, river_slots)]
                image = permutations[_renaming_number(renaming, permutation_number)]
                for number in range(classes):
                    entry = table[image[lowest[number]]]
                    board_histograms[number, bin_of_entry[entry]] += 1
                    board_sums[number] += entry
        offset += classes


def equity_bins(bins: int) -> NDArray[np.uint8]:
    """Histogram bin of each river count 0..1980: equal widths, an equity of one in the last bin."""
    if not 2 <= bins <= 255:
        raise ValueError(f"{bins} histogram bins: expected 2 to 255")
    return np.minimum(np.arange(RIVER_SCALE + 1) * bins // RIVER_SCALE, bins - 1).astype(np.uint8)


def equity_histograms(
    num_cards: int, start: int, stop: int, river_counts: NDArray[np.uint16], bins: int = 32
) -> tuple[NDArray[np.uint16], NDArray[np.float64]]:
    """Distribution of the river equity of each flop or turn class over its runouts, and its mean.

    Parameters
    ----------
    river_counts : `river_equity_counts` of all canonical rivers, uint16 [134459, 1326]

    Returns
    -------
    histograms : uint16 [classes, bins], rows sum to 1,081 runouts on the flop and 46 on the turn
    equities : float64 [classes], exact means of the river equities
    """
    check_board_range(num_cards, start, stop)
    if num_cards == 5:
        raise ValueError("boards of 5 cards: the river has an equity and no distribution of it")
    rivers = canonical_boards(5)
    if river_counts.shape != (len(rivers.boards), NUM_COMBOS):
        raise ValueError(
            f"river_counts of shape {river_counts.shape}: expected those of all canonical rivers"
        )
    canon = canonical_boards(num_cards)
    offsets = hand_class_offsets(num_cards)
    classes = int(offsets[stop] - offsets[start])
    histograms = np.zeros((classes, bins + 1), dtype=np.uint16)
    sums = np.zeros(classes, dtype=np.int64)
    bin_of_entry = np.full(BLOCKED + 1, bins, dtype=np.uint8)
    bin_of_entry[: RIVER_SCALE + 1] = equity_bins(bins)
    _histograms(
        canon.boards[start:stop],
        canon.stabilisers[start:stop],
        bin_of_entry,
        _all_rivers("river_counts", river_counts, NUM_COMBOS),
        rivers.keys,
        rivers.slots,
        ORBIT_COMBO,
        (_PERMUTATIONS, _PERMUTATION_NUMBER),
        histograms,
        sums,
    )
    live, blocked = (1081, 95) if num_cards == 3 else (46, 2)
    return histograms[:, :bins].copy(), (sums - blocked * BLOCKED) / (RIVER_SCALE * live)


@njit(cache=True, nogil=True)
def _class_histograms(
    counts: Any, weights: Any, bin_of_count: Any, class_of_combo: Any, histograms: Any
) -> None:
    for row in range(counts.shape[0]):
        for combo in range(1326):
            value = counts[row, combo]
            if value != 65535:
                histograms[class_of_combo[combo], bin_of_count[value]] += weights[row]


def preflop_histograms(
    start: int, stop: int, river_counts: NDArray[np.uint16], bins: int = 50
) -> NDArray[np.int64]:
    """Real rivers and combos of each hand class by bin of river equity, int64 [169, bins].

    The tables of all ranges of canonical rivers add up to the exact distribution before the flop.
    """
    check_board_range(5, start, stop)
    counts = _all_rivers("river_counts", river_counts, NUM_COMBOS)[start:stop]
    histograms = np.zeros((NUM_CLASSES, bins), dtype=np.int64)
    weights = canonical_boards(5).weights[start:stop]
    _class_histograms(counts, weights, equity_bins(bins), CLASS_OF_COMBO, histograms)
    return histograms
