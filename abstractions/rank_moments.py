"""How high the hands of a class rank on a board, street by street: sums of powers of the rank.

The rank of a hand on flop, turn or river is the share of the live hands that it beats with the cards dealt so far,
ties counted as half. Sums over the hands of a class say what a board does for it, and their means over all
boards are known exactly, so that they serve as control variates of whatever is measured on a sample of boards.
"""

from __future__ import annotations

from functools import cache
from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES, check_board
from abstractions.evaluator import _CARD_WORD, _board_strengths, _word_strength
from abstractions.isomorphism import canonical_boards

#: Powers of the rank that are summed.
POWERS = (0, 1, 2, 4, 8)
#: Rows of `POWERS` that count, by number of public cards. Every hand of a class has the power 0 on all streets.
_KEPT = {3: [2, 3], 4: [2, 3], 5: [0, 1, 2, 3, 4]}
#: Rows of moments of all streets.
NUM_MOMENTS = sum(map(len, _KEPT.values()))
# One more than the largest strength of a hand.
_STRENGTHS = 8192


@njit(cache=True, nogil=True)
def _street_strengths(board: Any, num_cards: int, strengths: Any) -> None:
    """Strength of all combos on the first 3, 4 or 5 cards of a board, -1 for those that they block."""
    if num_cards == 5:
        _board_strengths(board, strengths)
        return
    word = 0
    dead = 0
    for position in range(num_cards):
        card: Any = np.int64(board[position])
        word += _CARD_WORD[card]
        dead |= 1 << card
    for combo in range(1326):
        first, second = np.int64(COMBO_CARDS[combo, 0]), np.int64(COMBO_CARDS[combo, 1])
        if (dead >> first | dead >> second) & 1:
            strengths[combo] = -1
        else:
            strengths[combo] = _word_strength(word + _CARD_WORD[first] + _CARD_WORD[second])


@njit(cache=True, nogil=True)
def _add_powers(strengths: Any, counted: Any, weight: float, out: Any) -> None:
    """Add to ``out[power, class]`` what the hands give whose entry in `counted` is not negative."""
    # First the hands of each strength, then those of any lower one.
    equal = np.zeros(_STRENGTHS, np.int64)
    live = 0
    for combo in range(1326):
        if strengths[combo] >= 0:
            equal[strengths[combo]] += 1
            live += 1
    below = np.empty(_STRENGTHS, np.int64)
    passed = 0
    for strength in range(_STRENGTHS):
        below[strength] = passed
        passed += equal[strength]
    for combo in range(1326):
        if counted[combo] < 0:
            continue
        strength = strengths[combo]
        rank = (below[strength] + 0.5 * equal[strength]) / live
        square = rank * rank
        fourth = square * square
        hand = CLASS_OF_COMBO[combo]
        out[0, hand] += weight
        out[1, hand] += weight * rank
        out[2, hand] += weight * square
        out[3, hand] += weight * fourth
        out[4, hand] += weight * fourth * fourth


@njit(cache=True, nogil=True)
def _add_boards(boards: Any, weights: Any, out: Any) -> None:
    strengths = np.empty(1326, np.int16)
    for row in range(boards.shape[0]):
        _street_strengths(boards[row], boards.shape[1], strengths)
        _add_powers(strengths, strengths, weights[row], out)


def rank_moments(board: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Sums over the live hands of each class on a full board, ``[moment, class]``.

    Squares and fourth powers of the rank on the flop, the same on the turn, and all `POWERS` on the river.
    """
    cards = check_board(board)
    if len(cards) != 5:
        raise ValueError(f"board of {len(cards)} cards: expected five")
    river, strengths = np.empty(1326, dtype=np.int16), np.empty(1326, dtype=np.int16)
    _street_strengths(cards, 5, river)
    parts = []
    for num_cards, kept in _KEPT.items():
        out = np.zeros((len(POWERS), NUM_CLASSES))
        _street_strengths(cards, num_cards, strengths)
        _add_powers(strengths, river, 1.0, out)
        parts.append(out[kept])
    return np.concatenate(parts)


@cache
def mean_rank_moments() -> NDArray[np.float64]:
    """The mean of `rank_moments` over all boards, exact."""
    parts = []
    for num_cards, kept in _KEPT.items():
        known = canonical_boards(num_cards)
        out = np.zeros((len(POWERS), NUM_CLASSES))
        _add_boards(known.boards, known.weights / known.weights.sum(), out)
        # A hand that is alive on flop or turn is counted only where the later cards leave it alive.
        later = 5 - num_cards
        parts.append(out[kept] * comb(50 - num_cards, later) / comb(52 - num_cards, later))
    moments = np.concatenate(parts)
    moments.setflags(write=False)
    return moments
