"""One traversal: a seat tries all its actions with all its hands, the others draw theirs with the hands dealt to them.

Down: from a decision of the seat every action is followed, from a decision of another seat one action, drawn from its
regrets by regret matching. Up: the value of a decision is that of its actions weighted by the seat's own strategy, and
its regrets grow by the difference. Values are vectors: by hand class before the flop, by hand on the board after it.

The seat plays by the table `own`, the others by `others`, and regrets are `added` to a third one. In self-play all
three are one array. An empty `added` means that nothing is learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from solver.multiway.deals import WIDTH, _deal, _deal_key, _uniform
from solver.multiway.later_play import _find_columns, _find_hands, _leaf_values
from solver.multiway.matching import _draw, _match
from solver.multiway.payoffs import _terminal_values


@njit(cache=True)
def _traverse(
    seat: Any,
    arrays: Any,
    own: Any,
    others: Any,
    added: Any,
    key: Any,
    number: Any,
    columns: Any,
    space: Any,
    counts: Any,
) -> None:
    """Play a deal for one seat; its values by class at the start are ``space.walk.value[0]``."""
    betting, deal, walk = arrays.betting, space.deal, space.walk
    chips_are_money = arrays.stakes.payouts.shape[0] == 0
    places = 0
    walk.pending[0, 0] = 0
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
            lost = betting.fold_value[betting.row[walk.node[above]] + taken]
            if lost <= 0 and chips_are_money:
                # What the others do after the seat has folded is none of its business.
                walk.node[place] = -1
                for c in range(WIDTH):
                    walk.value[place, c] = lost * deal.live[c]
                continue
        while betting.player[node] >= 0 and betting.player[node] != seat:
            hand = deal.hand[betting.player[node]]
            first = np.int64(betting.row[node]) * WIDTH + hand
            chance = _uniform(key, seat, node)
            chosen = _draw(others, first, WIDTH, betting.actions[node], chance)
            node = betting.child[betting.row[node] + chosen]
            counts[0] += 1
        walk.node[place] = node
        if betting.player[node] < 0:
            end, leaf = betting.end[node], betting.leaf[node]
            counts[2] += 1
            has_folded = not (arrays.terminals.live[end] >> seat) & 1
            if leaf < 0 or (has_folded and chips_are_money):
                _terminal_values(
                    seat, arrays.terminals, end, arrays.stakes, deal, space.work, walk.value[place]
                )
                continue
            if space.hands.number[0] == 0:
                _find_hands(arrays.seats, deal, space.hands)
                _find_columns(arrays.seats, number, columns, deal, space.hands)
            _leaf_values(
                seat,
                leaf,
                end,
                arrays,
                own,
                others,
                added,
                key,
                columns.texture[number],
                columns.size,
                space,
                counts,
                walk.value[place],
            )
            continue
        for k in range(betting.actions[node] - 1, -1, -1):
            walk.pending[waiting, 0] = betting.child[betting.row[node] + k]
            walk.pending[waiting, 1] = place
            walk.pending[waiting, 2] = k
            waiting += 1
    for place in range(places - 1, -1, -1):
        node = walk.node[place]
        if node < 0 or betting.player[node] < 0:
            continue
        counts[1] += 1
        _back_up(place, betting.row[node], betting.actions[node], own, added, walk)


@njit(cache=True)
def _back_up(place: Any, row: Any, actions: Any, own: Any, added: Any, walk: Any) -> None:
    """Value of an own decision before the flop; its regrets grow by what each action wins more than that."""
    first, value = np.int64(row) * WIDTH, walk.value[place]
    _match(own, first, WIDTH, actions, WIDTH, walk.share, walk.total)
    for c in range(WIDTH):
        value[c] = 0
    for k in range(actions):
        below, share = walk.value[walk.action[place, k]], walk.share[k]
        for c in range(WIDTH):
            value[c] += share[c] * below[c]
    if added.shape[0] > 0:
        for k in range(actions):
            start = first + k * WIDTH
            regret, below = added[start : start + WIDTH], walk.value[walk.action[place, k]]
            for c in range(WIDTH):
                regret[c] += below[c] - value[c]


@njit(cache=True, nogil=True)
def _play_deals(
    arrays: Any,
    own: Any,
    others: Any,
    added: Any,
    seed: Any,
    first: Any,
    learns: Any,
    columns: Any,
    values: Any,
    space: Any,
    counts: Any,
) -> None:
    """Play the deals `first`, `first` + 1, .. for every seat that `learns`, one after the other.

    ``values[d, s]`` becomes what seat s wins on deal d on average over its hands, in big blinds.
    """
    for number in range(values.shape[0]):
        key = _deal_key(seed, first + number)
        _deal(key, arrays.seats, arrays.cards, space.deal)
        space.hands.number[0] = 0
        hands = space.deal.live.sum()
        for seat in range(arrays.seats):
            if learns[seat]:
                _traverse(seat, arrays, own, others, added, key, number, columns, space, counts)
                values[number, seat] = space.walk.value[0].sum() / hands
