"""Leaf values when both players follow a fixed strategy below the leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import PublicTree
from solver.betting.tree_parts import lower_part
from solver.cfr.leaves import Leaves, Reach
from solver.exact.card_game import CardGame
from solver.exact.engine import CfrEngine
from solver.exact.strategies import StrategyFunction, engine_for


@dataclass(frozen=True)
class _Continuation:
    """What follows all leaves of one board: their numbers, the root hands still possible, and the play below."""

    leaves: NDArray[np.int64]
    hands: tuple[NDArray[np.int64], NDArray[np.int64]]
    engine: CfrEngine


class FixedLeaves:
    """Values of leaves below which both players follow a fixed strategy, over every run-out.

    It holds the strategy of everything below the leaves, and a call costs an evaluation of all of that. So it suits
    small games, short streets and proofs.

    Parameters
    ----------
    tree
        The whole betting tree: it goes on where the engine's tree stops.
    nodes
        Node of `tree` for each node of the engine's tree, as from `solver.betting.tree_parts.upper_part`.
    game
        Cards at the engine's root.
    strategy
        How both play; nodes are those of `tree`. It must treat suits alike that the engine deals as one.
    """

    def __init__(
        self,
        tree: PublicTree,
        nodes: NDArray[np.integer],
        game: CardGame,
        strategy: StrategyFunction,
    ) -> None:
        self.tree, self.nodes, self.game, self.strategy = tree, nodes, game, strategy
        self._continuations: list[_Continuation] = []
        self._known: Leaves | None = None

    def values(self, leaves: Leaves, reach: Reach, player: int) -> NDArray[np.float64]:
        """Counterfactual values as `solver.cfr.leaves.LeafProvider` describes them."""
        if leaves is not self._known:
            self._continuations = self._continue(leaves)
            self._known = leaves
        values = np.zeros((len(leaves), len(self.game.hands[player])))
        for below in self._continuations:
            arriving = reach[1 - player][np.ix_(below.leaves, below.hands[1 - player])]
            values[np.ix_(below.leaves, below.hands[player])] = below.engine.entry_values(player, arriving)
        return values

    def _continue(self, leaves: Leaves) -> list[_Continuation]:
        of_board: dict[tuple[int, ...], list[int]] = {}
        for leaf, cards in enumerate(leaves.boards.tolist()):
            of_board.setdefault(tuple(cards), []).append(leaf)
        found = []
        for board, numbers in of_board.items():
            here = np.array(numbers)
            part, nodes = lower_part(self.tree, self.nodes[leaves.nodes[here]])
            game, hands = self._game_on(board)
            found.append(_Continuation(here, hands, engine_for(part, game, self.strategy, nodes)))
        return found

    def _game_on(
        self, cards: tuple[int, ...]
    ) -> tuple[CardGame, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The cards once a board is dealt, and the root hands that it leaves."""
        game = self.game
        first, second = (np.flatnonzero(~np.isin(hands, cards).any(axis=1)) for hands in game.hands)
        rest = replace(
            game,
            hands=(game.hands[0][first], game.hands[1][second]),
            weights=(game.weights[0][first], game.weights[1][second]),
            board=cards,
            deck=tuple(card for card in game.deck if card not in cards),
            num_deals=game.num_deals - (len(cards) - len(game.board)),
        )
        return rest, (first, second)
