"""Kernels that value one turn by combo: reach down flop and turn, folds and all-ins there, and the rivers below.

Rows of reach and values are ``[combo, lane]`` over all 1,326 combos, those that the board blocks without reach.

A fold needs no river. With w(c) the weight of card c as a river, x(ab) the opponent's reach with the hand ab, S(c)
the sum of the hands that hold card c and R the sum of all, the own hand ab meets on river c

    R - S(c) - (S(a) - x(ac)) - (S(b) - x(bc)) + x(ab)

and over all rivers but a and b

    (W - w(a) - w(b)) (R - S(a) - S(b) + x(ab)) - (A - w(a) S(a) - w(b) S(b)) + D(a) + D(b) - (w(a) + w(b)) x(ab)

with W = sum of w(c), A = sum of w(c) S(c) and D(a) = sum of w(c) x(ac).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.cards import NUM_COMBOS
from solver.blueprint.board_links import _enter, _is_open, _set_roots
from solver.blueprint.node_kernels import _descend
from solver.blueprint.river_values import _river_hands, _value_block
from solver.blueprint.terminals import _SUMS, ABREAST, NUM_CARDS, _fill_zero, _rank_sums
from solver.cfr.simd import WIDTH, fused, load, splat, store


@njit(cache=True, nogil=True)
def _turn_reach(
    lanes: Any, reach: Any, combos: Any, runs: Any, strategy: Any, tables: Any, num_buckets: Any, upper: Any
) -> None:
    """The opponent's reach of all rows of flop and turn; ``reach[line, combo]`` is that of the roots."""
    n = NUM_COMBOS
    _set_roots(lanes, reach, combos, n, upper)
    for s in range(2):
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            if s > 0:
                _enter(lanes, b, n, upper)
            _descend(lanes, b, n, runs[s], strategy, tables[s], num_buckets[s], strategy, 0.0, upper)


@njit(cache=True, nogil=True)
def _fold(
    row: int, to: int, folds: Any, rivers: Any, live: Any, combo_cards: Any, upper: Any, sums: Any
) -> None:
    """Add what a fold is worth, summed over the rivers, to the value row that starts at `to`.

    `sums` has room for S(c), then D(c).
    """
    reach, value = upper.reach, upper.value
    _fill_zero(sums, 0, 2 * NUM_CARDS * WIDTH)
    dealt = NUM_CARDS * WIDTH
    total = splat(reach, 0.0)
    weight = 0.0
    for combo in range(NUM_COMBOS):
        if live[combo] == 0:
            continue
        here = load(reach, row + combo * WIDTH)
        a, c = np.int64(combo_cards[combo, 0]), np.int64(combo_cards[combo, 1])
        total = total + here
        store(sums, a * WIDTH, load(sums, a * WIDTH) + here)
        store(sums, c * WIDTH, load(sums, c * WIDTH) + here)
        da, dc = dealt + a * WIDTH, dealt + c * WIDTH
        store(sums, da, fused(splat(reach, rivers.by_card[c]), here, load(sums, da)))
        store(sums, dc, fused(splat(reach, rivers.by_card[a]), here, load(sums, dc)))
    blocked = splat(reach, 0.0)
    for card in range(NUM_CARDS):
        weight += rivers.by_card[card]
        blocked = fused(splat(reach, rivers.by_card[card]), load(sums, card * WIDTH), blocked)
    for combo in range(NUM_COMBOS):
        if live[combo] == 0:
            continue
        a, c = np.int64(combo_cards[combo, 0]), np.int64(combo_cards[combo, 1])
        wa, wc = rivers.by_card[a], rivers.by_card[c]
        mine = load(reach, row + combo * WIDTH)
        sa, sc = load(sums, a * WIDTH), load(sums, c * WIDTH)
        met = splat(reach, weight - wa - wc) * (total - sa - sc + mine) - blocked
        met = met + splat(reach, wa) * sa + splat(reach, wc) * sc
        met = met + load(sums, dealt + a * WIDTH) + load(sums, dealt + c * WIDTH)
        met = met - splat(reach, wa + wc) * mine
        at = to + combo * WIDTH
        store(value, at, fused(folds, met, load(value, at)))


@njit(cache=True, nogil=True)
def _folds(lanes: Any, pays: Any, rivers: Any, live: Any, combo_cards: Any, upper: Any, sums: Any) -> None:
    """Add the folds of flop and turn, summed over the rivers, to the value rows."""
    size = np.int64(NUM_COMBOS * WIDTH)
    for b in range(lanes.street_blocks[0], lanes.street_blocks[2]):
        block = lanes.blocks[b]
        shape = lanes.programs[block.program]
        for k in range(shape.terminals, shape.terminals_end):
            end = lanes.terminals[k]
            row = np.int64(block.reach + end.reach)
            if end.fold < 0 or upper.alive[row] == 0:
                continue
            folds = load(pays, np.int64(block.pays + end.pays) * 3 * WIDTH + 2 * WIDTH)
            to = np.int64(block.value + end.fold) * size
            _fold(row * size, to, folds, rivers, live, combo_cards, upper, sums)


