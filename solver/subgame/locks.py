"""Decisions of a subgame whose strategy is given: both sides then learn what is best around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, live_combos
from abstractions.ranges import parse_range
from solver.betting.public_tree import NodeKind
from solver.exact.engine import CfrEngine
from solver.postflop.node_report import real_combos
from solver.subgame.subgame import Subgame

Floats = NDArray[np.float64]
#: How a table marks hands that stay free.
FREE = -1.0
#: Differences that equivalent suits may have by rounding.
_ROUNDING = 1e-5


def action_lock(tokens: Sequence[str], strategy: Mapping[str, float], hands: str | None = None) -> Floats:
    """A lock that plays the same with every hand of a range, ``[action, 1326]``; other hands stay free.

    Parameters
    ----------
    tokens
        Actions of the decision.
    strategy
        Probability of each action by token; actions left out get 0.
    hands
        The range that is locked; every hand where it is left out.

    >>> action_lock(["x", "b300"], {"x": 1.0}, "AA")[:, :1].ravel(), action_lock(["x", "b300"], {"x": 1.0}, "22")[0, 0]
    (array([-1., -1.]), np.float64(1.0))
    """
    for token in strategy:
        if token not in tokens:
            raise ValueError(f"lock: {token!r} is no action there; accepted: {' '.join(tokens)}")
    row = np.array([float(strategy.get(token, 0.0)) for token in tokens])
    if (row < 0.0).any() or abs(row.sum() - 1.0) > 1e-6:
        raise ValueError(
            f"lock: the probabilities sum to {row.sum():g}; expected numbers from 0 to 1 that sum to 1"
        )
    held = np.ones(NUM_COMBOS) if hands is None else np.asarray(parse_range(hands), dtype=np.float64)
    return np.where(held > 0.0, row[:, None], FREE)


def lock_decisions(
    engine: CfrEngine, subgame: Subgame, renamings: Sequence[NDArray[np.integer]], locks: Mapping[str, Floats]
) -> None:
    """Fix decisions of the street that a subgame starts with.

    Parameters
    ----------
    renamings
        Combos under every exchange of suits that the engine takes for one.
    locks
        ``[action, 1326]`` by line; negative entries leave a hand free.

    Raises
    ------
    ValueError
        If nobody acts at a line, a table has another shape or is no distribution, or it treats equivalent suits
        differently.
    """
    live = live_combos(np.array(subgame.board, dtype=np.uint8))
    for line, given in locks.items():
        node = subgame.node_at(line, engine.tree)
        if engine.tree.kind[node] != NodeKind.DECISION or engine.tree.street[node] != engine.tree.street[0]:
            raise ValueError(f"lock: line {line!r} is no decision of the street that is solved")
        table = np.asarray(given, dtype=np.float64)
        expected = (int(engine.tree.num_children[node]), NUM_COMBOS)
        if table.shape != expected:
            raise ValueError(f"lock: {table.shape[0]} actions at {line!r}; expected {expected[0]}")
        free = (table < 0.0).any(axis=0) | ~live
        if not np.allclose(table[:, ~free].sum(axis=0), 1.0, atol=1e-4):
            raise ValueError(f"lock: the probabilities at {line!r} do not sum to 1")
        table = np.where(free, FREE, table)
        evened = np.mean([table[:, renamed] for renamed in renamings], axis=0)
        if not np.allclose(evened, table, atol=_ROUNDING):
            raise ValueError(
                f"lock: {line!r} would treat suits differently that are alike on this board; lock whole hand classes"
            )
        cards = engine.game.hands[int(engine.tree.player[node])]
        engine.lock(node, [0], np.where(free, FREE, evened)[:, real_combos(cards, (0, 1, 2, 3))])
