"""Kernels that value the rivers of one turn, block of lanes by block of lanes.

All rivers of a turn play a block before the next block begins: its strategies are normalised once, its roots are
collected once, and both stay in cache. The hands of a river are handled in tiles, so that the values of a tile's
betting never leave the nearest cache. Best responses and expected values come from the same terminals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from abstractions.evaluator import _sorted_board
from solver.blueprint.node_kernels import _strategy
from solver.blueprint.plan import LaneProgram
from solver.blueprint.terminals import (
    _SUMS,
    ABREAST,
    NUM_CARDS,
    SUMS_SIZE,
    Hands,
    _card_sums,
    _fill_zero,
    _put,
    _rank_sums,
)
from solver.cfr.simd import WIDTH, fused, largest, load, splat, store

#: Hands that are handled together.
TILE = 32
#: Hands that a full board leaves alive.
NUM_LIVE = 1081


class Rivers(NamedTuple):
    """The rivers that are dealt after one turn, ``[river, hand]``; hands from weakest to strongest.

    Attributes
    ----------
    weights
        Weight of each river.
    combos, card1, card2
        Live hands and their cards.
    group_end, num_groups
        End of each run of equally strong hands, and the number of runs.
    buckets
        River bucket of each hand.
    used
        Buckets that occur, ascending.
    by_card
        Weight of each card as a river, 0 for cards that are not dealt.
    """

    weights: NDArray[np.float64]
    combos: NDArray[np.int16]
    card1: NDArray[np.uint8]
    card2: NDArray[np.uint8]
    group_end: NDArray[np.int32]
    num_groups: NDArray[np.int32]
    buckets: NDArray[np.uint16]
    used: NDArray[np.int32]
    by_card: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _rank_rivers(boards: Any, all_buckets: Any, combo_cards: Any, rivers: Any) -> None:
    """Fill everything but the weights, from the buckets by combo of each river."""
    strengths = np.empty(NUM_COMBOS, np.int16)
    order = np.empty(NUM_COMBOS, np.int16)
    for r in range(len(boards)):
        count = _sorted_board(boards[r], strengths, order)
        groups = 0
        for h in range(count):
            combo = order[h]
            rivers.combos[r, h] = combo
            rivers.card1[r, h] = combo_cards[combo, 0]
            rivers.card2[r, h] = combo_cards[combo, 1]
            rivers.buckets[r, h] = all_buckets[r, combo]
            if h > 0 and strengths[combo] != strengths[order[h - 1]]:
                rivers.group_end[r, groups] = h
                groups += 1
        rivers.group_end[r, groups] = count
        rivers.num_groups[r] = groups + 1


def rank_rivers(boards: NDArray[np.uint8], weights: NDArray, buckets: NDArray[np.integer]) -> Rivers:
    """Rank the hands of full boards that share a turn.

    Parameters
    ----------
    buckets
        River bucket of every combo on each board, ``[board, 1326]``; blocked combos may hold anything.
    """
    shape = (len(boards), NUM_LIVE)
    by_card = np.zeros(NUM_CARDS)
    np.add.at(by_card, boards[:, 4], weights)
    rivers = Rivers(
        weights=np.array(weights, dtype=np.float64),
        combos=np.empty(shape, np.int16),
        card1=np.empty(shape, np.uint8),
        card2=np.empty(shape, np.uint8),
        group_end=np.empty(shape, np.int32),
        num_groups=np.empty(len(boards), np.int32),
        buckets=np.empty(shape, np.uint16),
        used=np.empty(0, np.int32),
        by_card=by_card,
    )
    _rank_rivers(boards, np.ascontiguousarray(buckets, dtype=np.uint16), COMBO_CARDS, rivers)
    return rivers._replace(used=np.unique(rivers.buckets).astype(np.int32))


class RiverWork(NamedTuple):
    """Scratch of one block on one river.

    Attributes
    ----------
    sigma
        Strategies of the block, ``[node, bucket, action, lane]``.
    reach, ranked
        Rows by hand: the opponent's reach, and the sums of `_rank_sums`.
    sums
        Card sums, four rows together.
    best, plain
        Values of a tile of hands: of a best response, and of the strategy.
    best_roots, plain_roots
        Values of the block's roots by combo, summed over rivers.
    """

    sigma: NDArray[Any]
    reach: NDArray[Any]
    ranked: NDArray[Any]
    sums: NDArray[Any]
    best: NDArray[Any]
    plain: NDArray[Any]
    best_roots: NDArray[Any]
    plain_roots: NDArray[Any]


def make_river_work(
    programs: Sequence[LaneProgram], action_rows: int, num_buckets: int, dtype: Any
) -> RiverWork:
    """Scratch for the rivers of some programs; `action_rows` are those of the largest block."""
    reach = values = quads = 1
    for lanes in programs:
        blocks = lanes.blocks[lanes.street_blocks[2] : lanes.street_blocks[3]]
        for shape in lanes.programs[np.unique(blocks["program"])]:
            reach = max(reach, int(shape["reach_rows"]))
            values = max(values, int(shape["value_rows"]))
            quads = max(quads, -(-int(shape["terminals_end"] - shape["terminals"]) // ABREAST))
    hands = NUM_LIVE * WIDTH
    # All-ins before the river use the first rows.
    return RiverWork(
        sigma=np.zeros(action_rows * num_buckets * WIDTH, dtype=dtype),
        reach=np.zeros(max(reach, ABREAST) * hands, dtype=dtype),
        ranked=np.zeros(quads * ABREAST * hands, dtype=dtype),
        sums=np.zeros(quads * SUMS_SIZE, dtype=dtype),
        best=np.zeros(values * TILE * WIDTH, dtype=dtype),
        plain=np.zeros(values * TILE * WIDTH, dtype=dtype),
        best_roots=np.zeros(NUM_COMBOS * WIDTH, dtype=dtype),
        plain_roots=np.zeros(NUM_COMBOS * WIDTH, dtype=dtype),
    )


@njit(cache=True, nogil=True)
def _normalise(
    lanes: Any, b: int, source: Any, table: int, num_buckets: int, used: Any, own_too: bool, sigma: Any
) -> None:
    """The block's strategies of the opponent, and of the own player if asked for, in the buckets that occur."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    for i in range(shape.splits, shape.splits_end):
        node = lanes.splits[i]
        _normalise_node(block, node.table, node.actions, source, table, num_buckets, used, sigma)
    if own_too:
        for i in range(shape.updates, shape.updates_end):
            own_node = lanes.updates[i]
            _normalise_node(block, own_node.table, own_node.actions, source, table, num_buckets, used, sigma)


