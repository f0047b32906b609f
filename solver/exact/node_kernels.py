# ruff: noqa: ARG001
"""What CFR does at one node, for all hands at once: rows of one number per hand, eight hands at a time.

A node's action rows follow one another in the tables, `pad` entries each, from `start` on. The rows of its
actions in the scratch arrays are scattered: action a has row ``rows[first + a]``, counted from `base`.

Tables are far larger than caches, and a row ends before the processor sees that it is read from end to end. So kernels
that read a node's rows ask for those of the next one at the same time, as many bytes as they read: the rows behind on
the way down, the rows before on the way up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from solver.cfr.simd import (
    WIDTH,
    fused,
    kernel,
    lane_max,
    lane_sum,
    largest,
    load,
    load_as,
    prefetch,
    splat,
    store,
    where_positive,
)

# Below this the sum of a strategy's weights is taken for zero: its reciprocal would overflow float32.
TINY = 1e-30


@kernel
def _match(
    table: Any, start: int, actions: int, pad: int, reach: Any, row: int, scale: Any, even: Any
) -> None:
    """Regret matching of one node, folded with the reach of its player.

    ``reach * strategy[a] = max(table[a], 0) * scale + even``: scale is reach over the sum of the positive
    entries, even is reach over the number of actions where that sum is zero.
    """
    zero = splat(scale, 0.0)
    tiny = splat(scale, TINY)
    share = splat(scale, 1.0 / actions)
    for h in range(0, pad, WIDTH):
        total = largest(load(table, start + h), zero)
        prefetch(table, start + actions * pad + h)
        for a in range(1, actions):
            prefetch(table, start + (actions + a) * pad + h)
            total = total + largest(load(table, start + a * pad + h), zero)
        here = load(reach, row + h)
        store(scale, h, where_positive(total - tiny, here / total, zero))
        store(even, h, where_positive(total - tiny, zero, here * share))


@kernel
def _split_action(table: Any, start: int, pad: int, scale: Any, even: Any, reach: Any, row: int) -> float:
    """Reach of one action into its row; returns its sum."""
    zero = splat(scale, 0.0)
    total = zero
    for h in range(0, pad, WIDTH):
        part = fused(largest(load(table, start + h), zero), load(scale, h), load(even, h))
        store(reach, row + h, part)
        total = total + part
    return lane_sum(total)


@kernel
def _accumulate(
    average: Any,
    start: int,
    actions: int,
    pad: int,
    reach: Any,
    base: int,
    rows: Any,
    first: int,
    keep: float,
    table: Any,
    behind: int,
) -> None:
    """Add the reach rows of a node's actions to its average, kept by the factor `keep`.

    The next node's averages lie in `table` from `behind` on.
    """
    kept = splat(reach, keep)
    for a in range(actions):
        row = base + np.int64(rows[first + a]) * pad
        at = start + a * pad
        for h in range(0, pad, WIDTH):
            prefetch(table, behind + a * pad + h)
            store(average, at + h, fused(kept, load(average, at + h), load(reach, row + h)))


@kernel
def _mix(
    table: Any, start: int, actions: int, pad: int, value: Any, base: int, rows: Any, first: int, out: Any
) -> None:
    """Value of a node under the matched strategy of `table`."""
    zero = splat(out, 0.0)
    tiny = splat(out, TINY)
    share = splat(out, 1.0 / actions)
    for h in range(0, pad, WIDTH):
        total = zero
        mixed = zero
        plain = zero
        for a in range(actions):
            weight = largest(load(table, start + a * pad + h), zero)
            prefetch(table, start + (a - actions) * pad + h)
            v = load(value, base + np.int64(rows[first + a]) * pad + h)
            total = total + weight
            mixed = fused(weight, v, mixed)
            plain = plain + v
        store(out, h, where_positive(total - tiny, mixed / total, plain * share))


@kernel
def _best(actions: int, pad: int, value: Any, base: int, rows: Any, first: int, out: Any) -> None:
    """Value of a node when every hand takes its best action."""
    for h in range(0, pad, WIDTH):
        best = load(value, base + np.int64(rows[first]) * pad + h)
        for a in range(1, actions):
            best = largest(best, load(value, base + np.int64(rows[first + a]) * pad + h))
        store(out, h, best)


@kernel
def _add_regrets(
    regret: Any,
    start: int,
    actions: int,
    pad: int,
    value: Any,
    base: int,
    rows: Any,
    first: int,
    node_value: Any,
    positive: float,
    negative: float,
    floor: float,
) -> None:
    """Discount a node's regrets and add the instantaneous ones."""
    up = splat(node_value, positive)
    down = splat(node_value, negative)
    lowest = splat(node_value, floor)
    for a in range(actions):
        row = base + np.int64(rows[first + a]) * pad
        at = start + a * pad
        for h in range(0, pad, WIDTH):
            old = load(regret, at + h)
            gain = load(value, row + h) - load(node_value, h)
            store(regret, at + h, largest(fused(old, where_positive(old, up, down), gain), lowest))


