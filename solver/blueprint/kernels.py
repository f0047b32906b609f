"""Kernels of the blueprint: sweeps of the postflop betting over the hands of one full board, in lanes.

Rows of reach and values are ``[hand, lane]`` (`solver.blueprint.plan`, `solver.blueprint.terminals`),
tables ``[block, node, bucket, action, lane]``. Strategies are read by regret matching, which turns regrets
into the current strategy and the numerator of the average into the average strategy. The hands of a bucket
share a strategy and are handled in runs, so that a table entry is read and written once. Arrays of both
element types work, all of one call alike: float32 to train, float64 where rounding is to be excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.blueprint.plan import LaneProgram
from solver.blueprint.river_choices import _ascend_by_choice, _choose_nothing, _descend_by_choice
from solver.blueprint.terminals import (
    ABREAST,
    SUMS_SIZE,
    _any_positive,
    _fill_zero,
    _put,
    _terminals,
    _terminals_by_bucket,
)
from solver.cfr.simd import WIDTH, fused, largest, load, splat, store, where_positive

UPDATE, BEST_RESPONSE, EXPECTED = 0, 1, 2
# How a sweep plays the river: both from the tables, own by best response, own against such a response.
FROM_TABLES, RESPONDS, ANSWERED = 0, 1, 2
# Below this the sum of a strategy's weights is taken for zero: its reciprocal would overflow float32.
TINY = 1e-30


class Runs(NamedTuple):
    """Hands by bucket: ``order[start[r] : start[r + 1]]`` are the rows of ``bucket[r]``, ascending."""

    order: NDArray[np.int32]
    start: NDArray[np.int32]
    bucket: NDArray[np.int32]


def bucket_runs(buckets: NDArray[np.integer]) -> Runs:
    """Group rows by bucket.

    >>> bucket_runs(np.array([4, 2, 4])).order.tolist()
    [1, 0, 2]
    """
    order = np.argsort(buckets, kind="stable").astype(np.int32)
    ordered = np.asarray(buckets)[order]
    edges = np.flatnonzero(np.diff(ordered)) + 1
    if not len(order):
        return Runs(order, np.zeros(1, dtype=np.int32), order)
    start = np.concatenate([[0], edges, [len(order)]]).astype(np.int32)
    return Runs(order, start, ordered[start[:-1]].astype(np.int32))


class BucketShowdown(NamedTuple):
    """A river played by bucket; without runs it is played by hand.

    Attributes
    ----------
    runs
        The board's buckets as rows, one each.
    mass
        Hands in each.
    matrix
        Chance of winning less chance of losing, bucket against bucket, times `met`.
    met
        Share of the opponent's hands that a hand can meet.
    """

    runs: Runs
    mass: NDArray[np.float64]
    matrix: NDArray[Any]
    met: float


def by_hand_showdown(dtype: Any) -> BucketShowdown:
    """A river played by hand."""
    return BucketShowdown(
        bucket_runs(np.empty(0, dtype=np.int32)), np.empty(0), np.empty((0, 0), dtype=dtype), 1.0
    )


class Side(NamedTuple):
    """What a sweep reads about the strategy of one player.

    Attributes
    ----------
    source
        Regrets, or the numerator of the average: strategies follow by regret matching.
    tables
        First entry of flop, turn and river in it.
    num_buckets
        Buckets of flop, turn and river.
    runs
        The hands of the board by bucket on flop, turn and river.
    """

    source: NDArray[Any]
    tables: NDArray[np.int64]
    num_buckets: NDArray[np.int64]
    runs: tuple[Runs, Runs, Runs]


class Work(NamedTuple):
    """Scratch of one sweep.

    `keep` holds 1 per own action and lane, 0 where the action is pruned.
    """

    reach: NDArray[Any]
    value: NDArray[Any]
    alive: NDArray[np.uint8]
    sums: NDArray[Any]
    ranked: NDArray[Any]
    sigma: NDArray[Any]
    totals: NDArray[Any]
    keep: NDArray[Any]
    queue: NDArray[np.int64]
    open: NDArray[np.int64]
    places: NDArray[np.int64]


def make_work(programs: Sequence[LaneProgram], num_hands: int, dtype: Any) -> Work:
    """Scratch for programs over so many hands."""
    size = num_hands * WIDTH
    reach_rows = max(program.reach_rows for program in programs)
    value_rows = max(program.value_rows for program in programs)
    # At least three: strategies of two actions are read like those of three.
    max_actions = max(
        3, *(int(part["actions"].max(initial=0)) for p in programs for part in (p.splits, p.updates))
    )
    return Work(
        reach=np.zeros(reach_rows * size, dtype=dtype),
        value=np.zeros(value_rows * size, dtype=dtype),
        alive=np.zeros(reach_rows, dtype=np.uint8),
        sums=np.zeros(SUMS_SIZE, dtype=dtype),
        ranked=np.zeros(ABREAST * size, dtype=dtype),
        sigma=np.zeros(max_actions * WIDTH, dtype=dtype),
        totals=np.zeros(max_actions * WIDTH, dtype=dtype),
        keep=np.ones(max(program.own_actions for program in programs) * WIDTH, dtype=dtype),
        queue=np.zeros(max(len(program.terminals) for program in programs), dtype=np.int64),
        open=np.zeros(WIDTH, dtype=np.int64),
        places=np.zeros(WIDTH, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _strategy(source: Any, at: int, actions: int, sigma: Any) -> None:
    """Regret matching: the strategy of one bucket at one node into `sigma`, ``[action, lane]``."""
    zero = splat(sigma, 0.0)
    total = largest(load(source, at), zero)
    for a in range(1, actions):
        total = total + largest(load(source, at + a * WIDTH), zero)
    known = total - splat(sigma, TINY)
    share = splat(sigma, 1.0 / actions)
    inverse = splat(sigma, 1.0) / largest(total, splat(sigma, TINY))
    for a in range(actions):
        part = largest(load(source, at + a * WIDTH), zero) * inverse
        store(sigma, a * WIDTH, where_positive(known, part, share))


@njit(cache=True, nogil=True)
def _descend(
    lanes: Any,
    b: int,
    n: int,
    runs: Any,
    source: Any,
    table: int,
    num_buckets: int,
    average: Any,
    weight: float,
    work: Any,
) -> None:
    """Split the opponent's reach over the actions of its nodes, parents first.

    `source` holds the regrets (or average) that strategies come from, `table` the street's start in it.
    With a `weight` above zero the split reach, times it, is added to `average`: own reach times strategy.
    """
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    reach, sigma = work.reach, work.sigma
    gain = splat(reach, weight)
    for i in range(shape.splits, shape.splits_end):
        split = lanes.splits[i]
        actions = np.int64(split.actions)
        child = np.int64(block.reach + split.child)
        row = np.int64(block.reach + split.row)
        if work.alive[row] == 0:
            for a in range(actions):
                work.alive[child + a] = 0
            continue
        start = table + np.int64(block.table + split.table) * num_buckets * WIDTH
        from_row = row * size
        first, second, third = child * size, (child + 1) * size, (child + 2) * size
        for r in range(len(runs.bucket)):
            at = start + np.int64(runs.bucket[r]) * actions * WIDTH
            _strategy(source, at, actions, sigma)
            begin, end = runs.start[r], runs.start[r + 1]
            all_reach = splat(reach, 0.0)
            if actions == 2 or actions == 3:
                s0, s1, s2 = load(sigma, 0), load(sigma, WIDTH), load(sigma, 2 * WIDTH)
                for k in range(begin, end):
                    h = np.int64(runs.order[k]) * WIDTH
                    here = load(reach, from_row + h)
                    all_reach = all_reach + here
                    store(reach, first + h, s0 * here)
                    store(reach, second + h, s1 * here)
                    if actions == 3:
                        store(reach, third + h, s2 * here)
            else:
                for k in range(begin, end):
                    h = np.int64(runs.order[k]) * WIDTH
                    here = load(reach, from_row + h)
                    all_reach = all_reach + here
                    for a in range(actions):
                        store(reach, first + a * size + h, load(sigma, a * WIDTH) * here)
            if weight > 0.0:
                all_reach = gain * all_reach
                for a in range(actions):
                    now = fused(all_reach, load(sigma, a * WIDTH), load(average, at + a * WIDTH))
                    store(average, at + a * WIDTH, now)
        for a in range(actions):
            work.alive[child + a] = _any_positive(reach, first + a * size, size)


@njit(cache=True, nogil=True)
def _ascend(
    lanes: Any,
    b: int,
    n: int,
    runs: Any,
    mass: Any,
    source: Any,
    table: int,
    num_buckets: int,
    mode: int,
    weight: float,
    work: Any,
) -> None:
    """Combine the action values of the own nodes, children first; in `UPDATE` mode add regrets to `source`.

    The hands of a bucket share a strategy, so their regrets follow from the sum of their action values.
    """
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    base = block.value * size
    value = work.value
    for i in range(shape.updates, shape.updates_end):
        update = lanes.updates[i]
        actions = np.int64(update.actions)
        row = base + update.row * size
        if work.alive[block.reach + update.reach] == 0:
            if update.adds == 0:
                _fill_zero(value, row, size)
            continue
        first = base + update.child * size
        if mode == BEST_RESPONSE:
            for h in range(0, size, WIDTH):
                best = load(value, first + h)
                for a in range(1, actions):
                    best = largest(best, load(value, first + a * size + h))
                _put(value, row + h, best, update.adds)
        else:
            start = table + np.int64(block.table + update.table) * num_buckets * WIDTH
            keep = np.int64(block.actions + update.number) * WIDTH
            if actions == 2:
                _mix_two(runs, row, update.adds, keep, first, size, mass, source, start, mode, weight, work)
            elif actions == 3:
                _mix_three(runs, row, update.adds, keep, first, size, mass, source, start, mode, weight, work)
            else:
                _mix_many(
                    runs,
                    row,
                    update.adds,
                    keep,
                    first,
                    size,
                    actions,
                    mass,
                    source,
                    start,
                    mode,
                    weight,
                    work,
                )


@njit(cache=True, nogil=True)
def _gain(regret: Any, at: int, weight: Any, more: Any, keep: Any, kept: int) -> None:
    """Add to the regrets of an action in the lanes that keep it."""
    store(regret, at, fused(weight * load(keep, kept), more, load(regret, at)))


@njit(cache=True, nogil=True)
def _mix_two(
    runs: Any,
    row: int,
    adds: int,
    keep: int,
    first: int,
    size: int,
    mass: Any,
    source: Any,
    start: int,
    mode: int,
    weight: float,
    work: Any,
) -> None:
    """Node values of two actions under the strategy in `source`, which gains the regrets in `UPDATE` mode."""
    value, sigma = work.value, work.sigma
    second = first + size
    gain = splat(value, weight)
    for r in range(len(runs.bucket)):
        at = start + np.int64(runs.bucket[r]) * 2 * WIDTH
        _strategy(source, at, 2, sigma)
        s0, s1 = load(sigma, 0), load(sigma, WIDTH)
        all0 = splat(value, 0.0)
        all1 = all0
        for k in range(runs.start[r], runs.start[r + 1]):
            hand = np.int64(runs.order[k])
            h = hand * WIDTH
            v0, v1 = load(value, first + h), load(value, second + h)
            _put(value, row + h, fused(s0, v0, s1 * v1), adds)
            heads = splat(value, mass[hand])
            all0, all1 = fused(heads, v0, all0), fused(heads, v1, all1)
        if mode == UPDATE:
            mean = fused(s0, all0, s1 * all1)
            _gain(source, at, gain, all0 - mean, work.keep, keep)
            _gain(source, at + WIDTH, gain, all1 - mean, work.keep, keep + WIDTH)


@njit(cache=True, nogil=True)
def _mix_three(
    runs: Any,
    row: int,
    adds: int,
    keep: int,
    first: int,
    size: int,
    mass: Any,
    source: Any,
    start: int,
    mode: int,
    weight: float,
    work: Any,
) -> None:
    """As `_mix_two`, for three actions."""
    value, sigma = work.value, work.sigma
    second, third = first + size, first + 2 * size
    gain = splat(value, weight)
    for r in range(len(runs.bucket)):
        at = start + np.int64(runs.bucket[r]) * 3 * WIDTH
        _strategy(source, at, 3, sigma)
        s0, s1, s2 = load(sigma, 0), load(sigma, WIDTH), load(sigma, 2 * WIDTH)
        all0 = splat(value, 0.0)
        all1, all2 = all0, all0
        for k in range(runs.start[r], runs.start[r + 1]):
            hand = np.int64(runs.order[k])
            h = hand * WIDTH
            v0, v1, v2 = load(value, first + h), load(value, second + h), load(value, third + h)
            _put(value, row + h, fused(s0, v0, fused(s1, v1, s2 * v2)), adds)
            heads = splat(value, mass[hand])
            all0, all1, all2 = fused(heads, v0, all0), fused(heads, v1, all1), fused(heads, v2, all2)
        if mode == UPDATE:
            mean = fused(s0, all0, fused(s1, all1, s2 * all2))
            _gain(source, at, gain, all0 - mean, work.keep, keep)
            _gain(source, at + WIDTH, gain, all1 - mean, work.keep, keep + WIDTH)
            _gain(source, at + 2 * WIDTH, gain, all2 - mean, work.keep, keep + 2 * WIDTH)


@njit(cache=True, nogil=True)
def _mix_many(
    runs: Any,
    row: int,
    adds: int,
    keep: int,
    first: int,
    size: int,
    actions: int,
    mass: Any,
    source: Any,
    start: int,
    mode: int,
    weight: float,
    work: Any,
) -> None:
    """As `_mix_two`, for any number of actions."""
    value, sigma, totals = work.value, work.sigma, work.totals
    zero = splat(value, 0.0)
    gain = splat(value, weight)
    for r in range(len(runs.bucket)):
        at = start + np.int64(runs.bucket[r]) * actions * WIDTH
        _strategy(source, at, actions, sigma)
        _fill_zero(totals, 0, actions * WIDTH)
        for k in range(runs.start[r], runs.start[r + 1]):
            hand = np.int64(runs.order[k])
            h = hand * WIDTH
            heads = splat(value, mass[hand])
            mixed = zero
            for a in range(actions):
                v = load(value, first + a * size + h)
                mixed = fused(load(sigma, a * WIDTH), v, mixed)
                store(totals, a * WIDTH, fused(heads, v, load(totals, a * WIDTH)))
            _put(value, row + h, mixed, adds)
        if mode == UPDATE:
            mean = zero
            for a in range(actions):
                mean = fused(load(sigma, a * WIDTH), load(totals, a * WIDTH), mean)
            for a in range(actions):
                more = load(totals, a * WIDTH) - mean
                _gain(source, at + a * WIDTH, gain, more, work.keep, keep + a * WIDTH)


@njit(cache=True, nogil=True)
def _prune(
    lanes: Any, b: int, runs: Any, regret: Any, table: int, num_buckets: int, threshold: float, work: Any
) -> None:
    """Mark the actions whose regret is below the threshold in every bucket on this board."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    zero = splat(regret, 0.0)
    one = splat(regret, 1.0)
    limit = splat(regret, threshold)
    for i in range(shape.updates, shape.updates_end):
        update = lanes.updates[i]
        actions = np.int64(update.actions)
        start = table + np.int64(block.table + update.table) * num_buckets * WIDTH
        keep = np.int64(block.actions + update.number) * WIDTH
        _fill_zero(work.keep, keep, actions * WIDTH)
        for r in range(len(runs.bucket)):
            at = start + np.int64(runs.bucket[r]) * actions * WIDTH
            total = zero
            for a in range(actions):
                total = total + largest(load(regret, at + a * WIDTH), zero)
            # Without a positive regret all actions are played alike, so all are needed.
            needed = where_positive(total, zero, one)
            for a in range(actions):
                good = where_positive(load(regret, at + a * WIDTH) - limit, one, needed)
                store(work.keep, keep + a * WIDTH, largest(load(work.keep, keep + a * WIDTH), good))


