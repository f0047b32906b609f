"""Sweeps of lines below which each player holds, hand by hand, a choice of several fixed strategies.

The opponent's reach comes split over its strategies, and the own values are wanted for each own one. Terminals
see only the sum of the opponent's reach, so they are evaluated once: a sweep goes down once per strategy of the
opponent and up once per own strategy, instead of both for every pair.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from solver.blueprint.board_links import _enter, _leave, _set_roots, _sum_by_key
from solver.blueprint.node_kernels import _ascend, _descend
from solver.blueprint.sweep_arrays import EXPECTED, Work
from solver.blueprint.terminals import _fill_zero, _terminals
from solver.cfr.simd import WIDTH


@njit(cache=True, nogil=True)
def _with_rows(work: Any, reach: Any, value: Any, alive: Any) -> Any:
    """Scratch with other rows of reach and values."""
    return Work(
        reach,
        value,
        alive,
        work.sums,
        work.ranked,
        work.sigma,
        work.totals,
        work.keep,
        work.queue,
        work.open,
        work.places,
    )


@njit(cache=True, nogil=True)
def _add_up(lanes: Any, b: int, n: int, reaches: Any, alives: Any, work: Any) -> None:
    """Reach of a block as the sum over the opponent's strategies."""
    block = lanes.blocks[b]
    size = n * WIDTH
    for row in range(block.reach, block.reach + lanes.programs[block.program].reach_rows):
        begin = row * size
        work.alive[row] = 0
        for k in range(len(reaches)):
            if alives[k, row] == 0:
                continue
            if work.alive[row] == 0:
                work.reach[begin : begin + size] = reaches[k, begin : begin + size]
            else:
                for at in range(begin, begin + size):
                    work.reach[at] += reaches[k, at]
            work.alive[row] = 1


@njit(cache=True, nogil=True)
def _sweep_choices(
    lanes: Any,
    pays: Any,
    hands: Any,
    keys: Any,
    runs: Any,
    starts: Any,
    num_buckets: Any,
    reach: Any,
    tables: Any,
    weight: float,
    work: Any,
    reaches: Any,
    values: Any,
    alives: Any,
    out: Any,
) -> None:
    """Add the values of all lines on one board, times `weight`, to ``out[own strategy, line, key]``.

    `reach` is the opponent's ``[strategy, line, key]``, `tables` holds the strategies. `reaches`, `values` and `alives`
    are the scratch rows of each strategy. The lines begin on turn or river.
    """
    n, count = len(keys), len(tables)
    size = n * WIDTH
    for k in range(count):
        rows = _with_rows(work, reaches[k], values[k], alives[k])
        _set_roots(lanes, reach[k], keys, n, rows)
    turn, river, end = lanes.street_blocks[1], lanes.street_blocks[2], lanes.street_blocks[3]
    for b in range(turn, river):
        for k in range(count):
            rows = _with_rows(work, reaches[k], values[k], alives[k])
            _descend(lanes, b, n, runs[1], tables[k], starts[1], num_buckets[1], tables[k], 0.0, rows)
        _add_up(lanes, b, n, reaches, alives, work)
        block = lanes.blocks[b]
        height = lanes.programs[block.program].value_rows
        for k in range(count):
            _fill_zero(values[k], block.value * size, height * size)
    for b in range(river, end):
        for k in range(count):
            rows = _with_rows(work, reaches[k], values[k], alives[k])
            if lanes.root_street < 2:
                _enter(lanes, b, n, rows)
            _descend(lanes, b, n, runs[2], tables[k], starts[2], num_buckets[2], tables[k], 0.0, rows)
        _add_up(lanes, b, n, reaches, alives, work)
        block = lanes.blocks[b]
        if work.alive[block.reach] == 0:
            continue
        _terminals(lanes, b, n, hands, pays, work)
        begin = block.value * size
        stop = begin + lanes.programs[block.program].value_rows * size
        for k in range(count):
            values[k, begin:stop] = work.value[begin:stop]
            rows = _with_rows(work, work.reach, values[k], work.alive)
            _ascend(
                lanes, b, n, runs[2], hands.mass, tables[k], starts[2], num_buckets[2], EXPECTED, 1.0, rows
            )
            if lanes.root_street < 2:
                _leave(lanes, b, n, rows)
    for b in range(turn, river):
        block = lanes.blocks[b]
        if work.alive[block.reach] == 0:
            continue
        begin = block.value * size
        stop = begin + lanes.programs[block.program].value_rows * size
        _fill_zero(work.value, begin, stop - begin)
        _terminals(lanes, b, n, hands, pays, work)
        for k in range(count):
            for at in range(begin, stop):
                values[k, at] += work.value[at]
            rows = _with_rows(work, work.reach, values[k], work.alive)
            _ascend(
                lanes, b, n, runs[1], hands.mass, tables[k], starts[1], num_buckets[1], EXPECTED, 1.0, rows
            )
    for k in range(count):
        _sum_by_key(lanes, keys, n, weight, _with_rows(work, work.reach, values[k], work.alive), out[k])