@kernel
def _predict(
    regret: Any,
    source: Any,
    start: int,
    actions: int,
    pad: int,
    value: Any,
    base: int,
    rows: Any,
    first: int,
    node_value: Any,
    prediction: float,
) -> None:
    """Regrets that the next iteration would have if the last instantaneous ones came again."""
    again = splat(node_value, prediction)
    for a in range(actions):
        row = base + np.int64(rows[first + a]) * pad
        at = start + a * pad
        for h in range(0, pad, WIDTH):
            gain = load(value, row + h) - load(node_value, h)
            store(source, at + h, fused(load(regret, at + h), again, gain))


@kernel
def _predict_nothing(regret: Any, source: Any, start: int, size: int, discounts: Any, node: Any) -> None:
    """What a predictive update does when all values are zero."""
    keep = discounts.since[0, node.regret_clock]
    node.regret_clock = discounts.iteration
    for h in range(start, start + size):
        regret[h] = regret[h] * keep
        source[h] = regret[h] * discounts.prediction


def _read_packed(table: Any, start: int, size: int, unit: float, fresh: Any) -> tuple[Any, int]:
    """Read 16-bit integers in units of `unit` into `fresh`."""
    factor = splat(fresh, unit)
    for h in range(0, size, WIDTH):
        store(fresh, h, load_as(table, start + h, fresh) * factor)
    return fresh, 0


def _write_packed(table: Any, start: int, size: int, fresh: Any, unit: float) -> float:
    """Write `fresh` as 16-bit integers, the largest of which is the largest there is; returns their unit."""
    most = splat(fresh, 0.0)
    for h in range(0, size, WIDTH):
        value = load(fresh, h)
        most = largest(most, largest(value, splat(fresh, 0.0) - value))
    unit = lane_max(most) / np.iinfo(table.dtype).max
    factor = splat(fresh, 1.0 / unit if unit > 0.0 else 0.0)
    for h in range(0, size, WIDTH):
        store(table, start + h, load(fresh, h) * factor)
    return unit


def _read_floats(table: Any, start: int, size: int, unit: float, fresh: Any) -> tuple[Any, int]:
    return table, start


def _write_floats(table: Any, start: int, size: int, fresh: Any, unit: float) -> float:
    return unit


def _unpacked(table: Any, start: Any, size: Any, unit: Any, fresh: Any) -> Any:
    """A node's entries as floats: the array that holds them, and where they start in it."""


def _packed(table: Any, start: Any, size: Any, fresh: Any, unit: Any) -> Any:
    """Put the entries that `_unpacked` gave back; returns their unit."""


# The element type decides here which half is compiled at all.
@overload(_unpacked, strict=False)
def _choose_reader(table: Any, start: Any, size: Any, unit: Any, fresh: Any) -> Any:
    return _read_floats if isinstance(table.dtype, types.Float) else _read_packed


@overload(_packed, strict=False)
def _choose_writer(table: Any, start: Any, size: Any, fresh: Any, unit: Any) -> Any:
    return _write_floats if isinstance(table.dtype, types.Float) else _write_packed


@kernel
def _mirror(table: Any, start: int, actions: int, pad: int, mirrors: Any, first: int, end: int) -> None:
    """Make hands that equivalent suits turn into one another exactly equal."""
    for a in range(actions):
        row = start + a * pad
        for k in range(first, end):
            table[row + mirrors[k].target] = table[row + mirrors[k].source]


@kernel
def _fix_split(
    locked: Any, lock: int, actions: int, pad: int, reach: Any, row: int, base: int, rows: Any, first: int
) -> None:
    """Give locked hands their fixed strategy."""
    for h in range(pad):
        if locked[lock + h] >= 0.0:
            for a in range(actions):
                reach[base + np.int64(rows[first + a]) * pad + h] = (
                    reach[row + h] * locked[lock + a * pad + h]
                )


@kernel
def _fix_value(
    locked: Any, lock: int, actions: int, pad: int, value: Any, base: int, rows: Any, first: int, out: Any
) -> None:
    """Value of locked hands under their fixed strategy."""
    for h in range(pad):
        if locked[lock + h] >= 0.0:
            total = 0.0
            for a in range(actions):
                total += value[base + np.int64(rows[first + a]) * pad + h] * locked[lock + a * pad + h]
            out[h] = total


@kernel
def _row_sum(row: Any, start: int, pad: int) -> float:
    total = load(row, start)
    for h in range(WIDTH, pad, WIDTH):
        total = total + load(row, start + h)
    return lane_sum(total)
