"""Kernels that discount a row of the tables when it is next touched."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.cfr.simd import WIDTH, load, splat, store, where_positive


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
