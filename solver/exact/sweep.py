"""The CFR kernel: one sweep of a player over every street and board of a game.

A sweep computes the counterfactual values of one player (`own`) against the other's strategy and, in
`UPDATE` mode, adds the instantaneous regrets to the player's table on the way up. The opponent's average is
updated on the way down of the same sweep: the reach that a sweep splits over the actions of an opponent node
*is* what the numerator of the average strategy gains, own reach times current strategy.

Rows of the tables are ``[action row, hand]`` per board (`solver.exact.betting_plan`, `solver.exact.deals`). A node that
the other player cannot reach is left alone; its clock remembers the iteration up to which its rows are
discounted, and the factors of the missed iterations are applied when it is next reached. Missed iterations
add nothing to regrets or average, so this is exact.

Kernels take the arrays of `Layout`, `Tables` and `Work` as handles (`solver.cfr.handles`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.cfr.simd import (
    WIDTH,
    add_lanes_to_rows,
    fused,
    kernel,
    lane_sum,
    lanes_to_rows,
    load,
    load_as,
    rows_to_lanes,
    splat,
    store,
)
from solver.exact.node_kernels import (
    _accumulate,
    _add_regrets,
    _best,
    _fix_split,
    _fix_value,
    _match,
    _mirror,
    _mix,
    _packed,
    _predict,
    _predict_nothing,
    _row_sum,
    _split_action,
    _unpacked,
)
from solver.exact.terminals import BLOCK, _card_sums, _fold_values, _rank_sums, _showdown_values

UPDATE, BEST_RESPONSE, EXPECTED = 0, 1, 2
WHOLE, DOWN, BELOW, UP = 0, 1, 2, 3


class Layout(NamedTuple):
    """Everything a sweep reads about a game, for one updating player: its `BettingPlan`, the boards of `Deals`,
    its `Side`, the start of the opponent's, and per street the scales of reach and of all-in values.
    """

    streets: NDArray[np.void]
    splits: NDArray[np.void]
    updates: NDArray[np.void]
    children: NDArray[np.int32]
    lanes: NDArray[np.void]
    allins: NDArray[np.void]
    exits: NDArray[np.void]
    clear: NDArray[np.int32]
    boards: NDArray[np.void]
    own_boards: NDArray[np.void]
    own_hands: NDArray[np.void]
    own_runs: NDArray[np.void]
    own_groups: NDArray[np.void]
    own_swap: NDArray[np.int16]
    own_allin: NDArray[np.int16]
    own_mirrors: NDArray[np.void]
    opp_boards: NDArray[np.void]
    opp_hands: NDArray[np.void]
    opp_runs: NDArray[np.void]
    scales: NDArray[np.float64]


#: State of a node on a board: the units of 16-bit entries, the last iteration whose discounts are applied, and
#: the start of its fixed strategy in `Tables.locked` (-1 for none).
NODE = np.dtype(
    [
        ("regret_unit", np.float32),
        ("average_unit", np.float32),
        ("regret_clock", np.int32),
        ("average_clock", np.int32),
        ("lock", np.int64),
    ],
    align=True,
)


class Tables(NamedTuple):
    """One player's tables.

    Attributes
    ----------
    regret, average
        Cumulative regrets, and the numerator of the average strategy.
    source
        Regrets that the current strategy is matched to: `regret` itself, or the predicted ones.
    nodes
        State of each node on each board, as `NODE`.
    locked
        Fixed probabilities ``[action, hand]``, negative for hands that are free.
    """

    regret: NDArray[Any]
    average: NDArray[Any]
    source: NDArray[Any]
    nodes: NDArray[np.void]
    locked: NDArray[np.float32]


class Discounts(NamedTuple):
    """Factors of one iteration: `since` has rows positive, negative, average, columns the node's clock."""

    iteration: int
    since: NDArray[np.float64]
    prediction: float
    floor_negative: bool
    predictive: bool