@njit(cache=True, nogil=True)
def _normalise_node(
    block: Any, row: int, actions: int, source: Any, table: int, num_buckets: int, used: Any, sigma: Any
) -> None:
    step = np.int64(actions) * WIDTH
    start = table + np.int64(block.table + row) * num_buckets * WIDTH
    to = np.int64(row) * num_buckets * WIDTH
    for k in range(len(used)):
        at = np.int64(used[k]) * step
        _strategy(source, start + at, actions, sigma[to + at :])


@njit(cache=True, nogil=True)
def _river_reach(
    lanes: Any, b: int, r: int, rivers: Any, num_buckets: int, from_reach: Any, root: int, work: Any
) -> None:
    """The opponent's reach of all rows of a block on one river, from the roots by combo."""
    shape = lanes.programs[lanes.blocks[b].program]
    reach, sigma = work.reach, work.sigma
    combos, buckets = rivers.combos[r], rivers.buckets[r]
    n = len(combos)
    size = np.int64(n * WIDTH)
    for first in range(0, n, TILE):
        last = min(first + TILE, n)
        for h in range(first, last):
            store(reach, h * WIDTH, load(from_reach, root + np.int64(combos[h]) * WIDTH))
        for i in range(shape.splits, shape.splits_end):
            split = lanes.splits[i]
            actions = np.int64(split.actions)
            start = np.int64(split.table) * num_buckets * WIDTH
            source = np.int64(split.row) * size
            to = np.int64(split.child) * size
            if actions == 2:
                for h in range(first, last):
                    at = start + np.int64(buckets[h]) * (2 * WIDTH)
                    here = load(reach, source + h * WIDTH)
                    store(reach, to + h * WIDTH, load(sigma, at) * here)
                    store(reach, to + size + h * WIDTH, load(sigma, at + WIDTH) * here)
            elif actions == 3:
                for h in range(first, last):
                    at = start + np.int64(buckets[h]) * (3 * WIDTH)
                    here = load(reach, source + h * WIDTH)
                    store(reach, to + h * WIDTH, load(sigma, at) * here)
                    store(reach, to + size + h * WIDTH, load(sigma, at + WIDTH) * here)
                    store(reach, to + 2 * size + h * WIDTH, load(sigma, at + 2 * WIDTH) * here)
            else:
                for h in range(first, last):
                    at = start + np.int64(buckets[h]) * actions * WIDTH
                    here = load(reach, source + h * WIDTH)
                    for a in range(actions):
                        store(reach, to + a * size + h * WIDTH, load(sigma, at + a * WIDTH) * here)


