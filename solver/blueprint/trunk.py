"""The trunk of the blueprint: the preflop solver, with the flop lines of the whole game as its leaves.

Folds and all-ins before the flop are exact. A line that sees a flop is worth what its shard says, in the same
unit: chips times deals, summed over the combos of a class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.betting.game import GameConfig
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import game_tree
from solver.cfr.schedules import DiscountWeights
from solver.preflop.game import EquityTable, PreflopGame
from solver.preflop.probabilities import Floats, seat_reach, uniform
from solver.preflop.solver import PreflopTables

#: Factors of an iteration that does not start an epoch.
NO_DISCOUNT = DiscountWeights(
    positive=1.0,
    negative=1.0,
    strategy=1.0,
    prediction=1.0,
    floor_negative=False,
    predictive=False,
    restart=False,
)

# Schedules that predict regrets are refused on sampled boards, so the last regrets are not saved.
SAVED = ("regret", "strategy_sum", "strategy")


@dataclass(frozen=True, eq=False)
class TrunkGame:
    """The preflop game with its flop lines.

    Attributes
    ----------
    preflop
        The preflop tree, its exact values and its leaves.
    tree
        The whole game's tree.
    lines
        The first flop node of each flop line in `tree`, in the order of the leaves of `preflop`.
    """

    preflop: PreflopGame
    tree: PublicTree
    lines: tuple[int, ...]

    @classmethod
    def build(cls, config: GameConfig, table: EquityTable | None = None) -> TrunkGame:
        """Build the game of a two-seat config; `table` defaults to `preflop_table()`."""
        preflop = PreflopGame.build(config, table)
        tree = game_tree(config)
        ends = [tree.node_at(preflop.tree.line(leaf)) for leaf in preflop.leaves.nodes.tolist()]
        return cls(preflop, tree, tuple(int(tree.children_of(end)[0]) for end in ends))

    @property
    def leaves(self) -> tuple[int, ...]:
        """The last node of each flop line in the preflop tree."""
        return tuple(self.preflop.leaves.nodes.tolist())

    @property
    def names(self) -> tuple[str, ...]:
        """Each flop line as text, such as ``b250c``."""
        return tuple(self.preflop.tree.line(leaf) for leaf in self.leaves)

    def reach(self, strategy: Floats, seat: int) -> Floats:
        """Probability by flop line and class that a seat plays its part, float64 [lines, 169]."""
        return seat_reach(self.preflop.tree, strategy, seat)[self.preflop.leaves.nodes]

    def values(self, strategy: Floats, seat: int, flop_values: Floats, *, best: bool = False) -> Floats:
        """Counterfactual value of a seat by preflop node and class, in chips times deals.

        Parameters
        ----------
        strategy
            ``[node, class]``: probability of the action that leads to the node.
        flop_values
            Value of each flop line to the seat, ``[line, class]``.
        best
            Whether the seat takes its best action before the flop.
        """
        return self.preflop.node_values(strategy, seat, flop_values, best=best)

    def response(self, strategy: Floats, seat: int, flop_values: Floats) -> Floats:
        """The strategy with a seat's actions replaced by those that are best for it, given `values`' arguments."""
        values = self.values(strategy, seat, flop_values, best=True)
        tree, chosen = self.preflop.tree, strategy.copy()
        for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == seat)):
            children = tree.children_of(int(node))
            chosen[children] = values[children].argmax(axis=0) == np.arange(len(children))[:, None]
        return chosen

    def uniform(self) -> Floats:
        """The strategy that takes every action alike."""
        return uniform(self.preflop.tree)


class Trunk:
    """Regrets and average strategy of the preflop tree, discounted by epoch."""

    def __init__(self, game: TrunkGame) -> None:
        self.game = game
        self.tables = PreflopTables(game.preflop)

    @property
    def strategy(self) -> Floats:
        """The strategy of the next iteration, ``[node, class]``."""
        return self.tables.strategy

    def update(self, seat: int, flop_values: Floats, weights: DiscountWeights = NO_DISCOUNT) -> None:
        """Update one seat, given the value of each flop line to it, ``[line, class]``.

        `weights` are the factors of the epoch in its first iteration.
        """
        self.tables.update(seat, flop_values, weights)

    def average(self) -> Floats:
        """The average strategy, ``[node, class]`` (uniform where a class was never played to a node)."""
        return self.tables.average()

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs to continue."""
        return self.tables.state(SAVED)

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` of the same game."""
        self.tables.restore(state, SAVED)