class Work(NamedTuple):
    """Scratch of one thread.

    `reach`, `value`, `alive` and `totals` hold the rows of every street, from the columns of `starts` on; the
    last hands of `reach` stay zero and those of `value` are never read. `x`, `y` and `sums` belong to
    `solver.exact.terminals`; `lanes` holds the offsets of the reach, showdown and fold rows of each lane. `cursor`
    holds, per street, the next board and the end of its siblings.
    """

    reach: NDArray[Any]
    value: NDArray[Any]
    alive: NDArray[np.uint8]
    totals: NDArray[Any]
    starts: NDArray[np.int64]
    x: NDArray[Any]
    y: NDArray[Any]
    sums: NDArray[Any]
    hands1: NDArray[Any]
    hands2: NDArray[Any]
    fresh: NDArray[Any]
    lanes: NDArray[np.int64]
    pays: NDArray[Any]
    mask: NDArray[Any]
    cursor: NDArray[np.int64]


@kernel
def _descend(game: Any, s: int, b: int, tables: Any, discounts: Any, mode: int, work: Any) -> None:
    """Split the opponent's reach over the actions of its nodes, parents first."""
    street, side = game.streets[s], game.opp_boards[b]
    children = game.children
    pad = np.int64(side.pad)
    base, live = work.starts[s, 0], work.starts[s, 2]
    for i in range(street.splits, street.splits_end):
        split = game.splits[i]
        actions = np.int64(split.actions)
        first = np.int64(split.first)
        if work.alive[live + split.row] == 0:
            for a in range(actions):
                work.alive[live + children[first + a]] = 0
            continue
        row = base + split.row * pad
        start = side.table + split.table * pad
        node = tables.nodes[side.clock + i - street.splits]
        if mode == UPDATE:
            _match(tables.source, start, actions, pad, work.reach, row, work.hands1, work.hands2)
        else:
            _match(tables.average, start, actions, pad, work.reach, row, work.hands1, work.hands2)
        for a in range(actions):
            child = children[first + a]
            at = start + a * pad
            to = base + child * pad
            if mode == UPDATE:
                total = _split_action(tables.source, at, pad, work.hands1, work.hands2, work.reach, to)
            else:
                total = _split_action(tables.average, at, pad, work.hands1, work.hands2, work.reach, to)
            work.alive[live + child] = total > 0.0
        if node.lock >= 0:
            _fix_split(tables.locked, node.lock, actions, pad, work.reach, row, base, children, first)
            for a in range(actions):
                child = children[first + a]
                work.alive[live + child] = _row_sum(work.reach, base + child * pad, pad) > 0.0
        if mode == UPDATE:
            keep = discounts.since[2, node.average_clock]
            node.average_clock = discounts.iteration
            average, unit = tables.average, node.average_unit
            entries, at = _unpacked(average, start, actions * pad, unit, work.fresh)
            _accumulate(entries, at, actions, pad, work.reach, base, children, first, keep)
            node.average_unit = _packed(average, start, actions * pad, entries, unit)


