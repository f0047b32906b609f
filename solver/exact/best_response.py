"""Exact best responses to, and values of, any strategy of a two-player game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree
from solver.cfr.exploitability import Evaluation
from solver.cfr.schedules import schedule
from solver.exact.deals import CardGame
from solver.exact.engine import CfrEngine

#: ``strategy(node, board, hands) -> probabilities [action, hand]`` of the player to act, for each of its hands.
StrategyFunction = Callable[[int, tuple[int, ...], NDArray[np.uint8]], NDArray[np.floating]]


@dataclass(frozen=True)
class BestResponse:
    """The best response of one player.

    Attributes
    ----------
    value : float
        Mean payoff per deal, over an even split of the dead money.
    by_hand : float64 array
        Mean payoff of each root hand; zero for hands that no opponent hand can meet.
    """

    value: float
    by_hand: NDArray[np.float64]


def best_response(engine: CfrEngine, player: int) -> BestResponse:
    """Best response of a player to the opponent's average strategy."""
    values = engine.root_values(player, best=True)
    met = engine.compatible(player, engine.game.weights[1 - player])
    by_hand = np.divide(values, met, out=np.zeros_like(values), where=met > 0.0)
    return BestResponse(float(engine.game.weights[player] @ values) / engine.pair_weight, by_hand)


def engine_for(tree: PublicTree, game: CardGame, strategy: StrategyFunction) -> CfrEngine:
    """An engine that holds a given strategy as its average, to be evaluated or queried.

    Raises
    ------
    ValueError
        If a strategy has the wrong shape, a negative entry or a hand without any action.
    """
    engine = CfrEngine(tree, game, schedule("vanilla"), precision="float64", isomorphism=False)
    first = int(tree.street[0])
    for board, cards in enumerate(engine.deals.cards):
        street = first + int(engine.deals.boards[board]["street"])
        for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist():
            player = int(tree.player[node])
            hands = game.hands[player][engine.deals.hands[player][board]]
            probabilities = np.asarray(strategy(node, cards, hands), dtype=np.float64)
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
    """Expected values and best responses of any strategy: pure, mixed, cleaned or raw.

    Parameters
    ----------
    strategy
        Called once per decision node and board with the node, all public cards and the hands of the player to act;
        returns ``[action, hand]``, each hand's probabilities up to a common factor.
    """
    return engine_for(tree, game, strategy).evaluate()
