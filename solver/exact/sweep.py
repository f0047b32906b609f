"""The CFR kernel: one sweep of a player over every street and board of a game.

A sweep computes the counterfactual values of one player (`own`) against the other's strategy. On every board it does,
with the boards of the next street in between (`_sweep`):

    enter       take the opponent's reach over from the board before
    descend     split that reach over the actions of the opponent's nodes, parents first
    terminals   value the lines that end on this board: folds, showdowns, all-ins, and leaves valued by others
    ascend      combine the action values at the own nodes, children first
    leave       add the values of the street's first nodes to the board before

In `UPDATE` mode it adds the instantaneous regrets to the player's table on the way up. The opponent's average is
updated on the way down of the same sweep: the reach that a sweep splits over the actions of an opponent node
*is* what the numerator of the average strategy gains, own reach times current strategy.

Rows of the tables are ``[action row, hand]`` per board (`solver.exact.betting_plan`, `solver.exact.deals`). A node that
the other player cannot reach is left alone. Its clock remembers the iteration up to which its rows are
discounted, and the factors of the missed iterations are applied when it is next reached. Missed iterations
add nothing to regrets or average, so this is exact.

Kernels take the arrays of `solver.exact.sweep_arrays` as handles (`solver.cfr.handles`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.cfr.claims import claim
from solver.cfr.simd import WIDTH, kernel, load, splat, store
from solver.exact.board_links import (
    _clear_totals,
    _clear_values,
    _collect,
    _enter,
    _group_step,
    _leave,
    _save_leaf_reach,
    _take_leaf_values,
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
from solver.exact.street_terminals import _allins, _terminals
from solver.exact.sweep_arrays import Discounts

#: Modes. `UPDATE` plays the current strategies and learns. `BEST_RESPONSE` and `EXPECTED` play the average strategies,
#: the former with the best action at own nodes. `CURRENT` plays the current strategies and learns nothing. `ESTIMATE`
#: is a best response with the corrections that training has at hand (`solver.exact.pair_weights`).
UPDATE, BEST_RESPONSE, EXPECTED, CURRENT, ESTIMATE = range(5)
#: Phases. `WHOLE` is a sweep by one thread. Threads that share one go `DOWN` from the root, then each through its part
#: `BELOW`, then `UP` to the root. `REACH` goes down only, and saves the reach of the leaves. Where all leaves are on
#: the root's board, one thread goes `DOWN`, values the lines that end there (`ENDS`) while others value the leaves, and
#: takes those values `BACK` to the root.
WHOLE, DOWN, BELOW, UP, REACH, ENDS, BACK = range(7)


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
    claims: Any,
    path: Any,
    above: Any,
    work: Any,
) -> None:
    """Iterations from `iteration` on, one per row of `factors`: positive, negative, strategy, prediction.

    An iteration sweeps for `first_player` and then for `last_player`, who may be the same.
    """
    for k in range(len(factors)):
        t = iteration + k
        if mode == UPDATE and first_player == 0 and phase in (WHOLE, DOWN):
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
                claims,
                path,
                above,
                work,
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
    claims: Any,
    path: Any,
    above: Any,
    work: Any,
) -> None:
    """Sweep the boards of a game depth first: down each board, its children, its terminals, and up again.

    Where `path` names a board of a street (-1 elsewhere) only that one is visited, and its rows stay in `work`.

    Threads share a sweep by its phases: while they are `BELOW`, the root's rows are in `above`. The root's boards form
    groups, which threads take one after another from `claims`. Groups have totals of their own, which are added up in
    order, so that the result does not depend on who took which.
    """
    shared = phase in (BELOW, REACH)
    claimed = -1
    bottom = 1 if phase == BELOW else 0
    s = bottom
    if phase == BELOW:
        _visit_children(game, 0, 0, path, work)
    else:
        work.cursor[0, 0] = 0
        work.cursor[0, 1] = 1
    while True:
        b = work.cursor[s, 0]
        if b == work.cursor[s, 1]:
            # The last of its siblings is done: on to the parent.
            if s == bottom:
                break
            s -= 1
            b = work.cursor[s, 0]
            if phase != REACH:
                _collect(game, s, b, groups if s == 0 else 1, totals, work)
        elif phase == UP:
            _collect(game, s, b, groups, totals, work)
        elif phase not in (ENDS, BACK):
            if s == 1 and shared:
                group = _group(game, b, groups)
                while claimed < group:
                    claimed = claim(claims)
                if claimed != group:
                    work.cursor[s, 0] += 1
                    continue
            _enter(game, s, b, weights, above if s == 1 else work, work)
            _descend(game, s, b, opp_tables, discounts, mode, work)
            if phase in (REACH, DOWN):
                _save_leaf_reach(game, s, b, work)
            if phase != REACH:
                _clear_values(game, s, b, work)
                _clear_totals(game, s, b, groups, totals, work)
            if phase == DOWN:
                break
            if game.boards[b].count > 0:
                _visit_children(game, s, b, path, work)
                s += 1
                continue
        if phase not in (REACH, BACK):
            _allins(game, s, b, work)
            _terminals(game, s, b, mode in (BEST_RESPONSE, EXPECTED), work)
        if phase not in (REACH, ENDS):
            _take_leaf_values(game, s, b, work)
            _ascend(game, s, b, own_tables, discounts, mode, work)
            if s == 1:
                _leave(game, s, b, totals, _group(game, b, groups) * _group_step(game), work)
            elif s > 1:
                _leave(game, s, b, work.totals, work.starts[s - 1, 3], work)
        work.cursor[s, 0] += 1


@kernel
def _visit_children(game: Any, s: int, b: int, path: Any, work: Any) -> None:
    """Point the cursor of the next street at a board's children, or at the one that `path` names."""
    first = np.int64(game.boards[b].first)
    end = first + np.int64(game.boards[b].count)
    if path[s + 1] >= 0:
        first, end = path[s + 1], path[s + 1] + 1
    work.cursor[s + 1, 0] = first
    work.cursor[s + 1, 1] = end


@kernel
def _group(game: Any, b: int, groups: int) -> int:
    """The group of one of the root's boards."""
    count = np.int64(game.boards[0].count)
    return ((b - game.boards[0].first + 1) * groups - 1) // count


@kernel
def _descend(game: Any, s: int, b: int, tables: Any, discounts: Any, mode: int, work: Any) -> None:
    """Split the opponent's reach over the actions of its nodes, parents first."""
    street, side = game.streets[s], game.opp_boards[b]
    children = game.children
    pad = np.int64(side.pad)
    base, live = work.starts[s, 0], work.starts[s, 2]
    plays_current = mode in (UPDATE, CURRENT)
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
        if plays_current:
            _match(tables.source, start, actions, pad, work.reach, row, work.hands1, work.hands2)
        else:
            _match(tables.average, start, actions, pad, work.reach, row, work.hands1, work.hands2)
        for a in range(actions):
            child = children[first + a]
            at = start + a * pad
            to = base + child * pad
            if plays_current:
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
            behind = start + actions * pad
            _accumulate(entries, at, actions, pad, work.reach, base, children, first, keep, average, behind)
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