@njit(cache=True, nogil=True)
def _is_open(lanes: Any, link: Any, work: Any) -> bool:
    """Whether a lane's root is reached: the opponent gets there and no own action on the way is pruned."""
    if link.block < 0:
        return False
    source = lanes.blocks[link.block]
    if work.alive[source.reach + link.reach] == 0:
        return False
    way_out = lanes.exits[link.exit]
    for k in range(way_out.path, way_out.path_end):
        if work.keep[np.int64(source.actions + lanes.paths[k]) * WIDTH + link.lane] == 0.0:
            return False
    return True


@njit(cache=True, nogil=True)
def _find_open(lanes: Any, b: int, work: Any) -> int:
    """List the lanes of a block whose roots are reached in `work.open`; returns how many there are."""
    count = 0
    for lane in range(WIDTH):
        if _is_open(lanes, lanes.links[b * WIDTH + lane], work):
            work.open[count] = lane
            count += 1
    return count


@njit(cache=True, nogil=True)
def _enter(lanes: Any, b: int, n: int, work: Any) -> bool:
    """Take over the reach of a block's roots from the exits of the street before; False if there is none."""
    block = lanes.blocks[b]
    size = np.int64(n * WIDTH)
    root = block.reach * size
    count = _find_open(lanes, b, work)
    for k in range(count):
        link = lanes.links[b * WIDTH + work.open[k]]
        work.places[k] = (lanes.blocks[link.block].reach + link.reach) * size + link.lane
    if count < WIDTH:
        _fill_zero(work.reach, root, size)
    # All lanes of a hand at once: neighbours mostly come from the same row.
    for h in range(0, size, WIDTH):
        for k in range(count):
            work.reach[root + h + work.open[k]] = work.reach[work.places[k] + h]
    work.alive[block.reach] = count > 0 and _any_positive(work.reach, root, size)
    return work.alive[block.reach] != 0


