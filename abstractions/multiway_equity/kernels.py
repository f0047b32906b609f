"""Count who wins on full boards: by listed deals, or by sweeps that need no list.

A count belongs to a set of winners, written as a mask: bit i stands for player i. Counts are floats, because ranges
have weights. With weights of 0 and 1 they are whole numbers, and exact below 2^53.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.evaluator import _CARD_WORD, _board_strengths, _sort_hands, _word_strength

# From so many combos on, ranking all 1,326 at once is quicker than ranking them one by one.
MANY_COMBOS = 200


@njit(cache=True, nogil=True)
def _rank_combos(board: Any, combos: Any, masks: Any, words: Any, every: Any, strengths: Any) -> None:
    """Strengths of `combos` on a board, -1 for those that it blocks. `every` is work space, int16 [1326]."""
    if combos.shape[0] >= MANY_COMBOS:
        _board_strengths(board, every)
        for i in range(combos.shape[0]):
            strengths[i] = every[combos[i]]
        return
    word = 0
    cards = 0
    for position in range(5):
        card: Any = np.int64(board[position])
        word += _CARD_WORD[card]
        cards |= 1 << card
    for i in range(combos.shape[0]):
        strengths[i] = -1 if masks[i] & cards else _word_strength(word + words[i])


@njit(cache=True, nogil=True)
def _count_listed(
    boards: Any,
    board_weights: Any,
    combos: Any,
    masks: Any,
    words: Any,
    hands: Any,
    products: Any,
    counts: Any,
) -> None:
    """Count the winners of listed hands; ``hands[t, i]`` is the position in `combos` of player i's hand."""
    strengths = np.empty(combos.shape[0], np.int16)
    every = np.empty(1326, np.int16)
    for row in range(boards.shape[0]):
        _rank_combos(boards[row], combos, masks, words, every, strengths)
        for deal in range(hands.shape[0]):
            best = -1
            winners = 0
            for player in range(hands.shape[1]):
                strength = strengths[hands[deal, player]]
                if strength < 0:
                    winners = 0
                    break
                if strength > best:
                    best = strength
                    winners = 0
                if strength == best:
                    winners |= 1 << player
            counts[winners] += board_weights[row] * products[deal]


@njit(cache=True, nogil=True)
def _sweep_two(
    boards: Any,
    board_weights: Any,
    combos: Any,
    masks: Any,
    words: Any,
    cards: Any,
    weights: Any,
    counts: Any,
) -> None:
    """Count the winners of two ranges; ``weights[i, u]`` is player i's weight of combo u.

    The hands of a board are passed from weakest to strongest. `passed` holds the weight of a player's weaker hands,
    in all and by card, so that card removal is two subtractions and the own hand added back.
    """
    strengths, every = np.empty(combos.shape[0], np.int16), np.empty(1326, np.int16)
    order, scratch = np.empty(combos.shape[0], np.int16), np.empty(combos.shape[0], np.int16)
    own = np.arange(combos.shape[0]).astype(np.int16)
    passed = np.empty(2)
    by_card = np.empty((2, 52))
    for row in range(boards.shape[0]):
        _rank_combos(boards[row], combos, masks, words, every, strengths)
        count = _sort_hands(strengths, own, order, scratch)
        passed[:] = 0.0
        by_card[:] = 0.0
        start = 0
        while start < count:
            stop = start
            first = second = either = 0.0
            while stop < count and strengths[order[stop]] == strengths[order[start]]:
                hand = order[stop]
                low, high = cards[hand, 0], cards[hand, 1]
                first += weights[0, hand] * (passed[1] - by_card[1, low] - by_card[1, high])
                second += weights[1, hand] * (passed[0] - by_card[0, low] - by_card[0, high])
                stop += 1
            for i in range(start, stop):
                hand = order[i]
                for player in range(2):
                    passed[player] += weights[player, hand]
                    by_card[player, cards[hand, 0]] += weights[player, hand]
                    by_card[player, cards[hand, 1]] += weights[player, hand]
            for i in range(start, stop):
                hand = order[i]
                low, high = cards[hand, 0], cards[hand, 1]
                either += weights[0, hand] * (
                    passed[1] - by_card[1, low] - by_card[1, high] + weights[1, hand]
                )
            counts[1] += board_weights[row] * first
            counts[2] += board_weights[row] * second
            counts[3] += board_weights[row] * (either - first)
            start = stop


