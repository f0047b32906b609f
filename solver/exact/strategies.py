"""Strategies from elsewhere in the exact engine: what any strategy is worth, and what beats it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree
from solver.cfr.exploitability import Evaluation
from solver.cfr.schedules import schedule
from solver.exact.card_game import CardGame
from solver.exact.engine import CfrEngine

#: ``strategy(node, board, hands) -> probabilities [action, hand]`` of the player to act, for each of its hands.
StrategyFunction = Callable[[int, tuple[int, ...], NDArray[np.uint8]], NDArray[np.floating]]


def engine_for(
    tree: PublicTree, game: CardGame, strategy: StrategyFunction, nodes: NDArray[np.integer] | None = None
) -> CfrEngine:
    """An engine that holds a given strategy as its average, to be evaluated or queried.

    Parameters
    ----------
    strategy
        Called once per decision node and board with the node, all public cards and the hands of the player to act;
        returns ``[action, hand]``, each hand's probabilities up to a common factor.
    nodes
        What the strategy calls each node of the tree; by default, what the tree does.

    Raises
    ------
    ValueError
        If a strategy has the wrong shape, a negative entry or a hand without any action.
    """
    engine = CfrEngine(tree, game, schedule("vanilla"), precision="float64", isomorphism=False)
    first = int(tree.street[0])
    names = np.arange(len(tree)) if nodes is None else nodes
    for board, cards in enumerate(engine.deals.cards):
        street = first + int(engine.deals.boards[board]["street"])
        for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist():
            player = int(tree.player[node])
            hands = game.hands[player][engine.deals.hands[player][board]]
            probabilities = np.asarray(strategy(int(names[node]), cards, hands), dtype=np.float64)
            shape = (int(tree.num_children[node]), len(hands))
            if probabilities.shape != shape:
                raise ValueError(
                    f"strategy: line {tree.line(node)!r} has shape {probabilities.shape}, expected {shape}"
                )
            if (probabilities < 0.0).any() or not (probabilities.sum(axis=0) > 0.0).all():
                raise ValueError(f"strategy: line {tree.line(node)!r} is no distribution over actions")
            engine.set_average(node, board, probabilities)
    return engine


def evaluate_strategy(tree: PublicTree, game: CardGame, strategy: StrategyFunction) -> Evaluation:
    """Expected values and best responses of any strategy (as in `engine_for`): pure, mixed, cleaned or raw."""
    return engine_for(tree, game, strategy).evaluate()
