"""Play after the flop of one traversal: own hands by their buckets, the others draw their actions with their own.

Values are vectors over the hands that nobody blocks, from weakest to strongest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.card_kernels import _combo_index
from abstractions.cards import COMBO_CARDS
from abstractions.evaluator import _sorted_board
from solver.multiway.deals import _class_of, _uniform
from solver.multiway.matching import _draw, _match
from solver.multiway.payoffs import _by_hand, _outcomes

_COMBO_LOW, _COMBO_HIGH = (np.ascontiguousarray(COMBO_CARDS[:, k], dtype=np.int64) for k in range(2))


@njit(cache=True)
def _find_hands(seats: Any, deal: Any, hands: Any) -> None:
    """Sort the hands that nobody blocks, and compare them with those dealt."""
    for k in range(5):
        hands.board[k] = deal.cards[k]
    _sorted_board(hands.board, hands.strengths, hands.order)
    blocked = np.int64(0)
    for k in range(5 + 2 * seats):
        blocked |= np.int64(1) << deal.cards[k]
    count = 0
    for k in range(1081):
        combo = np.int64(hands.order[k])
        low, high = _COMBO_LOW[combo], _COMBO_HIGH[combo]
        if (blocked >> low) & 1 or (blocked >> high) & 1:
            continue
        hands.order[count] = combo
        hands.strength[count] = hands.strengths[combo]
        hands.group[count] = _class_of(low, high)
        count += 1
    hands.number[0] = count
    for seat in range(seats):
        strength = deal.strength[seat]
        hands.lower[seat] = np.searchsorted(hands.strength[:count], strength)
        hands.upper[seat] = np.searchsorted(hands.strength[:count], strength, side="right")


@njit(cache=True)
def _find_columns(seats: Any, number: Any, columns: Any, deal: Any, hands: Any) -> None:
    """Columns of all hands, own and dealt, on every street."""
    texture = columns.texture[number]
    for street in range(3):
        start = texture * columns.size[street]
        buckets = columns.bucket[number, street]
        for m in range(hands.number[0]):
            hands.bucket[street, m] = buckets[hands.order[m]]
        for seat in range(seats):
            one, two = deal.cards[5 + 2 * seat], deal.cards[6 + 2 * seat]
            combo = _combo_index(min(one, two), max(one, two))
            hands.drawn[seat, street] = start + buckets[combo]


@njit(cache=True)
def _later_end(seat: Any, leaf: Any, end: Any, node: Any, arrays: Any, space: Any, out: Any) -> None:
    """Value of an end after the flop to a seat, by hand; to a seat that is out, all hands alike."""
    templates, leaves, work, hands = arrays.templates, arrays.leaves, space.work, space.hands
    live = np.int64(0)
    work.extra[:] = 0.0
    for position in range(leaves.seat.shape[1]):
        player = leaves.seat[leaf, position]
        if player < 0:
            break
        work.extra[player] = templates.stake[node, position] * leaves.pot[leaf]
        if not (templates.folded[node] >> position) & 1:
            live |= np.int64(1) << player
    levels = _outcomes(seat, arrays.terminals, end, live, True, space.deal.strength, arrays.stakes, work)
    _by_hand(levels, hands, work, out)


@njit(cache=True)
def _later_values(
    seat: Any,
    leaf: Any,
    end: Any,
    arrays: Any,
    own: Any,
    others: Any,
    added: Any,
    key: Any,
    texture: Any,
    sizes: Any,
    space: Any,
    counts: Any,
) -> None:
    """Value of a leaf to a seat by hand, to ``space.later.value[0]``; its regrets after the flop are `added`."""
    templates, leaves, hands, walk = arrays.templates, arrays.leaves, space.hands, space.later
    table = arrays.preflop_entries + leaves.table[leaf]
    num_hands = hands.number[0]
    learn = added.shape[0] > 0
    places = 0
    walk.pending[0, 0] = leaves.root[leaf]
    walk.pending[0, 1] = -1
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = walk.pending[waiting, 0]
        above, taken = walk.pending[waiting, 1], walk.pending[waiting, 2]
        while templates.player[node] >= 0:
            player = leaves.seat[leaf, templates.player[node]]
            if player == seat:
                break
            row, street = templates.row[node], templates.street[node]
            actions = templates.actions[node]
            first = table + templates.entry[row] + hands.drawn[player, street]
            step = templates.entry[row + 1] - templates.entry[row] if actions > 1 else 0
            chance = _uniform(key, seat, (np.int64(end) << 24) + node)
            node = templates.child[row + _draw(others, first, step, actions, chance)]
            counts[3] += 1
        place = places
        places += 1
        walk.node[place] = node
        if above >= 0:
            walk.action[above, taken] = place
        if templates.player[node] < 0:
            _later_end(seat, leaf, end, node, arrays, space, walk.value[place])
            continue
        for k in range(templates.actions[node] - 1, -1, -1):
            walk.pending[waiting, 0] = templates.child[templates.row[node] + k]
            walk.pending[waiting, 1] = place
            walk.pending[waiting, 2] = k
            waiting += 1
    counts[3] += places
    for place in range(places - 1, -1, -1):
        node = walk.node[place]
        if templates.player[node] < 0:
            continue
        counts[4] += 1
        row, actions, street = templates.row[node], templates.actions[node], templates.street[node]
        size = sizes[street]
        first = table + templates.entry[row] + texture * size
        step = templates.entry[row + 1] - templates.entry[row] if actions > 1 else 0
        _match(own, first, step, actions, size, walk.share, walk.total)
        value = walk.value[place]
        bucket = hands.bucket[street]
        value[:num_hands] = 0
        for k in range(actions):
            below, share = walk.value[walk.action[place, k]], walk.share[k]
            for m in range(num_hands):
                value[m] += share[bucket[m]] * below[m]
        if learn:
            for k in range(actions):
                below = walk.value[walk.action[place, k]]
                regret = added[first + k * step : first + k * step + size]
                for m in range(num_hands):
                    regret[bucket[m]] += below[m] - value[m]


@njit(cache=True)
def _leaf_values(
    seat: Any,
    leaf: Any,
    end: Any,
    arrays: Any,
    own: Any,
    others: Any,
    added: Any,
    key: Any,
    texture: Any,
    sizes: Any,
    space: Any,
    counts: Any,
    out: Any,
) -> None:
    """Value of a leaf to a seat by class, summed over the hands that nobody blocks."""
    hands = space.hands
    _later_values(seat, leaf, end, arrays, own, others, added, key, texture, sizes, space, counts)
    out[:] = 0
    value = space.later.value[0]
    for m in range(hands.number[0]):
        out[hands.group[m]] += value[m]
