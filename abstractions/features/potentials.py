"""Equity and potential of every hand: the features ``ehs``.

Potential (Billings, Papp, Schaeffer and Szafron 1998), with s the score of the hand against one opponent hand
(1 ahead, 1/2 tied, 0 behind) now and after a runout to the river, summed over opponents and runouts:

    positive = sum max(s_later - s_now, 0) / sum (1 - s_now)
    negative = sum max(s_now - s_later, 0) / sum s_now

which are their counts HP[behind][ahead] + HP[behind][tied] / 2 + HP[tied][ahead] / 2 and so on. A hand that
is never behind has no positive potential, and on the river nothing has any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS
from abstractions.evaluator import _CARD_WORD, _word_strength
from abstractions.features.hand_classes import check_board_range
from abstractions.features.rivers import (
    _PERMUTATIONS,
    _RUNOUTS,
    LIVE_HANDS,
    _all_rivers,
    _card_runouts,
    _order_hands,
    _popcount,
    _read_order,
    _renaming_number,
    river_equities,
)
from abstractions.isomorphism import (
    _PERMUTATION_NUMBER,
    ORBIT_COMBO,
    ORBIT_SIZE,
    _board_id,
    _canonicalise,
    _number_classes,
    canonical_boards,
    hand_class_offsets,
)


@njit(cache=True, nogil=True)
def _now_strengths(board: Any, card_word: Any, combo_cards: Any, strengths: Any) -> None:
    """Strength of every combo with a board of three or four cards, -1 if blocked."""
    dead: Any = 0
    word = 0
    for position in range(board.shape[0]):
        dead |= 1 << np.int64(board[position])
        word += card_word[board[position]]
    for combo in range(1326):
        a, b = np.int64(combo_cards[combo, 0]), np.int64(combo_cards[combo, 1])
        if dead >> a & 1 or dead >> b & 1:
            strengths[combo] = -1
        else:
            strengths[combo] = _word_strength(word + card_word[a] + card_word[b])


@njit(cache=True)
def _low_bits(count: int) -> int:
    """Word with the lowest `count` < 64 bits set."""
    width: Any = np.int64(count)
    return (1 << width) - 1


@njit(cache=True, nogil=True)
def _potential_sums(
    board: Any,
    stabiliser: int,
    orders: Any,
    river_keys: Any,
    river_slots: Any,
    suits: Any,
    orbits: Any,
    card_word: Any,
    combo_cards: Any,
    sums: Any,
    now: Any,
) -> None:
    """Sums over runouts and opponents that give equity and potential of every combo on one board.

    Row 0 of `sums` is the sum of ``2 * s_later``, row 1 that of ``2 * max(s_later - s_now, 0)``; row 0 of
    `now` counts the opponents that are weaker at present, row 1 the equal ones. A runout stands for its
    orbit, so `sums` is right after averaging over each orbit of combos.

    ``2 * max(s_later - s_now, 0)`` counts the opponents not weaker now and weaker later, plus those stronger
    now and not stronger later. Hands enter a set in the order of their strength after the runout; the set is
    held as bits in the order of strength now, so that both counts are prefix populations of it. One such set
    per card, at most 48 hands and thus one word, takes off the opponents that share a card.
    """
    n = board.shape[0]
    permutations, permutation_number = suits
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.uint16)
    starts = np.empty(1327, np.uint16)
    below = np.zeros(1326, np.uint16)
    upto = np.zeros(1326, np.uint16)
    place = np.zeros(1326, np.uint16)
    # Both cards of each combo, and its place, first tie and end of ties among the hands that hold the card.
    card_a, card_b = combo_cards[:, 0].copy(), combo_cards[:, 1].copy()
    place_a, place_b = np.zeros(1326, np.uint8), np.zeros(1326, np.uint8)
    below_a, below_b = np.zeros(1326, np.uint8), np.zeros(1326, np.uint8)
    upto_a, upto_b = np.zeros(1326, np.uint8), np.zeros(1326, np.uint8)
    held = np.zeros(52, np.int64)

    _now_strengths(board, card_word, combo_cards, strengths)
    groups = _order_hands(strengths, order, starts)
    for group in range(groups):
        first, stop = np.int64(starts[group]), np.int64(starts[group + 1])
        for m in range(first, stop):
            h = order[m]
            below[h], upto[h], place[h] = first, stop, m
            below_a[h], below_b[h] = held[card_a[h]], held[card_b[h]]
        for m in range(first, stop):
            h = order[m]
            place_a[h], place_b[h] = held[card_a[h]], held[card_b[h]]
            held[card_a[h]] += 1
            held[card_b[h]] += 1
        for m in range(first, stop):
            h = order[m]
            upto_a[h], upto_b[h] = held[card_a[h]], held[card_b[h]]
            now[0, h] = first - np.int64(below_a[h]) - below_b[h]
            now[1, h] = stop - np.int64(upto_a[h]) - upto_b[h] + 1 - now[0, h]

    runouts = np.empty((1326, 3), np.int64)
    count = _card_runouts(board, stabiliser, orbits, runouts)
    full = np.empty(5, np.uint8)
    full[:n] = board
    renaming = np.empty(4, np.uint8)
    back = np.empty(4, np.uint8)
    words = np.empty(20, np.int64)
    before = np.empty(20, np.int64)
    card_words = np.empty(52, np.int64)
    later, gains = sums[0], sums[1]
    for r in range(count):
        full[n] = runouts[r, 0]
        if n == 3:
            full[4] = runouts[r, 1]
        weight = runouts[r, 2]
        row = orders[_board_id(_canonicalise(full, 5, renaming), river_keys, river_slots)]
        for suit in range(4):
            back[renaming[suit]] = suit
        groups = _read_order(row, permutations[_renaming_number(back, permutation_number)], order, starts)
        words[:] = 0
        before[:] = 0
        card_words[:] = 0
        held[:] = 0
        for group in range(groups):
            first, stop = np.int64(starts[group]), np.int64(starts[group + 1])
            for m in range(first, stop):
                h = order[m]
                a, b, low = card_a[h], card_b[h], below[h]
                weaker = first - held[a] - held[b]
                both = before[low >> 6] + _popcount(words[low >> 6] & _low_bits(low & 63))
                both -= _popcount(card_words[a] & _low_bits(below_a[h]))
                both -= _popcount(card_words[b] & _low_bits(below_b[h]))
                later[h] += weight * weaker
                gains[h] += weight * (weaker - both)
            for m in range(first, stop):
                h = order[m]
                a, b, at = card_a[h], card_b[h], place[h]
                words[at >> 6] |= 1 << np.int64(at & 63)
                card_words[a] |= 1 << np.int64(place_a[h])
                card_words[b] |= 1 << np.int64(place_b[h])
                held[a] += 1
                held[b] += 1
            total = 0
            for word in range(20):
                before[word] = total
                total += _popcount(words[word])
            for m in range(first, stop):
                h = order[m]
                a, b, high = card_a[h], card_b[h], upto[h]
                # The hand itself is counted once and subtracted with both of its cards: add it back.
                no_better = stop - held[a] - held[b] + 1
                both = before[high >> 6] + _popcount(words[high >> 6] & _low_bits(high & 63)) + 1
                both -= _popcount(card_words[a] & _low_bits(upto_a[h]))
                both -= _popcount(card_words[b] & _low_bits(upto_b[h]))
                later[h] += weight * no_better
                gains[h] += weight * (no_better - both)


@njit(cache=True, nogil=True)
def _potentials(
    boards: Any,
    stabilisers: Any,
    runouts: int,
    orders: Any,
    river_keys: Any,
    river_slots: Any,
    suits: Any,
    orbits: Any,
    card_word: Any,
    combo_cards: Any,
    features: Any,
) -> None:
    """Rows (equity, positive, negative potential) of the classes of the boards, one after the other."""
    sums = np.empty((2, 1326), np.int32)
    now = np.empty((2, 1326), np.int64)
    numbers = np.empty(1326, np.int16)
    totals = np.empty((1326, 3), np.int64)
    offset = 0
    for row in range(boards.shape[0]):
        board, lowest = boards[row], orbits[0][stabilisers[row]]
        sums[:] = 0
        _potential_sums(
            board,
            stabilisers[row],
            orders,
            river_keys,
            river_slots,
            suits,
            orbits,
            card_word,
            combo_cards,
            sums,
            now,
        )
        classes = _number_classes(board, lowest, numbers)
        totals[:classes] = 0
        for combo in range(1326):
            number = numbers[combo]
            if number >= 0:
                totals[number, 0] += sums[0, combo]
                totals[number, 1] += sums[1, combo]
                totals[number, 2] += 1
        live = 52 - board.shape[0]
        scale = (live - 2) * (live - 3) * runouts
        for combo in range(1326):
            number = numbers[combo]
            if number >= 0 and lowest[combo] == combo:
                score_later = totals[number, 0] // totals[number, 2]
                gain = totals[number, 1] // totals[number, 2]
                score_now = (2 * now[0, combo] + now[1, combo]) * runouts
                loss = score_now + gain - score_later
                features[offset + number, 0] = score_later / scale
                features[offset + number, 1] = gain / (scale - score_now) if score_now < scale else 0.0
                features[offset + number, 2] = loss / score_now if score_now > 0 else 0.0
        offset += classes


def ehs_features(
    num_cards: int, start: int, stop: int, orders: NDArray[np.uint16] | None = None
) -> NDArray[np.float32]:
    """Equity against a random hand, positive and negative potential of each class, float32 [classes, 3].

    Parameters
    ----------
    num_cards, start, stop : street and range of canonical boards
    orders : `river_orders` of all canonical rivers; needed before the river
    """
    check_board_range(num_cards, start, stop)
    offsets = hand_class_offsets(num_cards)
    features = np.zeros((int(offsets[stop] - offsets[start]), 3), dtype=np.float32)
    if num_cards == 5:
        features[:, 0] = river_equities(start, stop)
        return features
    canon, rivers = canonical_boards(num_cards), canonical_boards(5)
    _potentials(
        canon.boards[start:stop],
        canon.stabilisers[start:stop],
        _RUNOUTS[num_cards],
        _all_rivers("orders", orders, LIVE_HANDS),
        rivers.keys,
        rivers.slots,
        (_PERMUTATIONS, _PERMUTATION_NUMBER),
        (ORBIT_COMBO, ORBIT_SIZE),
        _CARD_WORD,
        COMBO_CARDS,
        features,
    )
    return features
