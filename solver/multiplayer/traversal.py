"""One deal for one player: all its hands and actions on the street, against drawn hands and actions of the others.

Down the street every own action is followed, and one action of each other player, drawn from its regrets. Where the
street ends, each player goes on with one of the continuations of the blueprint: the others with one that is drawn from
their regrets at the leaf, the own hands with all of them. Behind the leaf everybody plays the blueprint in buckets. Up,
values are weighted by the own strategy, and regrets grow by what each action or continuation wins more than that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS
from abstractions.evaluator import _sorted_board
from solver.multiplayer.street_game import StreetGame
from solver.multiway.deals import _deal_key, _draw_cards, _mix, _uniform
from solver.multiway.payoffs import Scratch, _outcomes, scratch
from solver.multiway.traversal import _draw

_COMBO_LOW, _COMBO_HIGH = (np.ascontiguousarray(COMBO_CARDS[:, k], dtype=np.int64) for k in range(2))
#: Times that hands are drawn anew because two of them share a card, before a deal is given up.
MAX_TRIES = 20_000
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Hands(NamedTuple):
    """The own hands that nobody blocks, from weakest to strongest; see `solver.multiway.traversal.Hands`."""

    number: NDArray[np.int64]
    strengths: NDArray[np.int16]
    order: NDArray[np.int16]
    strength: NDArray[np.int64]
    combo: NDArray[np.int64]
    column: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    seat_strength: NDArray[np.int64]
    chosen: NDArray[np.int64]


class Walk(NamedTuple):
    """Places visited, where their actions lead, values by place, continuation and hand, and places to visit."""

    node: NDArray[np.int64]
    action: NDArray[np.int64]
    value: NDArray[np.float32]
    share: NDArray[np.float32]
    total: NDArray[np.float32]
    pending: NDArray[np.int64]


class Space(NamedTuple):
    """Everything that the kernels write to while they work."""

    work: Scratch
    hands: Hands
    walk: Walk
    later: Walk


class Deals(NamedTuple):
    """Drawn deals: ``hand[d, s]`` is the combo of seat s, -1 for the player who holds all hands, ``board[d]`` the full
    board, and ``column[d, k]`` the columns of all combos on the street k after the flop (empty behind the river).
    """

    hand: NDArray[np.int64]
    board: NDArray[np.uint8]
    column: NDArray[np.int64]


def _walk(places: int, actions: int, values: int) -> Walk:
    return Walk(
        node=np.zeros(places, np.int64),
        action=np.zeros((places, actions), np.int64),
        value=np.zeros((places, values, NUM_COMBOS), np.float32),
        share=np.zeros((actions, NUM_COMBOS), np.float32),
        total=np.zeros(NUM_COMBOS, np.float32),
        pending=np.zeros((places * actions + 1, 3), np.int64),
    )


def space_for(game: StreetGame) -> Space:
    """Work space for a street."""
    seats, whole = game.arrays.seats, np.zeros
    hands = Hands(
        number=whole(1, np.int64),
        strengths=whole(NUM_COMBOS, np.int16),
        order=whole(NUM_COMBOS, np.int16),
        strength=whole(NUM_COMBOS, np.int64),
        combo=whole(NUM_COMBOS, np.int64),
        column=whole((3, NUM_COMBOS), np.int64),
        lower=whole(seats, np.int64),
        upper=whole(seats, np.int64),
        seat_strength=whole(seats, np.int64),
        chosen=whole(seats, np.int64),
    )
    return Space(
        scratch(seats),
        hands,
        _walk(game.places, game.most_actions, 1),
        _walk(game.later_places, game.most_later_actions, game.arrays.values),
    )


@njit(cache=True, nogil=True)
def _draw_deals(seed: Any, first: Any, seat: Any, weights: Any, known: Any, hand: Any, boards: Any) -> Any:
    """Draw a hand for every seat but one, by the sums ``weights[s]`` of its range, and the rest of the board.

    Hands are drawn for all seats together until no two share a card, so a deal is as likely as its weight says.
    Returns the number of deals for which that did not succeed.
    """
    seats = hand.shape[1]
    public = np.int64(0)
    for k in range(known):
        public |= np.int64(1) << np.int64(boards[0, k])
    cards = np.empty(5, np.int64)
    failed = 0
    for d in range(hand.shape[0]):
        state = _mix(_deal_key(seed, first + d) + np.uint64(seat + 1) * _STEP)
        mask = public
        is_dealt = False
        for _ in range(MAX_TRIES):
            mask = public
            is_dealt = True
            for s in range(seats):
                hand[d, s] = -1
                if s == seat:
                    continue
                state += _STEP
                chance = np.float64(_mix(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
                combo = np.searchsorted(weights[s], chance * weights[s, -1], side="right")
                bits = (np.int64(1) << _COMBO_LOW[combo]) | (np.int64(1) << _COMBO_HIGH[combo])
                if mask & bits:
                    is_dealt = False
                    break
                mask |= bits
                hand[d, s] = combo
            if is_dealt:
                break
        failed += not is_dealt
        _draw_cards(_mix(state), known, 5, mask, np.int64(52), cards)
        for k in range(known, 5):
            boards[d, k] = cards[k]
    return failed


@njit(cache=True)
def _find_hands(seat: Any, d: Any, deals: Any, held: Any, hands: Any) -> None:
    """Sort the own hands that nobody blocks, compare them with those dealt, and look up their columns."""
    _sorted_board(deals.board[d], hands.strengths, hands.order)
    seats = deals.hand.shape[1]
    blocked = np.int64(0)
    for s in range(seats):
        if s != seat:
            combo = deals.hand[d, s]
            blocked |= (np.int64(1) << _COMBO_LOW[combo]) | (np.int64(1) << _COMBO_HIGH[combo])
            hands.seat_strength[s] = hands.strengths[combo]
    count = 0
    for k in range(1081):
        combo = np.int64(hands.order[k])
        if not held[combo] or (blocked >> _COMBO_LOW[combo]) & 1 or (blocked >> _COMBO_HIGH[combo]) & 1:
            continue
        hands.combo[count] = combo
        hands.strength[count] = hands.strengths[combo]
        count += 1
    hands.number[0] = count
    for s in range(seats):
        if s != seat:
            strength = hands.seat_strength[s]
            hands.lower[s] = np.searchsorted(hands.strength[:count], strength)
            hands.upper[s] = np.searchsorted(hands.strength[:count], strength, side="right")
    for street in range(deals.column.shape[1]):
        for m in range(count):
            hands.column[street, m] = deals.column[d, street, hands.combo[m]]


@njit(cache=True)
def _end_values(seat: Any, end: Any, live: Any, has_extra: Any, arrays: Any, space: Any, out: Any) -> None:
    """Net chips of a player at an end by hand, given what was put in since the end's street in ``work.extra``."""
    work, hands = space.work, space.hands
    levels = _outcomes(seat, arrays.terminals, end, live, has_extra, hands.seat_strength, arrays.stakes, work)
    start = 0
    for k in range(levels):
        other = work.level_seat[k]
        out[start : hands.lower[other]] = work.value[2 * k]
        out[hands.lower[other] : hands.upper[other]] = work.value[2 * k + 1]
        start = hands.upper[other]
    out[start : hands.number[0]] = work.value[2 * levels]


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
            if lost >= 0:
                # What the others do after the player has folded is none of its business.
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
