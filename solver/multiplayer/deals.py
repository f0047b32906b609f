"""Deals of a subgame: hands of the others by their ranges, run-outs, and the own hands that nobody blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.cards import COMBO_CARDS
from abstractions.evaluator import _sorted_board
from solver.multiway.deals import _deal_key, _draw_cards, _mix

_COMBO_LOW, _COMBO_HIGH = (np.ascontiguousarray(COMBO_CARDS[:, k], dtype=np.int64) for k in range(2))
#: Times that hands are drawn anew because two of them share a card, before a deal is given up.
MAX_TRIES = 20_000
_STEP = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def _draw_deals(seed: Any, first: Any, seat: Any, weights: Any, known: Any, hand: Any, boards: Any) -> Any:
    """Draw a hand for every seat but one, by the sums ``weights[s]`` of its range, and the rest of the board.

    Hands are drawn for all seats together until no two share a card, so a deal is as likely as its weight says.
    Returns the number of deals for which that did not succeed.
    """
    seats = hand.shape[1]
    public = np.int64(0)
    for k in range(known):
        public |= np.int64(1) << np.int64(boards[0, k])
    cards = np.empty(5, np.int64)
    failed = 0
    for d in range(hand.shape[0]):
        state = _mix(_deal_key(seed, first + d) + np.uint64(seat + 1) * _STEP)
        mask = public
        is_dealt = False
        for _ in range(MAX_TRIES):
            mask = public
            is_dealt = True
            for s in range(seats):
                hand[d, s] = -1
                if s == seat:
                    continue
                state += _STEP
                chance = np.float64(_mix(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                combo = np.searchsorted(weights[s], chance * weights[s, -1], side="right")
                bits = (np.int64(1) << _COMBO_LOW[combo]) | (np.int64(1) << _COMBO_HIGH[combo])
                if mask & bits:
                    is_dealt = False
                    break
                mask |= bits
                hand[d, s] = combo
            if is_dealt:
                break
        failed += not is_dealt
        _draw_cards(_mix(state), known, 5, mask, np.int64(52), cards)
        for k in range(known, 5):
            boards[d, k] = cards[k]
    return failed


@njit(cache=True)
def _find_hands(seat: Any, d: Any, deals: Any, held: Any, hands: Any) -> None:
    """Sort the own hands that nobody blocks, compare them with those dealt, and look up their columns."""
    _sorted_board(deals.board[d], hands.strengths, hands.order)
    seats = deals.hand.shape[1]
    blocked = np.int64(0)
    for s in range(seats):
        if s != seat:
            combo = deals.hand[d, s]
            blocked |= (np.int64(1) << _COMBO_LOW[combo]) | (np.int64(1) << _COMBO_HIGH[combo])
            hands.seat_strength[s] = hands.strengths[combo]
    count = 0
    for k in range(1081):
        combo = np.int64(hands.order[k])
        if not held[combo] or (blocked >> _COMBO_LOW[combo]) & 1 or (blocked >> _COMBO_HIGH[combo]) & 1:
            continue
        hands.combo[count] = combo
        hands.strength[count] = hands.strengths[combo]
        count += 1
    hands.number[0] = count
    for s in range(seats):
        if s != seat:
            strength = hands.seat_strength[s]
            hands.lower[s] = np.searchsorted(hands.strength[:count], strength)
            hands.upper[s] = np.searchsorted(hands.strength[:count], strength, side="right")
    for street in range(deals.column.shape[1]):
        for m in range(count):
            hands.column[street, m] = deals.column[d, street, hands.combo[m]]
