"""Regret matching: a decision's actions are played in proportion to their regrets above zero, evenly if there are none.

The regrets of a decision are rows of a flat table, one for each action and at equal distances, with a column for each
hand class or bucket. Probabilities are matched to themselves, so tables of regrets and of probabilities are read alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, inline="always")
def _match(table: Any, first: Any, step: Any, actions: Any, width: Any, share: Any, total: Any) -> None:
    """Probabilities ``share[k, c]`` of the actions k by column c, from rows that begin at ``first + k * step``."""
    total[:width] = 0
    for k in range(actions):
        regret, positive = table[first + k * step : first + k * step + width], share[k]
        for c in range(width):
            positive[c] = max(regret[c], np.float32(0))
            total[c] += positive[c]
    even = np.float32(1) / actions
    for c in range(width):
        total[c] = np.float32(1) / total[c] if total[c] > 0 else np.float32(0)
    for k in range(actions):
        positive = share[k]
        for c in range(width):
            positive[c] = positive[c] * total[c] if total[c] > 0 else even


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
