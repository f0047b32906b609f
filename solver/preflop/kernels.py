"""Kernels of the heads-up preflop solver: reach, leaf values, backing up, regret matching.

Tables are ``[node, class]`` and indexed by the node an action leads to. Values follow from two facts about
a range r (a probability per class):

- pairs that avoid hand i = (a, b):  c_i (sum_j c_j r_j - S_a - S_b + r_i), with c the combos of a
  class and S_a the range's combos that hold one given card of rank a (equal for all four suits);
- pots won by hand i:  sum_j E_ij r_j, with E_ij the disjoint pairs times the equity of i against j.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True)
def _reach(player: Any, parent: Any, reach_node: Any, strategy: Any, seat: int, reach: Any) -> None:
    """Reach of a seat behind each of its own actions; row 0 is the whole range."""
    reach[0, :] = 1.0
    for node in range(1, len(parent)):
        if player[parent[node]] == seat:
            before = reach_node[seat, parent[node]]
            for i in range(reach.shape[1]):
                reach[node, i] = reach[before, i] * strategy[node, i]


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
def _node_values(
    player: Any,
    parent: Any,
    child_start: Any,
    num_children: Any,
    children: Any,
    reach_node: Any,
    constant: Any,
    slope: Any,
    equity: Any,
    combos: Any,
    ranks: Any,
    strategy: Any,
    seat: int,
    best: bool,
    reach: Any,
    values: Any,
) -> None:
    """Counterfactual values of `seat` at every node, in chips times deals, against the other's strategy.

    With `best` the seat takes its best action for each class, otherwise it plays its strategy.
    `reach` holds the other seat's reach on return.
    """
    other = 1 - seat
    _reach(player, parent, reach_node, strategy, other, reach)
    num_nodes, num_classes = values.shape
    pairs = np.empty((num_nodes, num_classes))
    pots = np.empty((num_nodes, num_classes))
    state = np.zeros(num_nodes, dtype=np.int8)  # 1: pairs are known, 2: pots won too
    held = np.empty(num_classes, dtype=np.int64)
    for node in range(num_nodes - 1, -1, -1):
        if num_children[node] == 0:
            source = reach_node[other, node]
            if state[source] == 0:
                _pairs(reach[source], combos, ranks, pairs[source])
                state[source] = 1
            flat, steep = constant[seat, node], slope[seat, node]
            if steep == 0.0:
                for i in range(num_classes):
                    values[node, i] = flat * pairs[source, i]
            else:
                if state[source] == 1:
                    _pots_won(reach[source], equity, held, pots[source])
                    state[source] = 2
                for i in range(num_classes):
                    values[node, i] = flat * pairs[source, i] + steep * pots[source, i]
            continue
        first = child_start[node]
        for k in range(num_children[node]):
            child = children[first + k]
            if player[node] == other:
                for i in range(num_classes):
                    values[node, i] = values[child, i] + (values[node, i] if k else 0.0)
            elif best:
                for i in range(num_classes):
                    values[node, i] = max(values[child, i], values[node, i]) if k else values[child, i]
            else:
                for i in range(num_classes):
                    values[node, i] = strategy[child, i] * values[child, i] + (values[node, i] if k else 0.0)


@njit(cache=True)
def _regret_matching(
    player: Any,
    child_start: Any,
    num_children: Any,
    children: Any,
    seat: int,
    regret: Any,
    last: Any,
    scale: float,
    predictive: bool,
    strategy: Any,
) -> None:
    """Strategy in proportion to max(R, 0), or to max(scale * R + last regret, 0) when predictive."""
    total = np.empty(strategy.shape[1])
    for node in range(len(player)):
        if player[node] != seat:
            continue
        total[:] = 0.0
        first = child_start[node]
        for k in range(first, first + num_children[node]):
            child = children[k]
            for i in range(len(total)):
                claim = regret[child, i]
                if predictive:
                    claim = scale * claim + last[child, i]
                strategy[child, i] = max(claim, 0.0)
                total[i] += strategy[child, i]
        uniform = 1.0 / num_children[node]
        for k in range(first, first + num_children[node]):
            child = children[k]
            for i in range(len(total)):
                strategy[child, i] = strategy[child, i] / total[i] if total[i] > 0.0 else uniform


@njit(cache=True)
def _iterate(
    arrays: Any,
    weights: Any,
    floor_negative: bool,
    predictive: bool,
    regret: Any,
    last: Any,
    strategy: Any,
    strategy_sum: Any,
) -> None:
    """Run one iteration per row of `weights` (positive, negative, strategy, prediction).

    Alternating updates: discount, then add (the recurrence of `solver.cfr.schedules`).
    """
    player, parent, child_start, num_children, children, reach_node = arrays[:6]
    shape = regret.shape
    reach, values = np.empty(shape), np.empty(shape)
    for t in range(len(weights)):
        positive, negative, decay, prediction = weights[t]
        for seat in range(2):
            _node_values(*arrays, strategy, seat, False, reach, values)
            _reach(player, parent, reach_node, strategy, seat, reach)
            for child in range(1, shape[0]):
                node = parent[child]
                if player[node] != seat:
                    continue
                for i in range(shape[1]):
                    gain = values[child, i] - values[node, i]
                    old = regret[child, i]
                    new = old * (positive if old > 0.0 else negative) + gain
                    regret[child, i] = max(new, 0.0) if floor_negative else new
                    last[child, i] = gain
                    strategy_sum[child, i] = strategy_sum[child, i] * decay + reach[child, i]
            _regret_matching(
                player,
                child_start,
                num_children,
                children,
                seat,
                regret,
                last,
                prediction,
                predictive,
                strategy,
            )
