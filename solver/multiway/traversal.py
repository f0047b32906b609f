"""One traversal: a seat tries all its actions with all its hands, the others draw theirs with the hands dealt to them.

Down: from a decision of the seat every action is followed, from a decision of another seat one action, drawn from its
regrets by regret matching. Up: the value of a decision is that of its actions weighted by the seat's own strategy, and
its regrets grow by the difference. Values are vectors: by hand class before the flop, by hand on the board after it.

The tables of the seat that learns (`own`) and of the others (`others`) are one array in self-play. A responder has a
table of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.card_kernels import _combo_index
from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from abstractions.evaluator import _sorted_board
from solver.multiway.deals import WIDTH, Deal, _class_of, _deal, _deal_key, _uniform, work_space
from solver.multiway.game import MultiwayGame
from solver.multiway.payoffs import Scratch, _outcomes, _terminal_values, scratch

STREETS_AFTER_FLOP = 3
_COMBO_LOW, _COMBO_HIGH = (np.ascontiguousarray(COMBO_CARDS[:, k], dtype=np.int64) for k in range(2))
#: What a call counts: draws before the flop, own decisions before it, ends before it, nodes after it, own ones there.
COUNTERS = ("draws", "decisions", "ends", "later_nodes", "later_decisions")


class Hands(NamedTuple):
    """All hands that nobody blocks, from weakest to strongest, for play after the flop.

    ``lower[s]`` hands are weaker than the hand of seat s and ``upper[s]`` are not stronger. ``bucket[k, m]`` is the
    column of hand m on street k, ``drawn[s, k]`` that of the hand dealt to seat s. ``number[0]`` hands there are.
    """

    number: NDArray[np.int64]
    board: NDArray[np.uint8]
    strengths: NDArray[np.int16]
    order: NDArray[np.int16]
    strength: NDArray[np.int64]
    group: NDArray[np.int32]
    bucket: NDArray[np.int32]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    drawn: NDArray[np.int64]


class Walk(NamedTuple):
    """Work space of a traversal: places visited, their actions, values by place, strategies, places to visit."""

    node: NDArray[np.int64]
    action: NDArray[np.int64]
    value: NDArray[np.float32]
    share: NDArray[np.float32]
    total: NDArray[np.float32]
    pending: NDArray[np.int64]


class Space(NamedTuple):
    """Everything that `_play_deals` writes to while it works."""

    deal: Deal
    work: Scratch
    hands: Hands
    walk: Walk
    later: Walk


class Columns(NamedTuple):
    """Columns of the tables after the flop: ``size[k]`` buckets of a texture on street k, and by deal the buckets.

    ``bucket[d, k, combo]`` is within the texture ``texture[d]``. Both are empty where flops are checked down.
    """

    size: NDArray[np.int64]
    bucket: NDArray[np.uint16]
    texture: NDArray[np.int64]


NO_COLUMNS = Columns(
    np.zeros(STREETS_AFTER_FLOP, np.int64),
    np.zeros((0, STREETS_AFTER_FLOP, NUM_COMBOS), np.uint16),
    np.zeros(0, np.int64),
)


def _walk(places: int, actions: int, width: int, columns: int) -> Walk:
    return Walk(
        node=np.zeros(places, np.int64),
        action=np.zeros((places, actions), np.int64),
        value=np.zeros((places, width), np.float32),
        share=np.zeros((actions, columns), np.float32),
        total=np.zeros(columns, np.float32),
        pending=np.zeros((places * actions + 1, 3), np.int64),
    )


def space_for(game: MultiwayGame, columns: int = 1) -> Space:
    """Work space for a game; `columns` is the largest number of buckets of a texture."""
    seats = game.seats
    whole = np.zeros
    hands = Hands(
        number=whole(1, np.int64),
        board=whole(5, np.uint8),
        strengths=whole(NUM_COMBOS, np.int16),
        order=whole(NUM_COMBOS, np.int16),
        strength=whole(NUM_COMBOS, np.int64),
        group=whole(NUM_COMBOS, np.int32),
        bucket=whole((STREETS_AFTER_FLOP, NUM_COMBOS), np.int32),
        lower=whole(seats, np.int64),
        upper=whole(seats, np.int64),
        drawn=whole((seats, STREETS_AFTER_FLOP), np.int64),
    )
    places, actions = (1, 1) if game.postflop is None else game.postflop.largest
    return Space(
        work_space(seats),
        scratch(seats),
        hands,
        _walk(game.records, game.most_actions, WIDTH, WIDTH),
        _walk(places, actions, NUM_COMBOS if game.postflop is not None else 1, columns),
    )


@njit(cache=True, inline="always")
def _draw(table: Any, first: Any, step: Any, actions: Any, chance: Any) -> Any:
    """Action drawn by regret matching on ``table[first + k * step]``; uniform where no regret is above zero."""
    total = np.float32(0)
    for k in range(actions):
        total += max(table[first + k * step], np.float32(0))
    if not total > 0:
        return min(actions - 1, np.int64(chance * actions))
    left = chance * total
    chosen: Any = np.int64(-1)
    for k in range(actions):
        regret = table[first + k * step]
        if regret > 0:
            chosen = k
            left -= regret
            if left < 0:
                break
    return chosen


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
    start = 0
    for k in range(levels):
        other = work.level_seat[k]
        out[start : hands.lower[other]] = work.value[2 * k]
        out[hands.lower[other] : hands.upper[other]] = work.value[2 * k + 1]
        start = hands.upper[other]
    out[start : hands.number[0]] = work.value[2 * levels]


@njit(cache=True, fastmath=True)
def _later_values(
    seat: Any,
    leaf: Any,
    end: Any,
    arrays: Any,
    own: Any,
    others: Any,
    learn: Any,
    key: Any,
    texture: Any,
    sizes: Any,
    space: Any,
    counts: Any,
) -> None:
    """Value of a leaf to a seat by hand, to ``space.later.value[0]``; its regrets after the flop are updated."""
    templates, leaves, hands, walk = arrays.templates, arrays.leaves, space.hands, space.later
    table = arrays.preflop_entries + leaves.table[leaf]
    num_hands = hands.number[0]
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
        start = table + texture * size
        walk.total[:size] = 0
        for k in range(actions):
            regret = own[start + templates.entry[row + k] : start + templates.entry[row + k] + size]
            for b in range(size):
                share = max(regret[b], np.float32(0))
                walk.share[k, b] = share
                walk.total[b] += share
        even = np.float32(1) / actions
        for b in range(size):
            walk.total[b] = np.float32(1) / walk.total[b] if walk.total[b] > 0 else np.float32(0)
        for k in range(actions):
            for b in range(size):
                walk.share[k, b] = walk.share[k, b] * walk.total[b] if walk.total[b] > 0 else even
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
                regret = own[start + templates.entry[row + k] : start + templates.entry[row + k] + size]
                for m in range(num_hands):
                    regret[bucket[m]] += below[m] - value[m]


@njit(cache=True, fastmath=True)
def _leaf_values(
    seat: Any,
    leaf: Any,
    end: Any,
    arrays: Any,
    own: Any,
    others: Any,
    learn: Any,
    key: Any,
    texture: Any,
    sizes: Any,
    space: Any,
    counts: Any,
    out: Any,
) -> None:
    """Value of a leaf to a seat by class, summed over the hands that nobody blocks."""
    hands = space.hands
    _later_values(seat, leaf, end, arrays, own, others, learn, key, texture, sizes, space, counts)
    out[:] = 0
    value = space.later.value[0]
    for m in range(hands.number[0]):
        out[hands.group[m]] += value[m]


@njit(cache=True, fastmath=True)
def _traverse(
    seat: Any,
    arrays: Any,
    own: Any,
    others: Any,
    learn: Any,
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
                learn,
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
        _back_up(place, betting.row[node], betting.actions[node], own, learn, walk)


@njit(cache=True, fastmath=True)
def _back_up(place: Any, row: Any, actions: Any, own: Any, learn: Any, walk: Any) -> None:
    """Value of an own decision before the flop; its regrets grow by what each action wins more than that."""
    value, total = walk.value[place], walk.total
    for c in range(WIDTH):
        total[c] = 0
        value[c] = 0
    for k in range(actions):
        start = (np.int64(row) + k) * WIDTH
        regret, share = own[start : start + WIDTH], walk.share[k]
        for c in range(WIDTH):
            positive = max(regret[c], np.float32(0))
            share[c] = positive
            total[c] += positive
    even = np.float32(1) / actions
    for c in range(WIDTH):
        total[c] = np.float32(1) / total[c] if total[c] > 0 else np.float32(0)
    for k in range(actions):
        below, share = walk.value[walk.action[place, k]], walk.share[k]
        for c in range(WIDTH):
            weight = share[c] * total[c] if total[c] > 0 else even
            value[c] += weight * below[c]
    if learn:
        for k in range(actions):
            start = (np.int64(row) + k) * WIDTH
            regret, below = own[start : start + WIDTH], walk.value[walk.action[place, k]]
            for c in range(WIDTH):
                regret[c] += below[c] - value[c]


@njit(cache=True, nogil=True, fastmath=True)
def _play_deals(
    arrays: Any,
    own: Any,
    others: Any,
    learn: Any,
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
                _traverse(seat, arrays, own, others, learn, key, number, columns, space, counts)
                values[number, seat] = space.walk.value[0].sum() / hands