@njit(cache=True, nogil=True)
def _river_sums(lanes: Any, b: int, hands: Any, n: int, work: Any) -> None:
    """Card sums of all terminals of a block, and the ranked sums of those that see a showdown."""
    shape = lanes.programs[lanes.blocks[b].program]
    size = np.int64(n * WIDTH)
    last = np.int64(shape.terminals_end - 1)
    for k in range(shape.terminals, shape.terminals_end, ABREAST):
        quad = (k - shape.terminals) // ABREAST
        r0 = np.int64(lanes.terminals[k].reach) * size
        r1 = np.int64(lanes.terminals[min(k + 1, last)].reach) * size
        r2 = np.int64(lanes.terminals[min(k + 2, last)].reach) * size
        r3 = np.int64(lanes.terminals[min(k + 3, last)].reach) * size
        sums = work.sums[quad * SUMS_SIZE :]
        # Showdowns come first in the list.
        if lanes.terminals[k].show >= 0:
            _rank_sums(work.reach, r0, r1, r2, r3, hands, n, sums, work.ranked[quad * ABREAST * size :])
        else:
            _card_sums(work.reach, r0, r1, r2, r3, hands, n, sums)


@njit(cache=True, nogil=True)
def _settle_tile(
    lanes: Any, b: int, hands: Any, first: int, last: int, n: int, pays: Any, work: Any, value: Any
) -> None:
    """Values of a block's terminals for the hands of a tile; `value` is ``[row, hand of the tile, lane]``."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    for k in range(shape.terminals_end - shape.terminals):
        end = lanes.terminals[shape.terminals + k]
        first_pay = np.int64(block.pays + end.pays) * 3 * WIDTH
        half, lose = load(pays, first_pay), load(pays, first_pay + WIDTH)
        folds = load(pays, first_pay + 2 * WIDTH)
        shift = np.int64(k // ABREAST) * SUMS_SIZE + (k % ABREAST) * WIDTH
        total = load(work.sums, shift + NUM_CARDS * _SUMS)
        reach, ranked = np.int64(end.reach) * size, np.int64(k) * size
        show, fold = np.int64(end.show) * TILE * WIDTH, np.int64(end.fold) * TILE * WIDTH
        if end.show >= 0 and end.fold >= 0:
            for h in range(first, last):
                mine = load(work.reach, reach + h * WIDTH)
                met = _met(work.sums, shift, total, hands, h) + mine
                worth = fused(half, load(work.ranked, ranked + h * WIDTH) + mine, lose * met)
                _put(value, show + (h - first) * WIDTH, worth, end.show_adds)
                _put(value, fold + (h - first) * WIDTH, folds * met, end.fold_adds)
        elif end.show >= 0:
            for h in range(first, last):
                mine = load(work.reach, reach + h * WIDTH)
                met = _met(work.sums, shift, total, hands, h) + mine
                worth = fused(half, load(work.ranked, ranked + h * WIDTH) + mine, lose * met)
                _put(value, show + (h - first) * WIDTH, worth, end.show_adds)
        else:
            for h in range(first, last):
                met = _met(work.sums, shift, total, hands, h) + load(work.reach, reach + h * WIDTH)
                _put(value, fold + (h - first) * WIDTH, folds * met, end.fold_adds)


@njit(cache=True, nogil=True)
def _met(sums: Any, shift: int, total: Any, hands: Any, h: int) -> Any:
    """Reach of the opponents that share no card with a hand, the hand itself not put back."""
    a = shift + np.int64(hands.card1[h]) * _SUMS
    c = shift + np.int64(hands.card2[h]) * _SUMS
    return total - load(sums, a) - load(sums, c)


@njit(cache=True, nogil=True)
def _ascend_best(lanes: Any, b: int, count: int, value: Any) -> None:
    """Take the best action at the own nodes of a block, children first."""
    shape = lanes.programs[lanes.blocks[b].program]
    for i in range(shape.updates, shape.updates_end):
        node = lanes.updates[i]
        row = np.int64(node.row) * TILE * WIDTH
        child = np.int64(node.child) * TILE * WIDTH
        second, third = child + TILE * WIDTH, child + 2 * TILE * WIDTH
        if node.actions == 2:
            for at in range(0, count * WIDTH, WIDTH):
                _put(value, row + at, largest(load(value, child + at), load(value, second + at)), node.adds)
        elif node.actions == 3:
            for at in range(0, count * WIDTH, WIDTH):
                best = largest(load(value, child + at), load(value, second + at))
                _put(value, row + at, largest(best, load(value, third + at)), node.adds)
        else:
            for at in range(0, count * WIDTH, WIDTH):
                best = load(value, child + at)
                for a in range(1, node.actions):
                    best = largest(best, load(value, child + a * TILE * WIDTH + at))
                _put(value, row + at, best, node.adds)


@njit(cache=True, nogil=True)
def _ascend_plain(
    lanes: Any, b: int, buckets: Any, first: int, last: int, num_buckets: int, sigma: Any, value: Any
) -> None:
    """Play the strategy at the own nodes of a block, children first."""
    shape = lanes.programs[lanes.blocks[b].program]
    for i in range(shape.updates, shape.updates_end):
        node = lanes.updates[i]
        actions = np.int64(node.actions)
        start = np.int64(node.table) * num_buckets * WIDTH
        row = np.int64(node.row) * TILE * WIDTH
        child = np.int64(node.child) * TILE * WIDTH
        for h in range(first, last):
            at = (h - first) * WIDTH
            played = start + np.int64(buckets[h]) * actions * WIDTH
            mixed = load(sigma, played) * load(value, child + at)
            for a in range(1, actions):
                mixed = fused(
                    load(sigma, played + a * WIDTH), load(value, child + a * TILE * WIDTH + at), mixed
                )
            _put(value, row + at, mixed, node.adds)


@njit(cache=True, nogil=True)
def _add_roots(combos: Any, first: int, last: int, weight: float, value: Any, roots: Any) -> None:
    factor = splat(value, weight)
    for h in range(first, last):
        at = np.int64(combos[h]) * WIDTH
        store(roots, at, fused(factor, load(value, (h - first) * WIDTH), load(roots, at)))


@njit(cache=True, nogil=True)
def _river_hands(rivers: Any, r: int) -> Any:
    """What the terminals read about the hands of one river."""
    ends = rivers.group_end[r, : rivers.num_groups[r]]
    return Hands(rivers.card1[r], rivers.card2[r], ends, rivers.weights)


@njit(cache=True, nogil=True)
def _value_block(
    lanes: Any,
    b: int,
    rivers: Any,
    pays: Any,
    source: Any,
    table: int,
    num_buckets: int,
    from_reach: Any,
    root: int,
    best: bool,
    plain: bool,
    work: Any,
) -> None:
    """Values of a block's roots by combo summed over the rivers, into `best_roots` and `plain_roots`.

    ``from_reach[root :]`` is the opponent's reach of the roots by combo. `best` and `plain` say what is asked for.
    """
    shape = lanes.programs[lanes.blocks[b].program]
    _normalise(lanes, b, source, table, num_buckets, rivers.used, plain, work.sigma)
    _fill_zero(work.best_roots, 0, NUM_COMBOS * WIDTH)
    _fill_zero(work.plain_roots, 0, NUM_COMBOS * WIDTH)
    values = np.int64(shape.value_rows) * TILE * WIDTH
    n = rivers.combos.shape[1]
    for r in range(len(rivers.weights)):
        hands = _river_hands(rivers, r)
        _river_reach(lanes, b, r, rivers, num_buckets, from_reach, root, work)
        _river_sums(lanes, b, hands, n, work)
        for first in range(0, n, TILE):
            last = min(first + TILE, n)
            _settle_tile(lanes, b, hands, first, last, n, pays, work, work.best)
            if plain:
                for k in range(0, values, WIDTH):
                    store(work.plain, k, load(work.best, k))
                _ascend_plain(lanes, b, rivers.buckets[r], first, last, num_buckets, work.sigma, work.plain)
                _add_roots(rivers.combos[r], first, last, rivers.weights[r], work.plain, work.plain_roots)
            if best:
                _ascend_best(lanes, b, last - first, work.best)
                _add_roots(rivers.combos[r], first, last, rivers.weights[r], work.best, work.best_roots)