@njit(cache=True, nogil=True)
def _leave(lanes: Any, b: int, n: int, work: Any) -> None:
    """Add the values of a block's roots to the exits of the street before."""
    block = lanes.blocks[b]
    size = np.int64(n * WIDTH)
    root = block.value * size
    count = _find_open(lanes, b, work)
    for k in range(count):
        link = lanes.links[b * WIDTH + work.open[k]]
        work.places[k] = (lanes.blocks[link.block].value + link.row) * size + link.lane
    for h in range(0, size, WIDTH):
        for k in range(count):
            work.value[work.places[k] + h] += work.value[root + h + work.open[k]]


@njit(cache=True, nogil=True)
def _clear_exits(lanes: Any, b: int, n: int, work: Any) -> None:
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    for k in range(shape.exits, shape.exits_end):
        if lanes.exits[k].adds == 0:
            _fill_zero(work.value, (block.value + lanes.exits[k].row) * size, size)


@njit(cache=True, nogil=True)
def _enter_buckets(lanes: Any, b: int, n: int, runs: Any, work: Any, low: Any) -> bool:
    """As `_enter` on a river played by bucket: a row of `low` sums the reach of a bucket's hands."""
    block = lanes.blocks[b]
    size = np.int64(n * WIDTH)
    rows = len(runs.bucket)
    root = block.reach * np.int64(rows * WIDTH)
    _fill_zero(low.reach, root, rows * WIDTH)
    for lane in range(WIDTH):
        link = lanes.links[b * WIDTH + lane]
        if not _is_open(lanes, link, work):
            continue
        begin = (lanes.blocks[link.block].reach + link.reach) * size + link.lane
        for r in range(rows):
            total = work.reach[begin + np.int64(runs.order[runs.start[r]]) * WIDTH]
            for k in range(runs.start[r] + 1, runs.start[r + 1]):
                total += work.reach[begin + np.int64(runs.order[k]) * WIDTH]
            low.reach[root + r * WIDTH + lane] = total
    low.alive[block.reach] = _any_positive(low.reach, root, rows * WIDTH)
    return low.alive[block.reach] != 0


