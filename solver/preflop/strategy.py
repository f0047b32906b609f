"""A preflop strategy of both seats: what it is worth, what exploits it, and how it plays each line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from abstractions.cards import CLASS_NAMES
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import action_labels, preflop_key
from solver.cfr.leaves import LeafProvider
from solver.preflop.check_down import CheckDown
from solver.preflop.game import NUM_DEALS, PreflopGame
from solver.preflop.probabilities import Floats, line_reach


@dataclass(frozen=True, eq=False)
class PreflopStrategy:
    """A strategy for both seats.

    Attributes
    ----------
    game
        The game it is for.
    probabilities
        ``[node, class]``: probability of the action that leads to the node.
    provider
        Says what the lines that see a flop are worth; None: they are checked down.
    """

    game: PreflopGame
    probabilities: Floats
    provider: LeafProvider | None = None

    def node_values(self, seat: int, *, best: bool = False) -> Floats:
        """Counterfactual value of a seat by node and class, in chips times deals."""
        game = self.game
        provider = CheckDown(game) if self.provider is None else self.provider
        leaf_values = provider.values(game.leaves, game.leaf_reach(self.probabilities), seat)
        return game.node_values(self.probabilities, seat, leaf_values, best=best)

    def expected_values(self) -> Floats:
        """Chips per hand of both seats when both play the strategy."""
        return np.array([self.node_values(seat)[0].sum() / NUM_DEALS for seat in range(2)])

    def best_response_values(self) -> Floats:
        """Chips per hand of each seat when it alone responds as well as possible before the flop."""
        return np.array([self.node_values(seat, best=True)[0].sum() / NUM_DEALS for seat in range(2)])

    @cached_property
    def exploitability(self) -> float:
        """What a best response gains, averaged over the seats, in mbb/hand."""
        gain = self.best_response_values() - self.expected_values()
        return max(float(gain.sum()) / 2 * 1000 / self.game.config.big_blind, 0.0)

    def reach(self, line: str, seat: int) -> Floats:
        """Probability by class that a seat plays its part of a line."""
        return line_reach(self.game.tree, self.probabilities, self.game.tree.node_at(line), seat)

    def action_values(self, line: str, values: Floats | None = None) -> dict[str, Floats]:
        """Chips won on average by each action of a line, by class of the seat to act.

        Undefined (nan) where the opponent never plays its part of the line.

        Parameters
        ----------
        values
            Counterfactual values of the seat to act by node and class; those of `node_values` by default.
        """
        tree = self.game.tree
        node = self._decision(line)
        seat = int(tree.player[node])
        values = self.node_values(seat) if values is None else values
        pairs = self.game.pairs(self.reach(line, 1 - seat))
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                label: values[child] / pairs
                for label, child in zip(action_labels(tree, node), tree.children_of(node))
            }

    def frequencies(self, line: str = "") -> dict[str, float]:
        """How often the range that reaches a line takes each action."""
        tree = self.game.tree
        node = self._decision(line)
        weight = self.game.combos * self.reach(line, int(tree.player[node]))
        total = max(float(weight.sum()), 1e-300)
        return {
            label: float(weight @ self.probabilities[child]) / total
            for label, child in zip(action_labels(tree, node), tree.children_of(node))
        }

    def by_line(self) -> dict[str, dict[str, dict[str, float]]]:
        """``{line: {hand: {label: probability}}}`` over all decisions, lines as ``||p|b300r900``."""
        tree = self.game.tree
        table = {}
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION):
            labels = action_labels(tree, int(node))
            rows = self.probabilities[tree.children_of(int(node))].T.tolist()
            table[preflop_key(tree, int(node))] = {
                hand: dict(zip(labels, row)) for hand, row in zip(CLASS_NAMES, rows)
            }
        return table

    def average_strategy(self) -> dict[str, dict[str, float]]:
        """The same keyed by infoset, ``{"<hand>||p|<tokens>": {label: probability}}``."""
        return {f"{hand}{line}": row for line, hands in self.by_line().items() for hand, row in hands.items()}

    def _decision(self, line: str) -> int:
        node = self.game.tree.node_at(line)
        if self.game.tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {line!r} is not a decision")
        return node
