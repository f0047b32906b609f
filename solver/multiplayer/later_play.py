"""What follows the street: everybody plays the blueprint in buckets, each with one of its biases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.cards import NUM_COMBOS
from solver.multiway.deals import _uniform
from solver.multiway.matching import _draw
from solver.multiway.payoffs import _by_hand, _outcomes


@njit(cache=True)
def _end_values(seat: Any, end: Any, live: Any, has_extra: Any, arrays: Any, space: Any, out: Any) -> None:
    """Net chips of a player at an end by hand, given what was put in since the end's street in ``work.extra``."""
    work, hands = space.work, space.hands
    levels = _outcomes(seat, arrays.terminals, end, live, has_extra, hands.seat_strength, arrays.stakes, work)
    _by_hand(levels, hands, work, out)


@njit(cache=True)
def _later_end(seat: Any, leaf: Any, end: Any, node: Any, arrays: Any, space: Any, out: Any) -> None:
    """Value of an end behind a leaf: nobody puts in more than it has."""
    templates, leaves, work = arrays.templates, arrays.leaves, space.work
    root, live = leaves.root[leaf], leaves.live[leaf]
    work.extra[:] = 0.0
    for position in range(leaves.seat.shape[1]):
        player = leaves.seat[leaf, position]
        if player < 0:
            break
        added = (templates.stake[node, position] - templates.stake[root, position]) * leaves.scale[leaf]
        work.extra[player] = min(added, leaves.behind[leaf, player])
        if (templates.folded[node] >> position) & 1:
            live &= ~(np.int64(1) << player)
    _end_values(seat, end, live, True, arrays, space, out)


@njit(cache=True, inline="always")
def _is_all_in(leaf: Any, node: Any, position: Any, player: Any, arrays: Any) -> Any:
    """Whether a player has nothing left at a node behind a leaf, whatever the template thinks."""
    leaves, stake = arrays.leaves, arrays.templates.stake
    added = (stake[node, position] - stake[leaves.root[leaf], position]) * leaves.scale[leaf]
    return added >= leaves.behind[leaf, player] - 1e-6


@njit(cache=True)
def _draw_later(leaf: Any, node: Any, continuation: Any, column: Any, chance: Any, arrays: Any) -> Any:
    """Action of a drawn hand at a decision behind a leaf, by the blueprint with the bias of a continuation."""
    templates = arrays.templates
    row, actions = templates.row[node], templates.actions[node]
    start = arrays.leaves.table[leaf] + column
    total = np.float32(0)
    for k in range(actions):
        total += arrays.probability[start + templates.entry[row + k]] * arrays.favour[continuation, row + k]
    left = chance * total
    chosen: Any = np.int64(0)
    for k in range(actions):
        share = arrays.probability[start + templates.entry[row + k]] * arrays.favour[continuation, row + k]
        if share > 0:
            chosen = k
            left -= share
            if left < 0:
                break
    return chosen


@njit(cache=True)
def _passive_action(node: Any, arrays: Any) -> Any:
    """The check or call at a decision behind a leaf."""
    row = arrays.templates.row[node]
    for k in range(arrays.templates.actions[node]):
        if arrays.passive[row + k]:
            return k
    return 0


@njit(cache=True)
def _later_strategy(place: Any, node: Any, leaf: Any, values: Any, arrays: Any, space: Any) -> None:
    """Value of an own decision behind a leaf by hand, for each of the first `values` continuations."""
    templates, hands, walk = arrays.templates, space.hands, space.later
    row, actions = templates.row[node], templates.actions[node]
    number = hands.number[0]
    column = hands.column[templates.street[node]]
    for k in range(actions):
        start = arrays.leaves.table[leaf] + templates.entry[row + k]
        share = walk.share[k]
        for m in range(number):
            share[m] = arrays.probability[start + column[m]]
    total = walk.total
    for c in range(values):
        value = walk.value[place, c]
        total[:number] = 0
        value[:number] = 0
        for k in range(actions):
            below_place = walk.action[place, k]
            # An end is worth the same whatever continuation is played.
            below_values = walk.value[below_place]
            below = below_values[0 if templates.player[walk.node[below_place]] < 0 else c]
            share = walk.share[k]
            favour = arrays.favour[c, row + k]
            for m in range(number):
                weight = favour * share[m]
                total[m] += weight
                value[m] += weight * below[m]
        for m in range(number):
            value[m] = value[m] / total[m] if total[m] > 0 else np.float32(0)