@njit(cache=True, nogil=True)
def _leave_buckets(lanes: Any, b: int, n: int, runs: Any, work: Any, low: Any) -> None:
    """As `_leave`: every hand gains its bucket's value."""
    block = lanes.blocks[b]
    size = np.int64(n * WIDTH)
    rows = len(runs.bucket)
    root = block.value * np.int64(rows * WIDTH)
    for lane in range(WIDTH):
        link = lanes.links[b * WIDTH + lane]
        if not _is_open(lanes, link, work):
            continue
        to = (lanes.blocks[link.block].value + link.row) * size + link.lane
        for r in range(rows):
            value = low.value[root + r * WIDTH + lane]
            for k in range(runs.start[r], runs.start[r + 1]):
                work.value[to + np.int64(runs.order[k]) * WIDTH] += value


@njit(cache=True, nogil=True)
def _set_roots(lanes: Any, reach: Any, keys: Any, n: int, work: Any) -> None:
    """Spread the reach by line and key of the hand (class or combo) over the lanes of the first street."""
    size = np.int64(n * WIDTH)
    begin, end = lanes.street_blocks[lanes.root_street], lanes.street_blocks[lanes.root_street + 1]
    for b in range(begin, end):
        _fill_zero(work.reach, lanes.blocks[b].reach * size, size)
    for line in range(len(lanes.entry)):
        root = lanes.blocks[lanes.entry[line, 0]].reach * size + lanes.entry[line, 1]
        for h in range(n):
            work.reach[root + h * WIDTH] = reach[line, keys[h]]
    for b in range(begin, end):
        row = lanes.blocks[b].reach
        work.alive[row] = _any_positive(work.reach, row * size, size)


