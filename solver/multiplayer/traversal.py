"""One deal for one player: all its hands and actions on the street, against drawn hands and actions of the others.

Down the street every own action is followed, and one action of each other player, drawn from its regrets. Where the
street ends, each player goes on with one of the continuations of the blueprint: the others with one that is drawn from
their regrets at the leaf, the own hands with all of them. Behind the leaf everybody plays the blueprint in buckets. Up,
values are weighted by the own strategy, and regrets grow by what each action or continuation wins more than that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.cards import NUM_COMBOS
from solver.multiplayer.deals import _find_hands
from solver.multiplayer.later_play import _end_values, _leaf_values
from solver.multiway.deals import _deal_key, _uniform
from solver.multiway.matching import _draw


@njit(cache=True)
def _back_up(place: Any, row: Any, actions: Any, strategy: Any, change: Any, learn: Any, space: Any) -> None:
    """Value of an own decision of the street; its regrets grow by what each action wins more than that."""
    hands, walk = space.hands, space.walk
    number, combo = hands.number[0], hands.combo
    value, total = walk.value[place, 0], walk.total
    total[:number] = 0
    value[:number] = 0
    for k in range(actions):
        start, share = (np.int64(row) + k) * NUM_COMBOS, walk.share[k]
        for m in range(number):
            share[m] = max(strategy[start + combo[m]], np.float32(0))
            total[m] += share[m]
    even = np.float32(1) / actions
    for k in range(actions):
        share, below = walk.share[k], walk.value[walk.action[place, k], 0]
        for m in range(number):
            weight = share[m] / total[m] if total[m] > 0 else even
            value[m] += weight * below[m]
    if learn:
        for k in range(actions):
            start, below = (np.int64(row) + k) * NUM_COMBOS, walk.value[walk.action[place, k], 0]
            for m in range(number):
                change[start + combo[m]] += below[m] - value[m]


@njit(cache=True)
def _traverse(
    seat: Any,
    start: Any,
    strategy: Any,
    change: Any,
    learn: Any,
    key: Any,
    d: Any,
    deals: Any,
    arrays: Any,
    space: Any,
) -> None:
    """Play a deal for one player from a node on; its values by hand are left at place 0."""
    betting, walk, hands = arrays.betting, space.walk, space.hands
    chips_are_money = arrays.stakes.payouts.shape[0] == 0
    first_leaf = np.int64(betting.child.shape[0]) * NUM_COMBOS
    places = 0
    walk.pending[0, 0] = start
    walk.pending[0, 1] = -1
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = walk.pending[waiting, 0]
        above, taken = walk.pending[waiting, 1], walk.pending[waiting, 2]
        place = places
        places += 1
        if above >= 0:
            walk.action[above, taken] = place
            lost = betting.lost[betting.row[walk.node[above]] + taken]
            if lost >= 0 and chips_are_money:
                # What the others do after the player has folded is none of its business. With prizes it is.
                walk.node[place] = -1
                walk.value[place, 0, : hands.number[0]] = -lost
                continue
        while betting.player[node] >= 0 and betting.player[node] != seat:
            first = np.int64(betting.row[node]) * NUM_COMBOS + deals.hand[d, betting.player[node]]
            chance = _uniform(key, seat, node)
            chosen = _draw(strategy, first, NUM_COMBOS, betting.actions[node], chance)
            node = betting.child[betting.row[node] + chosen]
        walk.node[place] = node
        if betting.player[node] < 0:
            end, leaf = betting.end[node], betting.leaf[node]
            if leaf < 0:
                live = arrays.terminals.live[end]
                _end_values(seat, end, live, False, arrays, space, walk.value[place, 0])
            else:
                _leaf_values(
                    seat,
                    leaf,
                    end,
                    first_leaf,
                    strategy,
                    change,
                    learn,
                    key,
                    d,
                    deals,
                    arrays,
                    space,
                    walk.value[place, 0],
                )
            continue
        for k in range(betting.actions[node] - 1, -1, -1):
            walk.pending[waiting, 0] = betting.child[betting.row[node] + k]
            walk.pending[waiting, 1] = place
            walk.pending[waiting, 2] = k
            waiting += 1
    for place in range(places - 1, -1, -1):
        node = walk.node[place]
        if node >= 0 and betting.player[node] >= 0:
            _back_up(place, betting.row[node], betting.actions[node], strategy, change, learn, space)


@njit(cache=True, nogil=True)
def _learn_deals(
    seat: Any,
    seed: Any,
    first: Any,
    held: Any,
    strategy: Any,
    change: Any,
    deals: Any,
    arrays: Any,
    space: Any,
) -> None:
    """Play deals for one player from the root on, and add what its regrets grow by to `change`."""
    for d in range(deals.hand.shape[0]):
        _find_hands(seat, d, deals, held, space.hands)
        _traverse(seat, 0, strategy, change, True, _deal_key(seed, first + d), d, deals, arrays, space)


@njit(cache=True, nogil=True)
def _value_deals(
    seat: Any,
    node: Any,
    seed: Any,
    first: Any,
    held: Any,
    strategy: Any,
    deals: Any,
    arrays: Any,
    space: Any,
    met: Any,
    sums: Any,
    squares: Any,
) -> None:
    """Add what a player wins from a node on, by hand: deals, values and their squares; by action at its decisions."""
    walk, hands = space.walk, space.hands
    actions = arrays.betting.actions[node] if arrays.betting.player[node] == seat else 0
    for d in range(deals.hand.shape[0]):
        _find_hands(seat, d, deals, held, hands)
        _traverse(seat, node, strategy, strategy, False, _deal_key(seed, first + d), d, deals, arrays, space)
        for m in range(hands.number[0]):
            combo = hands.combo[m]
            met[combo] += 1
            value = np.float64(walk.value[0, 0, m])
            sums[0, combo] += value
            squares[0, combo] += value * value
            for k in range(actions):
                value = np.float64(walk.value[walk.action[0, k], 0, m])
                sums[k + 1, combo] += value
                squares[k + 1, combo] += value * value
