"""Equity of bucket against bucket, counted over every board, runout and pair of disjoint hands.

The count of an ordered pair of buckets is ``2 * wins + ties`` of the first over all pairs of disjoint hands,
one from each, and over all runouts to the river. Counts are integers: those of any split of the boards add
up to the same table. A pair's count and its mirror sum to twice the number of cases, so one matrix holds both
the equity and the weight of a pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from abstractions.evaluator import _board_strengths
from abstractions.features.rivers import (
    _PERMUTATIONS,
    _RUNOUTS,
    _all_rivers,
    _card_runouts,
    _order_hands,
    _renaming_number,
)
from abstractions.isomorphism import (
    _PERMUTATION_NUMBER,
    ORBIT_COMBO,
    ORBIT_SIZE,
    _board_id,
    _canonicalise,
    canonical_boards,
)

# Runouts compared at once. Counts of a tile are bytes, so there may be up to 255.
_TILE = 48


@njit(cache=True, nogil=True)
def _river_scores(boards: Any, weights: Any, table: Any, combo_cards: Any, scores: Any) -> None:
    """Add the counts of rivers to `scores`.

    Hands that share strength and bucket form a cell. Pairs of cells are counted as if no card were shared,
    then the same count within the hands that hold a card is taken off, for each card; a hand paired with
    itself, counted once and taken off twice, is put back.
    """
    strengths = np.empty(1326, np.int16)
    order = np.empty(1326, np.uint16)
    starts = np.empty(1327, np.uint16)
    # Counts by bucket of weaker hands and of the present tie, with the buckets that occur.
    weaker = np.zeros(scores.shape[0], np.int64)
    tied = np.zeros(scores.shape[0], np.int64)
    weaker_list = np.empty(1326, np.uint16)
    tied_list = np.empty(1326, np.uint16)
    # Cells of the hands that hold a card.
    cell_bucket = np.empty((52, 48), np.uint16)
    cell_group = np.empty((52, 48), np.int64)
    cell_count = np.empty((52, 48), np.int64)
    cells = np.empty(52, np.int64)
    for row in range(boards.shape[0]):
        weight = weights[row]
        buckets = table[row]
        _board_strengths(boards[row], strengths)
        groups = _order_hands(strengths, order, starts)
        cells[:] = 0
        num_weaker = 0
        for group in range(groups):
            num_tied = 0
            for m in range(np.int64(starts[group]), np.int64(starts[group + 1])):
                h = order[m]
                bucket = buckets[h]
                scores[bucket, bucket] += weight
                if tied[bucket] == 0:
                    tied_list[num_tied] = bucket
                    num_tied += 1
                tied[bucket] += 1
                for side in range(2):
                    card = combo_cards[h, side]
                    entry = cells[card] - 1
                    while entry >= 0 and cell_group[card, entry] == group:
                        if cell_bucket[card, entry] == bucket:
                            break
                        entry -= 1
                    if entry >= 0 and cell_group[card, entry] == group:
                        cell_count[card, entry] += 1
                    else:
                        entry = cells[card]
                        cell_bucket[card, entry] = bucket
                        cell_group[card, entry] = group
                        cell_count[card, entry] = 1
                        cells[card] = entry + 1
            for x in range(num_tied):
                line = scores[tied_list[x]]
                factor = weight * tied[tied_list[x]]
                for y in range(num_weaker):
                    line[weaker_list[y]] += 2 * factor * weaker[weaker_list[y]]
                for y in range(num_tied):
                    line[tied_list[y]] += factor * tied[tied_list[y]]
            for x in range(num_tied):
                bucket = tied_list[x]
                if weaker[bucket] == 0:
                    weaker_list[num_weaker] = bucket
                    num_weaker += 1
                weaker[bucket] += tied[bucket]
                tied[bucket] = 0
        for y in range(num_weaker):
            weaker[weaker_list[y]] = 0
        for card in range(52):
            for x in range(cells[card]):
                line = scores[cell_bucket[card, x]]
                factor = weight * cell_count[card, x]
                group = cell_group[card, x]
                y = 0
                while y < x and cell_group[card, y] < group:
                    line[cell_bucket[card, y]] -= 2 * factor * cell_count[card, y]
                    y += 1
                while y < cells[card] and cell_group[card, y] == group:
                    line[cell_bucket[card, y]] -= factor * cell_count[card, y]
                    y += 1


@njit(cache=True, nogil=True)
def _count_wins(order: Any, image: Any, local_bucket: Any, weight: int, work: Any, wins: Any) -> None:
    """Add the wins of bucket over bucket on one river to `wins`, pairs that share a card included.

    Hands are met from the weakest on; all hands of a tie and a bucket beat what was met before the tie.
    """
    present = wins.shape[0]
    weaker, tied, tied_list = work[0], work[1], work[2]
    for p in range(present):
        weaker[p] = 0
    num_tied = 0
    for m in range(1082):
        if m == 1081 or order[m] >> 15:
            for x in range(num_tied):
                line = wins[tied_list[x]]
                factor = weight * tied[tied_list[x]]
                for q in range(present):
                    line[q] += factor * weaker[q]
            for x in range(num_tied):
                weaker[tied_list[x]] += tied[tied_list[x]]
                tied[tied_list[x]] = 0
            num_tied = 0
        if m < 1081:
            p = local_bucket[image[order[m] & 0x7FFF]]
            if tied[p] == 0:
                tied_list[num_tied] = p
                num_tied += 1
            tied[p] += 1


@njit(cache=True, nogil=True)
def _count_card_wins(
    own: Any, other: Any, runouts: int, held: Any, weight: int, count: Any, wins: Any
) -> None:
    """Add to ``wins[c, x, y]`` how often hand x beats hand y among those that hold card c, over a tile.

    Strengths are int8: `own` is [52, 48, _TILE], -128 for a hand that the runout blocks, and `other` is
    [52, _TILE, 64], there 127, so that a blocked hand neither wins nor loses; rivers have at most 136
    different strengths. `runouts` is a multiple of eight.
    """
    for card in range(52):
        count[:] = 0
        for r in range(0, runouts, 8):
            b = other[card, r : r + 8].reshape(512)
            for x in range(held[card]):
                a = own[card, x]
                a0, a1, a2, a3 = a[r], a[r + 1], a[r + 2], a[r + 3]
                a4, a5, a6, a7 = a[r + 4], a[r + 5], a[r + 6], a[r + 7]
                line = count[x]
                # One expression per lane, so that the loop becomes eight compares and adds of 32 bytes.
                for y in range(64):
                    low = np.uint8(a0 > b[y]) + np.uint8(a1 > b[64 + y]) + np.uint8(a2 > b[128 + y])
                    mid = np.uint8(a3 > b[192 + y]) + np.uint8(a4 > b[256 + y]) + np.uint8(a5 > b[320 + y])
                    line[y] += low + mid + np.uint8(a6 > b[384 + y]) + np.uint8(a7 > b[448 + y])
        for x in range(held[card]):
            line, total = count[x], wins[card, x]
            for y in range(64):
                total[y] += weight * np.int16(line[y])


@njit(cache=True, nogil=True)
def _add_board(
    wins: Any, card_wins: Any, members: Any, held: Any, buckets: Any, runouts: int, weight: int, scores: Any
) -> None:
    """Add one board's counts to `scores` from the wins of its buckets.

    ``2 * wins + ties`` is the number of runouts plus wins less losses. `members[c]` are the buckets, numbered
    as they occur on this board, of the hands that hold card c; their pairs are taken off.
    """
    present = buckets.shape[0]
    sizes = np.zeros(present, np.int64)
    for card in range(52):
        for x in range(held[card]):
            sizes[members[card, x]] += 1
            line = wins[members[card, x]]
            for y in range(held[card]):
                line[members[card, y]] -= card_wins[card, x, y]
    for p in range(present):
        # Each hand was counted under both of its cards.
        sizes[p] //= 2
    for p in range(present):
        line = scores[buckets[p]]
        for q in range(present):
            line[buckets[q]] += weight * (runouts * sizes[p] * sizes[q] + wins[p, q] - wins[q, p])
        # A hand paired with itself counts once here and is subtracted with both of its cards below: add it back.
        line[buckets[p]] += weight * runouts * sizes[p]
    run_bucket = np.empty(48, np.int64)
    run_size = np.empty(48, np.int64)
    for card in range(52):
        runs = 0
        for x in range(held[card]):
            # Hands are in order of bucket, so those of one bucket are neighbours.
            if runs > 0 and run_bucket[runs - 1] == members[card, x]:
                run_size[runs - 1] += 1
            else:
                run_bucket[runs], run_size[runs] = members[card, x], 1
                runs += 1
        for x in range(runs):
            line = scores[buckets[run_bucket[x]]]
            factor = weight * runouts * run_size[x]
            for y in range(runs):
                line[buckets[run_bucket[y]]] -= factor * run_size[y]


@njit(cache=True, nogil=True)
def _earlier_scores(
    boards: Any,
    stabilisers: Any,
    weights: Any,
    table: Any,
    runouts_per_pair: int,
    orders: Any,
    river_keys: Any,
    river_slots: Any,
    suits: Any,
    orbits: Any,
    combo_cards: Any,
    scores: Any,
) -> None:
    """Add the counts of flops or turns to `scores`.

    Wins are summed over the runouts, each standing for its orbit under the board's stabiliser: buckets are
    the same along an orbit of hands, so sums over buckets are those of all runouts. Wins of bucket over
    bucket are counted as if no card were shared; wins between hands that share a card are counted by SIMD
    comparison, a tile of runouts at a time, and taken off at the end.
    """
    n = boards.shape[1]
    hands = (52 - n) * (51 - n) // 2
    permutations, permutation_number = suits
    card_wins = np.empty((52, 48, 64), np.int16)
    own = np.empty((52, 48, _TILE), np.int8)
    other = np.empty((52, _TILE, 64), np.int8)
    tile_wins = np.empty((48, 64), np.uint8)
    keys = np.empty(hands, np.int64)
    local_bucket = np.zeros(1326, np.uint16)
    slot = np.zeros((1326, 2), np.uint8)
    members = np.empty((52, 48), np.uint16)
    held = np.empty(52, np.int64)
    buckets = np.empty(hands, np.int64)
    work = np.zeros((3, hands), np.int32)
    runouts = np.empty((1326, 3), np.int64)
    full = np.empty(5, np.uint8)
    renaming = np.empty(4, np.uint8)
    back = np.empty(4, np.uint8)
    for row in range(boards.shape[0]):
        count = 0
        for combo in range(1326):
            if table[row, combo] != 65535:
                keys[count] = np.int64(table[row, combo]) << 11 | combo
                count += 1
        keys.sort()
        held[:] = 0
        present = 0
        for i in range(hands):
            combo, bucket = keys[i] & 2047, keys[i] >> 11
            if present == 0 or buckets[present - 1] != bucket:
                buckets[present] = bucket
                present += 1
            local_bucket[combo] = present - 1
            for side in range(2):
                card = combo_cards[combo, side]
                slot[combo, side] = held[card]
                members[card, held[card]] = present - 1
                held[card] += 1
        wins = np.zeros((present, present), np.int32)
        card_wins[:] = 0
        full[:n] = boards[row]
        total = _card_runouts(boards[row], stabilisers[row], orbits, runouts)
        for size in (1, 2, 3, 4, 6, 12, 24):
            tile = 0
            for r in range(total + 1):
                if r < total and runouts[r, 2] == size:
                    full[n] = runouts[r, 0]
                    if n == 3:
                        full[4] = runouts[r, 1]
                    order = orders[_board_id(_canonicalise(full, 5, renaming), river_keys, river_slots)]
                    for suit in range(4):
                        back[renaming[suit]] = suit
                    image = permutations[_renaming_number(back, permutation_number)]
                    _count_wins(order, image, local_bucket, size, work, wins)
                    if tile == 0:
                        own[:] = -128
                        other[:] = 127
                    strength = -128
                    for m in range(1081):
                        strength += order[m] >> 15
                        combo = image[order[m] & 0x7FFF]
                        for side in range(2):
                            card, x = combo_cards[combo, side], slot[combo, side]
                            own[card, x, tile] = strength
                            other[card, tile, x] = strength
                    tile += 1
                if tile == _TILE or (r == total and tile > 0):
                    padded = (tile + 7) // 8 * 8
                    _count_card_wins(own, other, padded, held, size, tile_wins, card_wins)
                    tile = 0
        _add_board(wins, card_wins, members, held, buckets[:present], runouts_per_pair, weights[row], scores)


def bucket_scores(
    num_cards: int,
    boards: NDArray,
    weights: NDArray,
    table: NDArray[np.uint16],
    buckets: int,
    orders: NDArray[np.uint16] | None = None,
) -> NDArray[np.int64]:
    """Counts ``2 * wins + ties`` of bucket against bucket over some rows of a bucket table.

    Parameters
    ----------
    num_cards : 3, 4 or 5
    boards, weights : canonical board and number of real deals of each row
    table : uint16 [rows, 1326], the rows themselves
    buckets : number of buckets
    orders : `river_orders` of all canonical rivers; needed before the river

    Returns
    -------
    int64 [buckets, buckets]; tables of disjoint sets of rows add up
    """
    ids = np.asarray(boards, dtype=np.int64)
    canon = canonical_boards(num_cards)
    if table.shape != (len(ids), NUM_COMBOS) or np.shape(weights) != ids.shape:
        raise ValueError(f"table of shape {table.shape} and {np.size(weights)} weights for {len(ids)} boards")
    if buckets < 1:
        raise ValueError(f"buckets={buckets}: expected at least one")
    live = table[table != 65535]
    hands = (52 - num_cards) * (51 - num_cards) // 2
    if live.size != hands * len(ids) or (live.size and live.max() >= buckets):
        raise ValueError(f"table: expected {hands} buckets below {buckets} in every row")
    scores = np.zeros((buckets, buckets), dtype=np.int64)
    mass = np.asarray(weights, dtype=np.int64)
    if num_cards == 5:
        _river_scores(canon.boards[ids], mass, table, COMBO_CARDS, scores)
        return scores
    rivers = canonical_boards(5)
    _earlier_scores(
        canon.boards[ids],
        canon.stabilisers[ids],
        mass,
        table,
        _RUNOUTS[num_cards],
        _all_rivers("orders", orders, 1081),
        rivers.keys,
        rivers.slots,
        (_PERMUTATIONS, _PERMUTATION_NUMBER),
        (ORBIT_COMBO, ORBIT_SIZE),
        COMBO_CARDS,
        scores,
    )
    return scores


def bucket_equity(scores: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Equity and weight of each ordered pair of buckets from the counts over all boards.

    Returns
    -------
    equity : float64 [K, K], ``equity + equity.T == 1``; one half where no pair of hands exists
    weights : int64 [K, K], symmetric: cases, a pair of hands on a real board with a runout
    """
    cases = scores + scores.T
    equity = np.full(scores.shape, 0.5)
    np.divide(scores, cases, out=equity, where=cases > 0)
    return equity, cases // 2