@njit(cache=True, nogil=True)
def _sum_by_key(lanes: Any, keys: Any, n: int, scale: float, work: Any, out: Any) -> None:
    """Add the root values of every line to ``out[line, key of the hand]``."""
    size = np.int64(n * WIDTH)
    for line in range(len(lanes.entry)):
        block = lanes.blocks[lanes.entry[line, 0]]
        if work.alive[block.reach] == 0:
            continue
        root = block.value * size + lanes.entry[line, 1]
        for h in range(n):
            out[line, keys[h]] += scale * work.value[root + h * WIDTH]


@njit(cache=True, nogil=True)
def _river_by_bucket(
    lanes: Any,
    b: int,
    pays: Any,
    n: int,
    own: Any,
    opponent: Any,
    average: Any,
    mode: int,
    weight: float,
    gain: float,
    by_bucket: Any,
    work: Any,
    low: Any,
) -> None:
    """Sweep one block of a river that is played by bucket."""
    if not _enter_buckets(lanes, b, n, own.runs[2], work, low):
        return
    rows = by_bucket.runs
    size = len(rows.bucket)
    river, buckets = opponent.tables[2], opponent.num_buckets[2]
    _descend(lanes, b, size, rows, opponent.source, river, buckets, average, gain, low)
    _terminals_by_bucket(lanes, b, size, by_bucket.matrix, by_bucket.met, pays, low)
    river, buckets = own.tables[2], own.num_buckets[2]
    _ascend(lanes, b, size, rows, by_bucket.mass, own.source, river, buckets, mode, weight, low)
    _leave_buckets(lanes, b, n, own.runs[2], work, low)


