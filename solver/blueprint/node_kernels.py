"""Kernels of the decisions of a street: reach goes down, values come up, regrets grow.

Rows of reach and values are ``[hand, lane]`` (`solver.blueprint.plan`, `solver.blueprint.terminals`),
tables ``[block, node, bucket, action, lane]``. Strategies are read by regret matching, which turns regrets
into the current strategy and the numerator of the average into the average strategy. The hands of a bucket
share a strategy and are handled in runs, so that a table entry is read and written once. Arrays of both
element types work, all of one call alike: float32 to train, float64 where rounding is to be excluded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.blueprint.sweep_arrays import BEST_RESPONSE, UPDATE
from solver.blueprint.terminals import _any_positive, _fill_zero, _put
from solver.cfr.simd import WIDTH, fused, largest, load, splat, store, where_positive

# Below this the sum of a strategy's weights is taken for zero: its reciprocal would overflow float32.
TINY = 1e-30


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
