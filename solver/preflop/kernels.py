"""Kernels of the heads-up preflop solver: reach, values, regrets, regret matching.

Tables are ``[node, class]`` and a row belongs to the action that leads to the node. Values follow from two
facts about a range r (a probability per class):

- pairs that avoid hand i = (a, b):  c_i (sum_j c_j r_j - S_a - S_b + r_i), with c the combos of a
  class and S_a the range's combos that hold one given card of rank a (equal for all four suits);
- pots won by hand i:  sum_j E_ij r_j, with E_ij the disjoint pairs times the equity of i against j.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class GameArrays(NamedTuple):
    """What the kernels read of a game; the tree's arrays, then those of `solver.preflop.game.PreflopGame`."""

    player: NDArray[np.int8]
    parent: NDArray[np.int32]
    child_start: NDArray[np.int32]
    num_children: NDArray[np.int32]
    children: NDArray[np.int32]
    reach_node: NDArray[np.int32]
    leaf_slot: NDArray[np.int32]
    constant: NDArray[np.float64]
    slope: NDArray[np.float64]
    equity: NDArray[np.float64]
    combos: NDArray[np.float64]
    ranks: NDArray[np.int64]


class TableArrays(NamedTuple):
    """What the kernels update, ``[node, class]`` each; see `solver.preflop.solver.PreflopTables`."""

    regret: NDArray[np.float64]
    last_regret: NDArray[np.float64]
    strategy_sum: NDArray[np.float64]
    strategy: NDArray[np.float64]


class Factors(NamedTuple):
    """The discounts of one iteration; see `solver.cfr.schedules.DiscountWeights`."""

    positive: float
    negative: float
    strategy: float
    prediction: float


@njit(cache=True)
def _reach(player: Any, parent: Any, strategy: Any, seat: int, reach: Any) -> None:
    """Probability that the classes of a seat play their part of the way to each node."""
    reach[0, :] = 1.0
    for node in range(1, len(parent)):
        before = parent[node]
        if player[before] == seat:
            for i in range(reach.shape[1]):
                reach[node, i] = reach[before, i] * strategy[node, i]
        else:
            for i in range(reach.shape[1]):
                reach[node, i] = reach[before, i]


@njit(cache=True)
def _pairs(reach: Any, combos: Any, ranks: Any, out: Any) -> None:
    """Combo pairs of each own class with the opponent's range (the first fact above)."""
    by_rank = np.zeros(13)
    total = 0.0
    for j in range(len(reach)):
        weight = reach[j] * combos[j]
        total += weight
        by_rank[ranks[j, 0]] += 0.25 * weight
        by_rank[ranks[j, 1]] += 0.25 * weight
    for i in range(len(reach)):
        out[i] = combos[i] * (total - by_rank[ranks[i, 0]] - by_rank[ranks[i, 1]] + reach[i])


@njit(cache=True)
def _pots_won(reach: Any, equity: Any, held: Any, out: Any) -> None:
    """``out[i] = sum_j reach[j] equity[j, i]`` over the classes that are held at all."""
    num_held = 0
    for j in range(len(reach)):
        if reach[j] != 0.0:
            held[num_held] = j
            num_held += 1
    out[:] = 0.0
    k = 0
    # Four rows at a time: the sums stay in registers for four products instead of one.
    while k + 4 <= num_held:
        a, b, c, d = held[k], held[k + 1], held[k + 2], held[k + 3]
        ra, rb, rc, rd = reach[a], reach[b], reach[c], reach[d]
        for i in range(len(out)):
            out[i] += ra * equity[a, i] + rb * equity[b, i] + rc * equity[c, i] + rd * equity[d, i]
        k += 4
    while k < num_held:
        for i in range(len(out)):
            out[i] += reach[held[k]] * equity[held[k], i]
        k += 1


@njit(cache=True)
def _checked_down(game: Any, nodes: Any, opponent_reach: Any, seat: int, values: Any) -> None:
    """Values of `seat` at some ends of lines, ``[node, class]``, when nobody bets any more."""
    num_classes = values.shape[1]
    pairs, pots = np.empty(num_classes), np.empty(num_classes)
    held = np.empty(num_classes, dtype=np.int64)
    for k in range(len(nodes)):
        _pairs(opponent_reach[k], game.combos, game.ranks, pairs)
        _pots_won(opponent_reach[k], game.equity, held, pots)
        flat, steep = game.constant[seat, nodes[k]], game.slope[seat, nodes[k]]
        for i in range(num_classes):
            values[k, i] = flat * pairs[i] + steep * pots[i]