@njit(cache=True, nogil=True)
def _river_by_hand(
    lanes: Any,
    b: int,
    pays: Any,
    hands: Any,
    n: int,
    own: Any,
    opponent: Any,
    average: Any,
    mode: int,
    weight: float,
    gain: float,
    river: int,
    choices: Any,
    work: Any,
) -> None:
    """Sweep one block of a river that is played by hand."""
    if lanes.root_street < 2 and not _enter(lanes, b, n, work):
        if river == RESPONDS:
            _choose_nothing(lanes, b, n, choices)
        return
    if river == ANSWERED:
        _descend_by_choice(lanes, b, n, choices, work)
    else:
        table, buckets = opponent.tables[2], opponent.num_buckets[2]
        _descend(lanes, b, n, opponent.runs[2], opponent.source, table, buckets, average, gain, work)
    _terminals(lanes, b, n, hands, pays, work)
    if river == RESPONDS:
        _ascend_by_choice(lanes, b, n, choices, work)
    else:
        table, buckets = own.tables[2], own.num_buckets[2]
        _ascend(lanes, b, n, own.runs[2], hands.mass, own.source, table, buckets, mode, weight, work)
    if lanes.root_street < 2:
        _leave(lanes, b, n, work)


@njit(cache=True, nogil=True)
def _sweep_board(
    lanes: Any,
    pays: Any,
    hands: Any,
    keys: Any,
    own: Any,
    opponent: Any,
    reach: Any,
    average: Any,
    mode: int,
    weight: float,
    river: int,
    choices: Any,
    by_bucket: Any,
    prune_below: float,
    work: Any,
    low: Any,
    out: Any,
) -> None:
    """Sweep all lines on one board for the lanes' own player, adding root values to ``out[line, key]``.

    `own` and `opponent` are the `Side` of each player. `UPDATE` adds regrets to the source of `own` and the
    opponent's play to `average` (not where that is empty); `EXPECTED` changes nothing. What is added is times
    `weight`. `river` says how the river is played: from the tables, by a best response whose `choices` are
    kept, or against such choices. With a matrix in `by_bucket` the river is played by bucket, in the rows of
    `low`. On flop and turn, own actions are pruned below the regret `prune_below`.
    """
    n = len(keys)
    updating = mode == UPDATE
    gain = weight if updating and len(average) > 0 else 0.0
    _set_roots(lanes, reach, keys, n, work)
    for s in range(2):
        table, buckets = opponent.tables[s], opponent.num_buckets[s]
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            if s > lanes.root_street:
                _enter(lanes, b, n, work)
            _descend(lanes, b, n, opponent.runs[s], opponent.source, table, buckets, average, gain, work)
            _clear_exits(lanes, b, n, work)
            if updating and prune_below > -np.inf:
                _prune(
                    lanes, b, own.runs[s], own.source, own.tables[s], own.num_buckets[s], prune_below, work
                )
    for b in range(lanes.street_blocks[2], lanes.street_blocks[3]):
        if len(by_bucket.runs.bucket) > 0:
            _river_by_bucket(
                lanes, b, pays, n, own, opponent, average, mode, weight, gain, by_bucket, work, low
            )
        else:
            _river_by_hand(
                lanes,
                b,
                pays,
                hands,
                n,
                own,
                opponent,
                average,
                mode,
                weight,
                gain,
                river,
                choices,
                work,
            )
    for s in range(1, -1, -1):
        table, buckets = own.tables[s], own.num_buckets[s]
        for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
            if work.alive[lanes.blocks[b].reach] == 0:
                continue
            _terminals(lanes, b, n, hands, pays, work)
            _ascend(lanes, b, n, own.runs[s], hands.mass, own.source, table, buckets, mode, weight, work)
            if s > lanes.root_street:
                _leave(lanes, b, n, work)
    _sum_by_key(lanes, keys, n, weight, work, out)