@kernel
def _ascend(game: Any, s: int, b: int, tables: Any, discounts: Any, mode: int, work: Any) -> None:
    """Combine the action values of the own nodes, children first, and update their regrets."""
    street, side = game.streets[s], game.own_boards[b]
    children = game.children
    pad = np.int64(side.pad)
    base, live = work.starts[s, 1], work.starts[s, 2]
    zero = splat(work.value, 0.0)
    floor = 0.0 if discounts.floor_negative else -np.inf
    for i in range(street.updates_end - 1, street.updates - 1, -1):
        update = game.updates[i]
        actions = np.int64(update.actions)
        first = np.int64(update.first)
        row = base + update.row * pad
        start = side.table + update.table * pad
        node = tables.nodes[side.clock + i - street.updates]
        if work.alive[live + update.reach] == 0:
            if update.adds == 0:
                for h in range(0, pad, WIDTH):
                    store(work.value, row + h, zero)
            if mode == UPDATE and discounts.predictive:
                _predict_nothing(tables.regret, tables.source, start, actions * pad, discounts, node)
            continue
        if mode == UPDATE:
            _mix(tables.source, start, actions, pad, work.value, base, children, first, work.hands1)
        elif mode == EXPECTED:
            _mix(tables.average, start, actions, pad, work.value, base, children, first, work.hands1)
        else:
            _best(actions, pad, work.value, base, children, first, work.hands1)
        if node.lock >= 0:
            _fix_value(tables.locked, node.lock, actions, pad, work.value, base, children, first, work.hands1)
        if mode == UPDATE:
            positive = discounts.since[0, node.regret_clock]
            negative = discounts.since[1, node.regret_clock]
            regret, value, out = tables.regret, work.value, work.hands1
            unit = node.regret_unit
            entries, at = _unpacked(regret, start, actions * pad, unit, work.fresh)
            _add_regrets(
                entries, at, actions, pad, value, base, children, first, out, positive, negative, floor
            )
            node.regret_unit = _packed(regret, start, actions * pad, entries, unit)
            if discounts.predictive:
                ahead = discounts.prediction
                _predict(regret, tables.source, start, actions, pad, value, base, children, first, out, ahead)
            node.regret_clock = discounts.iteration
            if side.mirrors_end > side.mirrors:
                _mirror(tables.regret, start, actions, pad, game.own_mirrors, side.mirrors, side.mirrors_end)
                if discounts.predictive:
                    _mirror(
                        tables.source, start, actions, pad, game.own_mirrors, side.mirrors, side.mirrors_end
                    )
        if update.adds == 0:
            for h in range(0, pad, WIDTH):
                store(work.value, row + h, load(work.hands1, h))
        else:
            for h in range(0, pad, WIDTH):
                store(work.value, row + h, load(work.value, row + h) + load(work.hands1, h))


@kernel
def _gather_lanes(game: Any, s: int, b: int, first: int, end: int, lanes: int, work: Any) -> int:
    """List those of a section's lanes whose reach is not zero, and fill up to full vectors; returns their end."""
    own_pad, opp_pad = np.int64(game.own_boards[b].pad), np.int64(game.opp_boards[b].pad)
    reach, value, live = work.starts[s, 0], work.starts[s, 1], work.starts[s, 2]
    rows, pays = work.lanes, work.pays
    size = len(pays) // 4
    unread = len(work.value) - len(work.hands1)
    for k in range(first, end):
        lane = game.lanes[k]
        if work.alive[live + lane.reach] != 0:
            rows[lanes] = reach + lane.reach * opp_pad
            rows[size + lanes] = value + lane.show * own_pad if lane.show >= 0 else unread
            rows[2 * size + lanes] = value + lane.fold * own_pad if lane.fold >= 0 else unread
            pays[lanes] = lane.half
            pays[size + lanes] = lane.lose
            pays[2 * size + lanes] = lane.tie
            pays[3 * size + lanes] = lane.folds
            lanes += 1
    while lanes % WIDTH != 0:
        rows[lanes] = len(work.reach) - len(work.hands1)
        rows[size + lanes] = unread
        rows[2 * size + lanes] = unread
        for j in range(4):
            pays[j * size + lanes] = 0.0
        lanes += 1
    return lanes


@kernel
def _terminals(game: Any, s: int, b: int, work: Any) -> None:
    """Values of every fold and showdown of a street on one board."""
    street, own, opp = game.streets[s], game.own_boards[b], game.opp_boards[b]
    own_pad, opp_pad = np.int64(own.pad), np.int64(opp.pad)
    size = len(work.pays) // 4
    none = np.int64(0)
    own_lanes = _gather_lanes(game, s, b, street.lanes, street.lanes_own, none, work)
    show_lanes = _gather_lanes(game, s, b, street.lanes_own, street.lanes_show, own_lanes, work)
    lanes = _gather_lanes(game, s, b, street.lanes_show, street.lanes_end, show_lanes, work)
    shows = street.shows != 0
    for h in range(own.count, own_pad):
        for part in range(0, BLOCK, WIDTH):
            store(work.y, h * BLOCK + part, splat(work.y, 0.0))
    for block in range(0, lanes, BLOCK):
        width = min(BLOCK, lanes - block)
        for part in range(0, width, WIDTH):
            for h in range(0, opp_pad, WIDTH):
                rows_to_lanes(work.reach, work.lanes, block + part, h, work.x, h * BLOCK + part, BLOCK)
        if shows and block < show_lanes:
            _rank_sums(work.x, work.y, work.sums, own, game.own_hands, game.own_groups, opp, game.opp_hands)
        else:
            _card_sums(work.x, work.sums, opp, game.opp_hands)
        for part in range(0, width, WIDTH):
            lane = block + part
            if shows and lane < show_lanes:
                _showdown_values(work.x, work.y, work.sums, part, own, game.own_hands, work.pays, lane)
                _lanes_out(work, part, size + lane, own_pad, lane >= own_lanes)
            if lane < own_lanes or lane >= show_lanes:
                _fold_values(work.x, work.y, work.sums, part, own, game.own_hands, work.pays, lane)
                _lanes_out(work, part, 2 * size + lane, own_pad, lane >= own_lanes)