# Sums may be taken in any order: with weights of 0 and 1 every partial sum is a whole number.
@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz", "contract"})
def _pairs_passed(
    low: int, high: int, a: int, b: int, passed: Any, by_card: Any, by_pair: Any, same: Any
) -> float:
    """Weight of the disjoint pairs of passed hands of players a and b that hold neither of two cards.

    All pairs, less those that share a card, counted card by card. A pair of equal hands shares two cards and is taken
    off twice, so it is added back: ``same[a + b]`` sums the products of both players' weights by card, and over all
    combos in entry 52.
    """
    mine = by_pair[a, low, high]
    theirs = by_pair[b, low, high]
    equal = mine * theirs
    shared = 0.0
    for card in range(52):
        shared += (by_card[a, card] - by_pair[a, low, card] - by_pair[a, high, card]) * (
            by_card[b, card] - by_pair[b, low, card] - by_pair[b, high, card]
        )
    # by_pair[x, x] is by_card[x], so that the two cards themselves gave `equal` each. They do not belong to the sum.
    shared -= 2.0 * equal
    mine += passed[a] - by_card[a, low] - by_card[a, high]
    theirs += passed[b] - by_card[b, low] - by_card[b, high]
    products = same[a + b]
    return mine * theirs - shared + products[52] - products[low] - products[high] + equal


@njit(cache=True, nogil=True)
def _pass_hands(
    player: int, hands: Any, cards: Any, weights: Any, passed: Any, by_card: Any, by_pair: Any, same: Any
) -> None:
    """Count hands as passed for a player. Of one strength, players 0, 1 and 2 pass theirs in this order."""
    for i in range(hands.shape[0]):
        hand = hands[i]
        weight = weights[player, hand]
        if weight == 0.0:
            continue
        low, high = cards[hand, 0], cards[hand, 1]
        passed[player] += weight
        by_card[player, low] += weight
        by_card[player, high] += weight
        by_pair[player, low, high] += weight
        by_pair[player, high, low] += weight
        by_pair[player, low, low] += weight
        by_pair[player, high, high] += weight
        for other in range(player):
            product = weight * weights[other, hand]
            same[player + other, 52] += product
            same[player + other, low] += product
            same[player + other, high] += product


@njit(cache=True, nogil=True)
def _best_of_three(
    player: int, hands: Any, cards: Any, weights: Any, passed: Any, by_card: Any, by_pair: Any, same: Any
) -> float:
    """Weight of the deals in which a player has one of `hands` and both others have hands that were passed."""
    a, b = (player + 1) % 3, (player + 2) % 3
    total = 0.0
    if passed[a] == 0.0 or passed[b] == 0.0:
        return total
    for i in range(hands.shape[0]):
        weight = weights[player, hands[i]]
        if weight > 0.0:
            low, high = cards[hands[i], 0], cards[hands[i], 1]
            total += weight * _pairs_passed(low, high, a, b, passed, by_card, by_pair, same)
    return total


@njit(cache=True, nogil=True)
def _sweep_three(
    boards: Any,
    board_weights: Any,
    combos: Any,
    masks: Any,
    words: Any,
    cards: Any,
    weights: Any,
    counts: Any,
) -> None:
    """Count the winners of three ranges; ``weights[i, u]`` is player i's weight of combo u.

    As in `_sweep_two`, hands are passed from weakest to strongest. Seven counts for each strength, taken before,
    between and after the players pass their hands of this strength, give the seven sets of winners.
    """
    strengths, every = np.empty(combos.shape[0], np.int16), np.empty(1326, np.int16)
    order, scratch = np.empty(combos.shape[0], np.int16), np.empty(combos.shape[0], np.int16)
    own = np.arange(combos.shape[0]).astype(np.int16)
    passed, by_card, by_pair = np.empty(3), np.empty((3, 52)), np.empty((3, 52, 52))
    same = np.empty((4, 53))  # by sum of the two players' numbers: 1, 2 or 3
    for row in range(boards.shape[0]):
        _rank_combos(boards[row], combos, masks, words, every, strengths)
        count = _sort_hands(strengths, own, order, scratch)
        passed[:] = 0.0
        by_card[:] = 0.0
        by_pair[:] = 0.0
        same[:] = 0.0
        start = 0
        while start < count:
            stop = start
            while stop < count and strengths[order[stop]] == strengths[order[start]]:
                stop += 1
            hands = order[start:stop]
            state = (cards, weights, passed, by_card, by_pair, same)
            alone0 = _best_of_three(0, hands, *state)
            alone1 = _best_of_three(1, hands, *state)
            alone2 = _best_of_three(2, hands, *state)
            _pass_hands(0, hands, *state)
            tie01 = _best_of_three(1, hands, *state) - alone1
            tie02 = _best_of_three(2, hands, *state) - alone2
            _pass_hands(1, hands, *state)
            best2 = _best_of_three(2, hands, *state)
            _pass_hands(2, hands, *state)
            tie012 = _best_of_three(0, hands, *state) - alone0 - tie01 - tie02
            weight = board_weights[row]
            counts[1] += weight * alone0
            counts[2] += weight * alone1
            counts[3] += weight * tie01
            counts[4] += weight * alone2
            counts[5] += weight * tie02
            counts[6] += weight * (best2 - alone2 - tie02 - tie012)
            counts[7] += weight * tie012
            start = stop
