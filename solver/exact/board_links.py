"""What passes between a board and its parent, and between a leaf and whoever values it.

Reach goes from a board to the boards of the next street, values come back. Leaves hand their reach to flat arrays
of `Layout`, and take their values from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solver.cfr.simd import WIDTH, fused, kernel, lane_sum, load, splat, store


@kernel
def _enter(game: Any, s: int, b: int, weights: Any, above: Any, work: Any) -> None:
    """Take over the opponent's reach on a board: its range at the root, else what left the parent, kept in `above`."""
    side = game.opp_boards[b]
    pad = np.int64(side.pad)
    base, live = work.starts[s, 0], work.starts[s, 2]
    zero = splat(work.reach, 0.0)
    if s == 0:
        # A tree of several roots has one row of weights for each.
        for h in range(0, len(weights), WIDTH):
            store(work.reach, base + h, load(weights, h))
        for k in range(len(weights) // pad):
            work.alive[live + k] = 1
    else:
        exits = game.streets[s - 1].exits
        parent_pad = np.int64(game.opp_boards[game.boards[b].parent].pad)
        scale = splat(work.reach, game.scales[s, 0])
        for k in range(game.streets[s - 1].exits_end - exits):
            leaving = game.exits[exits + k].reach
            if above.alive[above.starts[s - 1, 2] + leaving] == 0:
                work.alive[live + k] = 0
                continue
            row = base + k * pad
            begin = above.starts[s - 1, 0] + leaving * parent_pad
            for r in range(side.runs, side.runs_end):
                run = game.opp_runs[r]
                # A run may write past its end; the next run or the padding overwrites that.
                for h in range(0, run.size, WIDTH):
                    store(work.reach, row + run.target + h, load(above.reach, begin + run.source + h))
            store(work.reach, row + side.count, zero)
            total = zero
            for h in range(0, pad, WIDTH):
                scaled = load(work.reach, row + h) * scale
                store(work.reach, row + h, scaled)
                total = total + scaled
            work.alive[live + k] = lane_sum(total) > 0.0


@kernel
def _clear_values(game: Any, s: int, b: int, work: Any) -> None:
    """Zero the value rows that several children add to."""
    street = game.streets[s]
    pad = np.int64(game.own_boards[b].pad)
    zero = splat(work.value, 0.0)
    for k in range(street.clear, street.clear_end):
        row = work.starts[s, 1] + game.clear[k] * pad
        for h in range(0, pad, WIDTH):
            store(work.value, row + h, zero)


@kernel
def _leave(game: Any, s: int, b: int, totals: Any, start: int, work: Any) -> None:
    """Add a board's values to its parent's totals: as they are, and for each exchange it stands for."""
    side, parent = game.own_boards[b], game.own_boards[game.boards[b].parent]
    pad, parent_pad = np.int64(side.pad), np.int64(parent.pad)
    base, live = work.starts[s, 1], work.starts[s, 2]
    exits = game.streets[s - 1].exits_end - game.streets[s - 1].exits
    which = 1 + 2 * np.int64(game.boards[b].images)
    copy = 0
    while which >> copy != 0:
        if (which >> copy) & 1 != 0:
            for k in range(exits):
                if work.alive[live + k] == 0:
                    continue
                row = base + k * pad
                target = start + (copy * exits + k) * parent_pad
                for r in range(side.runs, side.runs_end):
                    run = game.own_runs[r]
                    to, begin = target + run.source, row + run.target
                    for h in range(0, run.size, WIDTH):
                        mask = load(work.mask, max(WIDTH - (run.size - h), 0))
                        store(totals, to + h, fused(mask, load(work.value, begin + h), load(totals, to + h)))
        copy += 1


@kernel
def _collect(game: Any, s: int, b: int, groups: int, totals: Any, work: Any) -> None:
    """Add the totals of the next street to the exits' value rows, exchanging suits where needed."""
    street, side = game.streets[s], game.own_boards[b]
    pad = np.int64(side.pad)
    exits = street.exits_end - street.exits
    source, first = (totals, np.int64(0)) if s == 0 else (work.totals, work.starts[s, 3])
    for group in range(groups):
        start = first + group * _group_step(game)
        for k in range(exits):
            row = work.starts[s, 1] + game.exits[street.exits + k].row * pad
            for h in range(0, pad, WIDTH):
                store(work.value, row + h, load(work.value, row + h) + load(source, start + k * pad + h))
            for m in range(game.boards[b].num_swaps):
                swap = side.swaps + m * side.count
                begin = start + ((m + 1) * exits + k) * pad
                for h in range(side.count):
                    work.value[row + game.own_swap[swap + h]] += source[begin + h]


@kernel
def _clear_totals(game: Any, s: int, b: int, groups: int, totals: Any, work: Any) -> None:
    """Zero the totals that the boards of the next street add to."""
    if s == 0:
        for k in range(groups * _group_step(game)):
            totals[k] = 0.0
    else:
        for k in range(_totals_size(game, s, b)):
            work.totals[work.starts[s, 3] + k] = 0.0


@kernel
def _totals_size(game: Any, s: int, b: int) -> int:
    """Entries of the totals of a board: a row per exit and copy, the board itself and its exchanges of suits."""
    street = game.streets[s]
    return (
        (1 + game.boards[b].num_swaps) * (street.exits_end - street.exits) * np.int64(game.own_boards[b].pad)
    )


@kernel
def _group_step(game: Any) -> int:
    """Entries from the totals of one group of the root's boards to those of the next.

    `_leave` reads and writes whole vectors, and so up to a vector past the last row of a group. Another thread may be
    writing to the next group at that time, so a vector that nobody needs lies between them.
    """
    return _totals_size(game, 0, 0) + WIDTH


@kernel
def _save_leaf_reach(game: Any, s: int, b: int, work: Any) -> None:
    """Copy the opponent's reach at the leaves of a board to `Layout.leaf_reach`."""
    street, side = game.streets[s], game.opp_boards[b]
    pad = np.int64(side.pad)
    for k in range(street.leaves, street.leaves_end):
        leaf = game.leaves[k]
        to = game.opp_leaf_starts[b] + (k - street.leaves) * pad
        row = work.starts[s, 0] + leaf.reach * pad
        # A row that nobody reaches holds what some other board left there.
        keep = splat(work.reach, 1.0 if work.alive[work.starts[s, 2] + leaf.reach] != 0 else 0.0)
        for h in range(0, pad, WIDTH):
            store(game.leaf_reach, to + h, load(work.reach, row + h) * keep)


@kernel
def _take_leaf_values(game: Any, s: int, b: int, work: Any) -> None:
    """Add the values in `Layout.leaf_values` to the value rows of a board's leaves."""
    street, side = game.streets[s], game.own_boards[b]
    pad = np.int64(side.pad)
    for k in range(street.leaves, street.leaves_end):
        leaf = game.leaves[k]
        if work.alive[work.starts[s, 2] + leaf.reach] != 0:
            begin = game.own_leaf_starts[b] + (k - street.leaves) * pad
            row = work.starts[s, 1] + leaf.row * pad
            for h in range(0, pad, WIDTH):
                store(work.value, row + h, load(work.value, row + h) + load(game.leaf_values, begin + h))
