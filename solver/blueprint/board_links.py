"""Kernels between streets: reach enters a street from the exits of the one before, and values go back to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.blueprint.terminals import _any_positive, _fill_zero
from solver.cfr.simd import WIDTH


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
