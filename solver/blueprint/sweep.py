"""Sweep the postflop betting over the hands of one full board, in lanes: the algorithm.

`node_kernels`, `terminals`, `river_choices` and `board_links` are its steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.blueprint.board_links import (
    _clear_exits,
    _enter,
    _enter_buckets,
    _leave,
    _leave_buckets,
    _set_roots,
    _sum_by_key,
)
from solver.blueprint.node_kernels import _ascend, _descend, _prune
from solver.blueprint.river_choices import _ascend_by_choice, _choose_nothing, _descend_by_choice
from solver.blueprint.sweep_arrays import ANSWERED, RESPONDS, UPDATE
from solver.blueprint.terminals import _terminals, _terminals_by_bucket


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
