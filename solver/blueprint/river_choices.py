"""A best response on the river, hand by hand: the action that every hand takes at every node.

Choices are uint8 ``[action row, hand, lane]``, with the action rows of the river's tables. The row of a node's first
action holds the number of the chosen action, the rows of its other actions stay untouched. So both players' programs
find a node's choices, and memory that is never touched costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.blueprint.terminals import _any_positive, _fill_zero, _put
from solver.cfr.simd import WIDTH, largest, load, load_as, splat, store, store_as, where_positive

#: Choices of a sweep that neither makes nor meets any.
NO_CHOICES = np.zeros(0, dtype=np.uint8)


@njit(cache=True, nogil=True)
def _fill_choices(choices: Any, start: int, size: int) -> None:
    for k in range(start, start + size):
        choices[k] = 0


@njit(cache=True, nogil=True)
def _choose_nothing(lanes: Any, b: int, n: int, choices: Any) -> None:
    """Where the other player never gets, no choice matters: take the first action."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    for i in range(shape.updates, shape.updates_end):
        _fill_choices(choices, np.int64(block.table + lanes.updates[i].table) * size, size)


@njit(cache=True, nogil=True)
def _ascend_by_choice(lanes: Any, b: int, n: int, choices: Any, work: Any) -> None:
    """Give every hand its best action at the own nodes, children first, and keep which one it is."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    base = block.value * size
    value = work.value
    for i in range(shape.updates, shape.updates_end):
        update = lanes.updates[i]
        actions = np.int64(update.actions)
        row = base + update.row * size
        chosen = np.int64(block.table + update.table) * size
        if work.alive[block.reach + update.reach] == 0:
            _fill_choices(choices, chosen, size)
            if update.adds == 0:
                _fill_zero(value, row, size)
            continue
        first = base + update.child * size
        for h in range(0, size, WIDTH):
            best = load(value, first + h)
            choice = splat(value, 0.0)
            for a in range(1, actions):
                other = load(value, first + a * size + h)
                choice = where_positive(other - best, splat(value, a), choice)
                best = largest(other, best)
            store_as(choices, chosen + h, choice)
            _put(value, row + h, best, update.adds)


@njit(cache=True, nogil=True)
def _descend_by_choice(lanes: Any, b: int, n: int, choices: Any, work: Any) -> None:
    """Send the opponent's reach down the actions that its hands have chosen, parents first."""
    block = lanes.blocks[b]
    shape = lanes.programs[block.program]
    size = np.int64(n * WIDTH)
    reach = work.reach
    zero, half = splat(reach, 0.0), splat(reach, 0.5)
    for i in range(shape.splits, shape.splits_end):
        split = lanes.splits[i]
        actions = np.int64(split.actions)
        child = np.int64(block.reach + split.child)
        row = np.int64(block.reach + split.row)
        if work.alive[row] == 0:
            for a in range(actions):
                work.alive[child + a] = 0
            continue
        chosen = np.int64(block.table + split.table) * size
        from_row, first = row * size, child * size
        for h in range(0, size, WIDTH):
            here = load(reach, from_row + h)
            choice = load_as(choices, chosen + h, reach)
            for a in range(actions):
                off = choice - splat(reach, a)
                # Chosen where the difference is zero.
                taken = where_positive(half - off * off, here, zero)
                store(reach, first + a * size + h, taken)
        for a in range(actions):
            work.alive[child + a] = _any_positive(reach, first + a * size, size)