@njit(cache=True, nogil=True)
def _scale_row(
    regret: Any, average: Any, row: int, actions: int, buckets: Any, since: Any, factors: Any
) -> None:
    """Discount the entries of some buckets of a row by what they have missed."""
    for r in range(len(buckets)):
        last = since[r]
        up, down = splat(regret, factors[0, last]), splat(regret, factors[1, last])
        keep = splat(regret, factors[2, last])
        start = row + buckets[r] * actions * WIDTH
        for at in range(start, start + actions * WIDTH, WIDTH):
            old = load(regret, at)
            store(regret, at, old * where_positive(old, up, down))
            if len(average) > 0:
                store(average, at, keep * load(average, at))


@njit(cache=True, nogil=True)
def _refresh(
    lanes: Any,
    s: int,
    runs: Any,
    table: int,
    num_buckets: int,
    regret: Any,
    average: Any,
    clock: Any,
    epoch: int,
    factors: Any,
) -> None:
    """Apply the discounts that the buckets of a board have missed on one street.

    ``factors[:, k]`` are the products since epoch k for positive regrets, negative regrets and the average.
    What a bucket misses is discounts only, never an addition, so applying them late changes nothing. An empty
    `average` is left alone.
    """
    due = np.empty(len(runs.bucket), np.int64)
    since = np.empty(len(runs.bucket), np.int64)
    count = 0
    for r in range(len(runs.bucket)):
        k = np.int64(runs.bucket[r])
        last = clock[k]
        if last != epoch and last > 0:
            due[count], since[count] = k, last
            count += 1
        clock[k] = epoch
    if count == 0:  # the second player sweeps the boards of the first
        return
    # Row by row, in the order of memory.
    for b in range(lanes.street_blocks[s], lanes.street_blocks[s + 1]):
        block = lanes.blocks[b]
        shape = lanes.programs[block.program]
        for i in range(shape.splits, shape.splits_end):
            node = lanes.splits[i]
            row = table + np.int64(block.table + node.table) * num_buckets * WIDTH
            _scale_row(regret, average, row, np.int64(node.actions), due[:count], since, factors)
        for i in range(shape.updates, shape.updates_end):
            node = lanes.updates[i]
            row = table + np.int64(block.table + node.table) * num_buckets * WIDTH
            _scale_row(regret, average, row, np.int64(node.actions), due[:count], since, factors)