@kernel
def _lanes_out(work: Any, part: int, lane: int, pad: int, adds: bool) -> None:
    """Set, or add to, the value rows of eight lanes."""
    for h in range(0, pad, WIDTH):
        if adds:
            add_lanes_to_rows(work.y, h * BLOCK + part, BLOCK, work.value, work.lanes, lane, h)
        else:
            lanes_to_rows(work.y, h * BLOCK + part, BLOCK, work.value, work.lanes, lane, h)


@kernel
def _allins(game: Any, s: int, b: int, work: Any) -> None:
    """Values of betting that ended before the last card: a matrix of wins minus losses over the run-outs."""
    street, own, opp = game.streets[s], game.own_boards[b], game.opp_boards[b]
    own_pad, opp_pad = np.int64(own.pad), np.int64(opp.pad)
    matrix = game.own_allin
    at = own.allin
    for k in range(street.allins, street.allins_end):
        allin = game.allins[k]
        if work.alive[work.starts[s, 2] + allin.reach] == 0:
            continue
        row = work.starts[s, 1] + allin.row * own_pad
        source = work.starts[s, 0] + allin.reach * opp_pad
        pays = splat(work.value, allin.half * game.scales[s, 1])
        for h in range(0, own_pad, WIDTH):
            even = splat(work.value, 0.0)
            odd = even
            # The padding of the reach is zero, so a last pair may read one row too many.
            for j in range(0, opp.count, 2):
                near = at + j * own_pad + h
                even = fused(
                    load_as(matrix, near, work.value), splat(work.value, work.reach[source + j]), even
                )
                odd = fused(
                    load_as(matrix, near + own_pad, work.value),
                    splat(work.value, work.reach[source + j + 1]),
                    odd,
                )
            total = pays * (even + odd)
            if allin.adds != 0:
                total = total + load(work.value, row + h)
            store(work.value, row + h, total)


@kernel
def _enter(game: Any, s: int, b: int, weights: Any, above: Any, work: Any) -> None:
    """The opponent's reach on a board: its range at the root, else what left the parent, kept in `above`."""
    side = game.opp_boards[b]
    pad = np.int64(side.pad)
    base, live = work.starts[s, 0], work.starts[s, 2]
    zero = splat(work.reach, 0.0)
    if s == 0:
        for h in range(0, pad, WIDTH):
            store(work.reach, base + h, load(weights, h))
        work.alive[live] = 1
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
        start = first + group * _totals_size(game, s, b)
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
def _clear(game: Any, s: int, b: int, work: Any) -> None:
    """Zero the value rows that several children add to."""
    street = game.streets[s]
    pad = np.int64(game.own_boards[b].pad)
    zero = splat(work.value, 0.0)
    for k in range(street.clear, street.clear_end):
        row = work.starts[s, 1] + game.clear[k] * pad
        for h in range(0, pad, WIDTH):
            store(work.value, row + h, zero)


@kernel
def _totals_size(game: Any, s: int, b: int) -> int:
    street = game.streets[s]
    return (
        (1 + game.boards[b].num_swaps) * (street.exits_end - street.exits) * np.int64(game.own_boards[b].pad)
    )