@njit(cache=True, nogil=True)
def _list_all_ins(lanes: Any, upper: Any, listed: Any) -> int:
    """Block and number of the terminals of flop and turn that see a showdown and that somebody reaches."""
    count = 0
    for b in range(lanes.street_blocks[0], lanes.street_blocks[2]):
        block = lanes.blocks[b]
        shape = lanes.programs[block.program]
        for k in range(shape.terminals, shape.terminals_end):
            end = lanes.terminals[k]
            if end.show >= 0 and upper.alive[block.reach + end.reach] != 0:
                listed[count, 0], listed[count, 1] = b, k
                count += 1
    return count


@njit(cache=True, nogil=True)
def _all_ins(lanes: Any, pays: Any, rivers: Any, listed: Any, upper: Any, work: Any) -> None:
    """Add the showdowns of flop and turn, summed over the rivers, to the value rows."""
    count = _list_all_ins(lanes, upper, listed)
    size = np.int64(NUM_COMBOS * WIDTH)
    n = np.int64(rivers.combos.shape[1])
    rows = n * WIDTH
    for r in range(len(rivers.weights)):
        hands = _river_hands(rivers, r)
        combos = rivers.combos[r]
        weight = splat(upper.value, rivers.weights[r])
        for first in range(0, count, ABREAST):
            for part in range(ABREAST):
                b, k = listed[min(first + part, count - 1)]
                row = np.int64(lanes.blocks[b].reach + lanes.terminals[k].reach) * size
                for h in range(n):
                    here = load(upper.reach, row + np.int64(combos[h]) * WIDTH)
                    store(work.reach, part * rows + h * WIDTH, here)
            _rank_sums(work.reach, 0, rows, 2 * rows, 3 * rows, hands, n, work.sums, work.ranked)
            for part in range(min(ABREAST, count - first)):
                b, k = listed[first + part]
                block, end = lanes.blocks[b], lanes.terminals[k]
                first_pay = np.int64(block.pays + end.pays) * 3 * WIDTH
                half = weight * load(pays, first_pay)
                lose = weight * load(pays, first_pay + WIDTH)
                to = np.int64(block.value + end.show) * size
                shift = part * WIDTH
                total = load(work.sums, NUM_CARDS * _SUMS + shift)
                for h in range(n):
                    mine = load(work.reach, part * rows + h * WIDTH)
                    a = np.int64(hands.card1[h]) * _SUMS + shift
                    c = np.int64(hands.card2[h]) * _SUMS + shift
                    met = total - load(work.sums, a) - load(work.sums, c) + mine
                    won = half * (load(work.ranked, part * rows + h * WIDTH) + mine)
                    at = to + np.int64(combos[h]) * WIDTH
                    store(upper.value, at, load(upper.value, at) + fused(lose, met, won))


@njit(cache=True, nogil=True)
def _leave_rivers(lanes: Any, b: int, roots: Any, upper: Any, exits: Any) -> None:
    """Add the values of a block's roots by combo to the exits of the turn."""
    size = np.int64(NUM_COMBOS * WIDTH)
    for lane in range(WIDTH):
        link = lanes.links[b * WIDTH + lane]
        if not _is_open(lanes, link, upper):
            continue
        to = np.int64(lanes.blocks[link.block].value + link.row) * size + link.lane
        for combo in range(NUM_COMBOS):
            exits[to + combo * WIDTH] += roots[combo * WIDTH + lane]


@njit(cache=True, nogil=True)
def _value_turn(
    lanes: Any,
    pays: Any,
    rivers: Any,
    live: Any,
    combo_cards: Any,
    strategy: Any,
    table: int,
    num_buckets: int,
    best: bool,
    plain: bool,
    listed: Any,
    upper: Any,
    work: Any,
    best_exits: Any,
    plain_exits: Any,
) -> None:
    """Values of one turn summed over its rivers, given the reach of flop and turn in `upper`.

    Terminals of flop and turn are added to ``upper.value``, rivers that the own player plays as well as possible to
    `best_exits`, rivers under its strategy to `plain_exits`: rows as in ``upper.value``.
    """
    _folds(lanes, pays, rivers, live, combo_cards, upper, work.sums)
    _all_ins(lanes, pays, rivers, listed, upper, work)
    for b in range(lanes.street_blocks[2], lanes.street_blocks[3]):
        if not _enter(lanes, b, NUM_COMBOS, upper):
            continue
        root = np.int64(lanes.blocks[b].reach) * NUM_COMBOS * WIDTH
        _value_block(
            lanes, b, rivers, pays, strategy, table, num_buckets, upper.reach, root, best, plain, work
        )
        if best:
            _leave_rivers(lanes, b, work.best_roots, upper, best_exits)
        if plain:
            _leave_rivers(lanes, b, work.plain_roots, upper, plain_exits)


@njit(cache=True, nogil=True)
def _symmetrise(value: Any, first_row: int, last_row: int, images: Any, scratch: Any) -> None:
    """Replace rows by their mean over renamings of suits; ``images[k]`` is what renaming k makes of each combo."""
    share = splat(value, 1.0 / len(images))
    for row in range(first_row, last_row):
        start = np.int64(row) * NUM_COMBOS * WIDTH
        for combo in range(NUM_COMBOS):
            total = load(value, start + np.int64(images[0, combo]) * WIDTH)
            for k in range(1, len(images)):
                total = total + load(value, start + np.int64(images[k, combo]) * WIDTH)
            store(scratch, combo * WIDTH, share * total)
        for combo in range(NUM_COMBOS):
            store(value, start + combo * WIDTH, load(scratch, combo * WIDTH))
