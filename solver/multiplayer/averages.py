"""Average strategies of a street: every player's own reach times its strategy, exact for all hands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from abstractions.cards import NUM_COMBOS


@njit(cache=True, nogil=True)
def _add_rows(
    first: Any, actions: Any, before: Any, regret: Any, factor: Any, average: Any, reach: Any
) -> None:
    """Add the strategy of `actions` rows to the average, by the reach of the row `before` (-1: everything)."""
    total = np.zeros(NUM_COMBOS, np.float32)
    for k in range(actions):
        own = regret[(first + k) * NUM_COMBOS : (first + k + 1) * NUM_COMBOS]
        for m in range(NUM_COMBOS):
            total[m] += max(own[m], np.float32(0))
    even = np.float32(1) / actions
    for k in range(actions):
        own = regret[(first + k) * NUM_COMBOS : (first + k + 1) * NUM_COMBOS]
        mean = average[(first + k) * NUM_COMBOS : (first + k + 1) * NUM_COMBOS]
        for m in range(NUM_COMBOS):
            share = max(own[m], np.float32(0)) / total[m] if total[m] > 0 else even
            arrived = reach[before, m] if before >= 0 else np.float32(1)
            mean[m] = factor * mean[m] + arrived * share
            if first + k < reach.shape[0]:
                reach[first + k, m] = arrived * share


@njit(cache=True, nogil=True)
def _add_average(arrays: Any, leaf_nodes: Any, regret: Any, factor: Any, average: Any, reach: Any) -> None:
    """Add the strategy that the regrets give now to the average, after it was multiplied by `factor`.

    ``reach[r]`` becomes how likely each combo plays its own part up to row r of the street.
    """
    betting = arrays.betting
    for node in range(betting.player.shape[0]):
        if betting.player[node] >= 0:
            before = betting.last[node, betting.player[node]]
            _add_rows(
                np.int64(betting.row[node]), betting.actions[node], before, regret, factor, average, reach
            )
    rows = np.int64(betting.child.shape[0])
    for leaf in range(leaf_nodes.shape[0]):
        for seat in range(arrays.seats):
            if arrays.chooses[seat] and (arrays.leaves.live[leaf] >> seat) & 1:
                first = rows + (leaf * arrays.seats + seat) * arrays.values
                before = betting.last[leaf_nodes[leaf], seat]
                _add_rows(first, arrays.values, before, regret, factor, average, reach)
