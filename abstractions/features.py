"""Exact features of every hand on every board: equity, potential, equity histograms, opponent clusters.

A feature is computed once per hand-board class. Functions take a range ``start..stop`` of canonical board
ids and return rows in class order, ``hand_class_offsets(n)[start]`` up to ``[stop]``, so that any split of
the boards into ranges gives the same rows.

An opponent hand is uniform over the hands disjoint from board and hand: 990 on the river. Every runout is
equally likely, hence an equity before the river is the mean of the river equities that can follow.

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
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_OF_COMBO, COMBO_CARDS, NUM_CLASSES, NUM_COMBOS
from abstractions.evaluator import _CARD_WORD, _board_strengths, _word_strength
from abstractions.isomorphism import (
    _PERMUTATION_NUMBER,
    COMBO_PERMUTATION,
    ORBIT_COMBO,
    ORBIT_SIZE,
    _board_id,
    _canonicalise,
    _number_classes,
    canonical_boards,
    hand_class_offsets,
)
from abstractions.kmeans import kmeans

#: Entry of a per-combo table where the board blocks the combo.
BLOCKED = 65535
#: Twice the number of opponents on the river: the count of a hand that beats them all.
RIVER_SCALE = 1980
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
    _check_range(5, start, stop)
    orders = np.empty((stop - start, 1081), dtype=np.uint16)
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
                # The hand itself is among the first and twice among the second: once too often taken off.
                counts[row, combo] += stop - held[combo_cards[combo, 0]] - held[combo_cards[combo, 1]] + 1


def _check_range(num_cards: int, start: int, stop: int) -> None:
    boards = len(canonical_boards(num_cards).boards)
    if not 0 <= start <= stop <= boards:
        raise ValueError(f"boards {start}..{stop}: expected a range within 0..{boards}")


def river_equity_counts(start: int, stop: int) -> NDArray[np.uint16]:
    """Equity of every combo on canonical rivers, in units of 1/1980, uint16 [stop - start, 1326].

    Entries are ``2 * wins + ties`` over the 990 opponent hands; `BLOCKED` where the board holds a card.

    >>> counts = river_equity_counts(0, 1)
    >>> int((counts < BLOCKED).sum()), int(counts[counts < BLOCKED].astype(int).sum()) == 1081 * 990
    (1081, True)
    """
    _check_range(5, start, stop)
    boards = canonical_boards(5).boards[start:stop]
    counts = np.empty((len(boards), NUM_COMBOS), dtype=np.uint16)
    _river_counts(boards, COMBO_CARDS, counts)
    return counts


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
    _check_range(num_cards, start, stop)
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
    _check_range(num_cards, start, stop)
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
                # The hand itself: once in the whole and twice in the cards, so it is put back once.
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
    _check_range(num_cards, start, stop)
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
        _all_rivers("orders", orders, 1081),
        rivers.keys,
        rivers.slots,
        (_PERMUTATIONS, _PERMUTATION_NUMBER),
        (ORBIT_COMBO, ORBIT_SIZE),
        _CARD_WORD,
        COMBO_CARDS,
        features,
    )
    return features


def _all_rivers(name: str, table: NDArray[np.uint16] | None, columns: int) -> NDArray[np.uint16]:
    rows = len(canonical_boards(5).boards)
    shape = None if table is None else table.shape
    if table is None or shape != (rows, columns):
        raise ValueError(f"{name} of shape {shape}: expected ({rows}, {columns}), all canonical rivers")
    return table


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
    _check_range(num_cards, start, stop)
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
    _check_range(5, start, stop)
    counts = _all_rivers("river_counts", river_counts, NUM_COMBOS)[start:stop]
    histograms = np.zeros((NUM_CLASSES, bins), dtype=np.int64)
    weights = canonical_boards(5).weights[start:stop]
    _class_histograms(counts, weights, equity_bins(bins), CLASS_OF_COMBO, histograms)
    return histograms


def opponent_clusters(
    histograms: NDArray[np.int64], k: int = 8, rng: np.random.Generator | None = None
) -> NDArray[np.int8]:
    """Cluster of each hand class, weakest first, by the earth mover's distance of preflop equity histograms.

    This is how opponent cluster hand strength groups the opponent's hands (Johanson et al. 2013).

    Parameters
    ----------
    histograms : [169, bins], the sum of `preflop_histograms` over all rivers
    """
    if histograms.shape[0] != NUM_CLASSES:
        raise ValueError(f"histograms of shape {histograms.shape}: expected one row per hand class")
    cdf = np.cumsum(histograms / histograms.sum(axis=1, keepdims=True), axis=1)[:, :-1]
    rng = np.random.default_rng(0) if rng is None else rng
    result = kmeans(cdf, k, rng, weights=CLASS_COMBOS, metric="l1", tolerance=0)
    # A larger sum of the distribution function is a smaller mean.
    mass = np.bincount(result.labels, CLASS_COMBOS * cdf.sum(axis=1), minlength=k)
    order = np.argsort(-mass / np.bincount(result.labels, CLASS_COMBOS, minlength=k), kind="stable")
    rank = np.empty(k, dtype=np.int8)
    rank[order] = np.arange(k)
    return rank[result.labels]


@njit(cache=True, nogil=True)
def _ochs(
    boards: Any,
    stabilisers: Any,
    orbit_combo: Any,
    combo_cards: Any,
    cluster_of_combo: Any,
    clusters: int,
    features: Any,
    equities: Any,
) -> None:
    """Equity of each class against each cluster of hands, and against all hands.

    Counts of hands by cluster are packed into words, four lanes of 16 bits: no count exceeds 1,081, and every
    difference taken is itself a count, so lanes never borrow from each other.
    """
    words = (clusters + 3) // 4
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.uint16)
    starts = np.empty(1327, np.uint16)
    numbers = np.empty(1326, np.int16)
    # Row 52 counts all hands, the others those that hold a card.
    total = np.empty((53, words), np.int64)
    weaker = np.empty((53, words), np.int64)
    score = np.empty((1326, words), np.int64)
    reciprocal = np.zeros(1082)
    for count in range(1, 1082):
        reciprocal[count] = 0.5 / count
    offset = 0
    for row in range(boards.shape[0]):
        lowest = orbit_combo[stabilisers[row]]
        classes = _number_classes(boards[row], lowest, numbers)
        _board_strengths(boards[row], strengths)
        groups = _order_hands(strengths, order, starts)
        total[:] = 0
        weaker[:] = 0
        for m in range(1081):
            h = order[m]
            word, one = cluster_of_combo[h] >> 2, 1 << np.int64(cluster_of_combo[h] & 3) * 16
            total[52, word] += one
            total[combo_cards[h, 0], word] += one
            total[combo_cards[h, 1], word] += one
        for group in range(groups):
            first, stop = np.int64(starts[group]), np.int64(starts[group + 1])
            for m in range(first, stop):
                h = order[m]
                a, b = combo_cards[h, 0], combo_cards[h, 1]
                for word in range(words):
                    score[h, word] = weaker[52, word] - weaker[a, word] - weaker[b, word]
            for m in range(first, stop):
                h = order[m]
                word, one = cluster_of_combo[h] >> 2, 1 << np.int64(cluster_of_combo[h] & 3) * 16
                weaker[52, word] += one
                weaker[combo_cards[h, 0], word] += one
                weaker[combo_cards[h, 1], word] += one
            for m in range(first, stop):
                h = order[m]
                if lowest[h] != h:
                    continue
                a, b = combo_cards[h, 0], combo_cards[h, 1]
                own, one = cluster_of_combo[h] >> 2, 1 << np.int64(cluster_of_combo[h] & 3) * 16
                at = features[offset + numbers[h]]
                everything = 0
                missing = False
                for word in range(words):
                    # The hand itself: once in the whole and twice in the cards, so it is put back once.
                    self = one if word == own else 0
                    points = score[h, word] + weaker[52, word] + self - weaker[a, word] - weaker[b, word]
                    opponents = total[52, word] + self - total[a, word] - total[b, word]
                    for c in range(4 * word, min(4 * word + 4, clusters)):
                        at[c] = (points & 0xFFFF) * reciprocal[opponents & 0xFFFF]
                        everything += points & 0xFFFF
                        missing |= opponents & 0xFFFF == 0
                        points >>= 16
                        opponents >>= 16
                equities[offset + numbers[h]] = everything / 1980
                if missing:
                    for c in range(clusters):
                        shift = (c & 3) * 16
                        own_lane = one if c >> 2 == own else 0
                        left = total[52, c >> 2] + own_lane - total[a, c >> 2] - total[b, c >> 2]
                        if left >> shift & 0xFFFF == 0:
                            at[c] = everything / 1980
        offset += classes


def ochs(start: int, stop: int, clusters: NDArray) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Equity of each class of canonical rivers against each cluster of opponent hands, and against all.

    Against a cluster that has no hand left it is the equity against all hands.

    Parameters
    ----------
    clusters : [169], cluster of each hand class, every number from 0 up to the highest in use

    Returns
    -------
    features : float32 [classes, clusters]
    equities : float64 [classes], as `river_equities`
    """
    _check_range(5, start, stop)
    groups = np.asarray(clusters, dtype=np.int64)
    if groups.shape != (NUM_CLASSES,) or groups.min() < 0 or (np.bincount(groups) == 0).any():
        raise ValueError("clusters: expected 169 numbers, from 0 up with none left out")
    canon = canonical_boards(5)
    offsets = hand_class_offsets(5)
    classes, count = int(offsets[stop] - offsets[start]), int(groups.max()) + 1
    features = np.empty((classes, count), dtype=np.float32)
    equities = np.empty(classes, dtype=np.float64)
    _ochs(
        canon.boards[start:stop],
        canon.stabilisers[start:stop],
        ORBIT_COMBO,
        COMBO_CARDS,
        groups[CLASS_OF_COMBO].astype(np.uint8),
        count,
        features,
        equities,
    )
    return features, equities