@njit(cache=True)
def _play_on(
    seat: Any, leaf: Any, end: Any, values: Any, key: Any, d: Any, deals: Any, arrays: Any, space: Any
) -> Any:
    """Play the blueprint behind a leaf; values by continuation are left at place 0. Returns whether it is an end."""
    templates, leaves, hands, walk = arrays.templates, arrays.leaves, space.hands, space.later
    places = 0
    walk.pending[0, 0] = leaves.root[leaf]
    walk.pending[0, 1] = -1
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = walk.pending[waiting, 0]
        above, taken = walk.pending[waiting, 1], walk.pending[waiting, 2]
        while templates.player[node] >= 0:
            position = templates.player[node]
            player = leaves.seat[leaf, position]
            row = templates.row[node]
            if _is_all_in(leaf, node, position, player, arrays):
                node = templates.child[row + _passive_action(node, arrays)]
                continue
            if player == seat:
                break
            column = deals.column[d, templates.street[node], deals.hand[d, player]]
            chance = _uniform(key, seat, (np.int64(end + 1) << 32) + node)
            chosen = _draw_later(leaf, node, hands.chosen[player], column, chance, arrays)
            node = templates.child[row + chosen]
        place = places
        places += 1
        walk.node[place] = node
        if above >= 0:
            walk.action[above, taken] = place
        if templates.player[node] < 0:
            _later_end(seat, leaf, end, node, arrays, space, walk.value[place, 0])
            continue
        for k in range(templates.actions[node] - 1, -1, -1):
            walk.pending[waiting, 0] = templates.child[templates.row[node] + k]
            walk.pending[waiting, 1] = place
            walk.pending[waiting, 2] = k
            waiting += 1
    for place in range(places - 1, -1, -1):
        if templates.player[walk.node[place]] >= 0:
            _later_strategy(place, walk.node[place], leaf, values, arrays, space)
    return templates.player[walk.node[0]] < 0


@njit(cache=True)
def _leaf_values(
    seat: Any,
    leaf: Any,
    end: Any,
    first_leaf: Any,
    strategy: Any,
    change: Any,
    learn: Any,
    key: Any,
    d: Any,
    deals: Any,
    arrays: Any,
    space: Any,
    out: Any,
) -> None:
    """Value of a leaf to a player by hand; its regrets of continuations grow."""
    hands, leaves = space.hands, arrays.leaves
    if leaves.root[leaf] < 0:
        _end_values(seat, end, leaves.live[leaf], False, arrays, space, out)
        return
    all_values = arrays.values
    for s in range(arrays.seats):
        hands.chosen[s] = 0
        if s != seat and arrays.chooses[s] and (leaves.live[leaf] >> s) & 1:
            first = first_leaf + (leaf * arrays.seats + s) * all_values * NUM_COMBOS + deals.hand[d, s]
            chance = _uniform(key, seat, -np.int64(end + 1) * 16 - s)
            hands.chosen[s] = _draw(strategy, first, NUM_COMBOS, all_values, chance)
    values = all_values if arrays.chooses[seat] else 1
    is_end = _play_on(seat, leaf, end, values, key, d, deals, arrays, space)
    number = hands.number[0]
    found = space.later.value[0]
    if values == 1 or is_end:
        for m in range(number):
            out[m] = found[0, m]
        return
    first = first_leaf + (leaf * arrays.seats + seat) * all_values * NUM_COMBOS
    for m in range(number):
        total = np.float32(0)
        value = np.float32(0)
        for c in range(values):
            positive = max(strategy[first + c * NUM_COMBOS + hands.combo[m]], np.float32(0))
            total += positive
            value += positive * found[c, m]
        if total > 0:
            value /= total
        else:
            for c in range(values):
                value += found[c, m]
            value /= values
        out[m] = value
        if learn:
            for c in range(values):
                change[first + c * NUM_COMBOS + hands.combo[m]] += found[c, m] - value