@njit(cache=True)
def _node_values(
    game: Any, leaf_values: Any, strategy: Any, seat: int, best: bool, reach: Any, values: Any
) -> None:
    """Counterfactual values of `seat` at every node, in chips times deals, against the other's strategy.

    The values of the lines that see a flop are in `leaf_values`; when it has no rows, they are checked down.
    With `best` the seat takes its best action for each class, otherwise it plays its strategy.
    `reach` holds the other seat's reach on return.
    """
    other = 1 - seat
    _reach(game.player, game.parent, strategy, other, reach)
    num_nodes, num_classes = values.shape
    leaves_given = len(leaf_values) > 0
    pairs = np.empty((num_nodes, num_classes))
    pots = np.empty((num_nodes, num_classes))
    state = np.zeros(num_nodes, dtype=np.int8)  # 1: pairs are known, 2: pots won too
    held = np.empty(num_classes, dtype=np.int64)
    for node in range(num_nodes - 1, -1, -1):
        if leaves_given and game.leaf_slot[node] >= 0:
            slot = game.leaf_slot[node]
            for i in range(num_classes):
                values[node, i] = leaf_values[slot, i]
            continue
        if game.num_children[node] == 0:
            # Ends of lines with the same opponent's reach share their pairs and their pots.
            source = game.reach_node[other, node]
            if state[source] == 0:
                _pairs(reach[source], game.combos, game.ranks, pairs[source])
                state[source] = 1
            flat, steep = game.constant[seat, node], game.slope[seat, node]
            if steep == 0.0:
                for i in range(num_classes):
                    values[node, i] = flat * pairs[source, i]
            else:
                if state[source] == 1:
                    _pots_won(reach[source], game.equity, held, pots[source])
                    state[source] = 2
                for i in range(num_classes):
                    values[node, i] = flat * pairs[source, i] + steep * pots[source, i]
            continue
        first = game.child_start[node]
        for k in range(game.num_children[node]):
            child = game.children[first + k]
            if game.player[node] == other:
                for i in range(num_classes):
                    values[node, i] = values[child, i] + (values[node, i] if k else 0.0)
            elif best:
                for i in range(num_classes):
                    values[node, i] = max(values[child, i], values[node, i]) if k else values[child, i]
            else:
                for i in range(num_classes):
                    values[node, i] = strategy[child, i] * values[child, i] + (values[node, i] if k else 0.0)


@njit(cache=True)
def _add_regrets(
    game: Any, seat: int, factors: Any, floor_negative: bool, reach: Any, values: Any, tables: Any
) -> None:
    """Discount a seat's regrets and average, then add those of an iteration."""
    player, parent = game.player, game.parent
    regret, last_regret, strategy_sum = tables.regret, tables.last_regret, tables.strategy_sum
    positive, negative, decay = factors.positive, factors.negative, factors.strategy
    for child in range(1, len(parent)):
        node = parent[child]
        if player[node] != seat:
            continue
        for i in range(values.shape[1]):
            gain = values[child, i] - values[node, i]
            old = regret[child, i]
            new = old * (positive if old > 0.0 else negative) + gain
            regret[child, i] = max(new, 0.0) if floor_negative else new
            last_regret[child, i] = gain
            strategy_sum[child, i] = strategy_sum[child, i] * decay + reach[child, i]


@njit(cache=True)
def _regret_matching(game: Any, seat: int, scale: float, predictive: bool, tables: Any) -> None:
    """Strategy in proportion to max(R, 0), or to max(scale * R + last regret, 0) when predictive."""
    regret, last_regret, strategy = tables.regret, tables.last_regret, tables.strategy
    total = np.empty(strategy.shape[1])
    for node in range(len(game.player)):
        if game.player[node] != seat:
            continue
        total[:] = 0.0
        first = game.child_start[node]
        for k in range(first, first + game.num_children[node]):
            child = game.children[k]
            for i in range(len(total)):
                claim = regret[child, i]
                if predictive:
                    claim = scale * claim + last_regret[child, i]
                strategy[child, i] = max(claim, 0.0)
                total[i] += strategy[child, i]
        uniform = 1.0 / game.num_children[node]
        for k in range(first, first + game.num_children[node]):
            child = game.children[k]
            for i in range(len(total)):
                strategy[child, i] = strategy[child, i] / total[i] if total[i] > 0.0 else uniform


@njit(cache=True)
def _update(
    game: Any,
    leaf_values: Any,
    seat: int,
    factors: Any,
    floor_negative: bool,
    predictive: bool,
    tables: Any,
    reach: Any,
    values: Any,
) -> None:
    """Update one seat: values against the other's strategy, regrets and average, the next strategy."""
    _node_values(game, leaf_values, tables.strategy, seat, False, reach, values)
    _reach(game.player, game.parent, tables.strategy, seat, reach)
    _add_regrets(game, seat, factors, floor_negative, reach, values, tables)
    _regret_matching(game, seat, factors.prediction, predictive, tables)


@njit(cache=True)
def _iterate_checked_down(
    game: Any, factors: Any, floor_negative: bool, predictive: bool, tables: Any
) -> None:
    """Run one iteration per row of `factors` (as in `Factors`) with every flop checked down."""
    shape = tables.regret.shape
    reach, values = np.empty(shape), np.empty(shape)
    leaf_values = np.empty((0, shape[1]))
    for t in range(len(factors)):
        now = Factors(factors[t, 0], factors[t, 1], factors[t, 2], factors[t, 3])
        for seat in range(2):
            _update(game, leaf_values, seat, now, floor_negative, predictive, tables, reach, values)