@njit(cache=True, nogil=True, inline="always")
def _sweep(
    game: Any,
    weights: Any,
    groups: int,
    totals: Any,
    own_tables: Any,
    opp_tables: Any,
    discounts: Any,
    mode: int,
    phase: int,
    thread: int,
    threads: int,
    path: Any,
    above: Any,
    work: Any,
) -> None:
    """Sweep the boards of a game depth first: down each board, its children, its terminals, and up again.

    Where `path` names a board of a street (-1 elsewhere) only that one is visited, and its rows stay in `work`.

    Phases let threads share a sweep: `DOWN` the root, every thread its part `BELOW` (the root's rows are in
    `above`), then `UP` to the root. The root's boards form groups with totals of their own, which are added up
    in order, so that the result does not depend on the number of threads.
    """
    bottom = 1 if phase == BELOW else 0
    s = bottom
    count = np.int64(game.boards[0].count)
    if phase == BELOW:
        work.cursor[1, 0] = game.boards[0].first
        work.cursor[1, 1] = game.boards[0].first + count
    else:
        work.cursor[0, 0] = 0
        work.cursor[0, 1] = 1
    while True:
        b = work.cursor[s, 0]
        if b == work.cursor[s, 1]:
            if s == bottom:
                break
            s -= 1
            b = work.cursor[s, 0]
            _collect(game, s, b, groups if s == 0 else 1, totals, work)
        elif phase == UP:
            _collect(game, s, b, groups, totals, work)
        else:
            group = 0
            if s == 1:
                group = ((b - game.boards[0].first + 1) * groups - 1) // count
                if group % threads != thread:
                    work.cursor[s, 0] += 1
                    continue
            _enter(game, s, b, weights, above if s == 1 else work, work)
            _descend(game, s, b, opp_tables, discounts, mode, work)
            _clear(game, s, b, work)
            size = _totals_size(game, s, b)
            if s == 0:
                for k in range(groups * size):
                    totals[k] = 0.0
            else:
                for k in range(size):
                    work.totals[work.starts[s, 3] + k] = 0.0
            if phase == DOWN:
                break
            if game.boards[b].count > 0:
                s += 1
                only = path[s] >= 0
                work.cursor[s, 0] = path[s] if only else np.int64(game.boards[b].first)
                work.cursor[s, 1] = (
                    path[s] + 1 if only else np.int64(game.boards[b].first + game.boards[b].count)
                )
                continue
        _allins(game, s, b, work)
        _terminals(game, s, b, work)
        _ascend(game, s, b, own_tables, discounts, mode, work)
        if s == 1:
            group = ((b - game.boards[0].first + 1) * groups - 1) // count
            _leave(game, s, b, totals, group * _totals_size(game, 0, 0), work)
        elif s > 1:
            _leave(game, s, b, work.totals, work.starts[s - 1, 3], work)
        work.cursor[s, 0] += 1


@njit(cache=True, nogil=True)
def _run(
    games: Any,
    weights: Any,
    groups: int,
    totals: Any,
    tables: Any,
    since: Any,
    factors: Any,
    iteration: int,
    floor_negative: bool,
    predictive: bool,
    mode: int,
    phase: int,
    first_player: int,
    last_player: int,
    thread: int,
    threads: int,
    path: Any,
    above: Any,
    work: Any,
) -> None:
    """Rounds of sweeps from `iteration` on, one per row of `factors`: positive, negative, strategy, prediction."""
    for k in range(len(factors)):
        t = iteration + k
        if mode == UPDATE and (phase == WHOLE or (phase == DOWN and first_player == 0)):
            # Factors since each earlier iteration, extended by those of this one.
            for row in range(3):
                since[row, t - 1] = 1.0
                for j in range(t):
                    since[row, j] *= factors[k, row]
        discounts = Discounts(t, since, factors[k, 3], floor_negative, predictive)
        for own in range(first_player, last_player + 1):
            _sweep(
                games[own],
                weights[1 - own],
                groups,
                totals,
                tables[own],
                tables[1 - own],
                discounts,
                mode,
                phase,
                thread,
                threads,
                path,
                above,
                work,
            )
