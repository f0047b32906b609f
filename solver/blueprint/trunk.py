"""The trunk of the blueprint: the preflop tree over the 169 classes, flop lines valued from outside.

Folds and all-ins before the flop are exact, with card removal, by the kernels of the preflop solver. A line
that sees a flop is worth what its shard says, in the same unit: chips times deals, summed over the combos
of a class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from solver.betting.game import GameConfig
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import game_tree
from solver.cfr.schedules import DiscountWeights
from solver.preflop.kernels import _pairs, _pots_won, _reach, _regret_matching
from solver.preflop.solver import EquityTable, PreflopGame

Floats = NDArray[np.float64]


@njit(cache=True)
def _trunk_values(
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
    flop_slot: Any,
    flop_values: Any,
    strategy: Any,
    seat: int,
    best: bool,
    reach: Any,
    values: Any,
) -> None:
    """Counterfactual values of `seat` at every node, in chips times deals, against the other's strategy.

    With `best` the seat takes its best action for each class, otherwise it plays its strategy.
    """
    other = 1 - seat
    _reach(player, parent, reach_node, strategy, other, reach)
    num_nodes, num_classes = values.shape
    pairs = np.empty(num_classes)
    pots = np.empty(num_classes)
    held = np.empty(num_classes, dtype=np.int64)
    for node in range(num_nodes - 1, -1, -1):
        if flop_slot[node] >= 0:
            values[node] = flop_values[flop_slot[node]]
            continue
        if num_children[node] == 0:
            source = reach_node[other, node]
            _pairs(reach[source], combos, ranks, pairs)
            flat, steep = constant[seat, node], slope[seat, node]
            for i in range(num_classes):
                values[node, i] = flat * pairs[i]
            if steep != 0.0:
                _pots_won(reach[source], equity, held, pots)
                for i in range(num_classes):
                    values[node, i] += steep * pots[i]
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
def _add_regrets(
    player: Any, parent: Any, seat: int, values: Any, reach: Any, regret: Any, strategy_sum: Any
) -> None:
    for child in range(1, len(parent)):
        node = parent[child]
        if player[node] == seat:
            for i in range(values.shape[1]):
                regret[child, i] += values[child, i] - values[node, i]
                strategy_sum[child, i] += reach[child, i]


@dataclass(frozen=True, eq=False)
class TrunkGame:
    """The preflop game with its flop lines.

    Attributes
    ----------
    preflop
        The preflop tree and its exact leaf values.
    tree
        The whole game's tree.
    lines
        The first flop node of each flop line in `tree`, in tree order.
    leaves
        The same lines' last nodes in the preflop tree.
    flop_slot
        Per preflop node, the number of its flop line or -1.
    """

    preflop: PreflopGame
    tree: PublicTree
    lines: tuple[int, ...]
    leaves: tuple[int, ...]
    flop_slot: NDArray[np.int32]

    @classmethod
    def build(cls, config: GameConfig, table: EquityTable | None = None) -> TrunkGame:
        """Build the game of a two-seat config; `table` defaults to `preflop_table()`."""
        preflop = PreflopGame.build(config, table)
        tree = game_tree(config)
        leaves = np.flatnonzero(preflop.tree.kind == NodeKind.CHANCE)
        flop_slot = np.full(len(preflop.tree), -1, dtype=np.int32)
        flop_slot[leaves] = np.arange(len(leaves))
        lines = tuple(int(tree.children_of(tree.node_at(preflop.tree.line(int(leaf))))[0]) for leaf in leaves)
        return cls(preflop, tree, lines, tuple(leaves.tolist()), flop_slot)

    @property
    def names(self) -> tuple[str, ...]:
        """Each flop line as text, such as ``b250c``."""
        return tuple(self.preflop.tree.line(leaf) for leaf in self.leaves)

    def reach(self, strategy: Floats, seat: int) -> Floats:
        """Probability by flop line and class that a seat plays its part, float64 [lines, 169]."""
        game = self.preflop
        reach = np.empty(strategy.shape)
        _reach(game.tree.player, game.tree.parent, game.reach_node, strategy, seat, reach)
        return reach[game.reach_node[seat, np.array(self.leaves, dtype=np.intp)]]

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
        values = np.empty(strategy.shape)
        _trunk_values(
            *self.preflop.arrays,
            self.flop_slot,
            flop_values,
            strategy,
            seat,
            best,
            np.empty(strategy.shape),
            values,
        )
        return values

    def uniform(self) -> Floats:
        """The strategy that takes every action alike."""
        tree = self.preflop.tree
        probabilities = np.ones((len(tree), NUM_CLASSES))
        probabilities[1:] /= tree.num_children[tree.parent[1:]][:, None]
        return probabilities


class Trunk:
    """Regrets and average strategy of the preflop tree."""

    def __init__(self, game: TrunkGame) -> None:
        self.game = game
        self.strategy = game.uniform()
        self.regret = np.zeros(self.strategy.shape)
        self.strategy_sum = np.zeros(self.strategy.shape)

    def reach(self, seat: int) -> NDArray[np.float32]:
        """Reach of a seat at every flop line under the current strategy, float32 [lines, 169]."""
        return self.game.reach(self.strategy, seat).astype(np.float32)

    def discount(self, weights: DiscountWeights) -> None:
        """Apply the factors of a new epoch."""
        self.regret *= np.where(self.regret > 0, weights.positive, weights.negative)
        self.strategy_sum *= weights.strategy

    def update(self, seat: int, flop_values: Floats) -> None:
        """Add a seat's regrets and average, given the value of each flop line, and match the regrets."""
        game, tree = self.game.preflop, self.game.preflop.tree
        values = self.game.values(self.strategy, seat, flop_values)
        reach = np.empty(values.shape)
        _reach(tree.player, tree.parent, game.reach_node, self.strategy, seat, reach)
        _add_regrets(tree.player, tree.parent, seat, values, reach, self.regret, self.strategy_sum)
        _regret_matching(
            tree.player,
            tree.child_start,
            tree.num_children,
            tree.children,
            seat,
            self.regret,
            self.regret,
            1.0,
            False,
            self.strategy,
        )

    def average(self) -> Floats:
        """The average strategy, ``[node, class]`` (uniform where a class was never played to a node)."""
        tree = self.game.preflop.tree
        probabilities = self.game.uniform()
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
            children = tree.children_of(int(node))
            sums = self.strategy_sum[children]
            total = sums.sum(axis=0)
            played = total > 0
            probabilities[np.ix_(children, played)] = sums[:, played] / total[played]
        return probabilities

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything `restore` needs to continue."""
        return {
            "regret": self.regret.copy(),
            "strategy_sum": self.strategy_sum.copy(),
            "strategy": self.strategy.copy(),
        }

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from a saved `state` of the same game."""
        for name in ("regret", "strategy_sum", "strategy"):
            if state[name].shape != self.regret.shape:
                raise ValueError(f"state {name}: shape {state[name].shape}, not {self.regret.shape}")
            getattr(self, name)[:] = state[name]
