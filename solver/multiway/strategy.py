"""A strategy of all seats: what it plays at every decision before the flop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES
from solver.betting.lines import seat_names
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import action_labels, preflop_key
from solver.multiway.deals import WIDTH
from solver.multiway.game import MultiwayGame

Floats = NDArray[np.float64]
#: Actions that put in a bet before the flop.
_PASSIVE = ("fold", "check", "call")


@dataclass(frozen=True, eq=False)
class MultiwayStrategy:
    """A strategy for every seat.

    Attributes
    ----------
    table
        Probabilities, laid out as every table of the game is.
    """

    game: MultiwayGame
    table: NDArray[np.float32]

    @property
    def preflop(self) -> NDArray[np.float32]:
        """Probability by row and hand class before the flop."""
        rows = self.table[: self.game.rows * WIDTH].reshape(-1, WIDTH)
        return rows[:, : self.game.classes]

    def rows(self, line: str) -> NDArray[np.float32]:
        """Probability by action and hand class at a decision before the flop."""
        tree = self.game.tree
        node = tree.node_at(line)
        if tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {line!r} is not a decision before the flop")
        start = int(tree.child_start[node])
        return self.preflop[start : start + int(tree.num_children[node])]

    def labels(self, line: str) -> list[str]:
        """Labels of the actions at a decision."""
        return action_labels(self.game.tree, self.game.tree.node_at(line))

    def probability(self, line: str, hand: str, label: str) -> float:
        """How likely a hand takes an action."""
        return float(self.rows(line)[self.labels(line).index(label), CLASS_NAMES.index(hand)])

    def reach(self, line: str, seat: int) -> Floats:
        """How likely each class of a seat plays its part of a line."""
        tree = self.game.tree
        node = tree.node_at(line)
        weights = np.ones(self.game.classes)
        row_of_node = np.argsort(tree.children)
        while node > 0:
            above = int(tree.parent[node])
            if tree.player[above] == seat:
                weights *= self.preflop[row_of_node[node - 1]]
            node = above
        return weights

    def frequencies(self, line: str = "") -> dict[str, float]:
        """How often the range that reaches a line takes each action, before card removal by the other seats."""
        tree = self.game.tree
        seat = int(tree.player[tree.node_at(line)])
        weights = self.reach(line, seat) * (CLASS_COMBOS if self.game.classes == NUM_CLASSES else 1.0)
        total = max(float(weights.sum()), 1e-300)
        return {label: float(weights @ row) / total for label, row in zip(self.labels(line), self.rows(line))}

    def first_in(self) -> dict[str, str]:
        """Line at which each seat acts when all before it have folded, by the name of the seat."""
        tree, names = self.game.tree, seat_names(self.game.seats)
        lines: dict[str, str] = {}
        node = 0
        while tree.kind[node] == NodeKind.DECISION:
            lines[names[int(tree.player[node])]] = tree.line(node)
            labels = action_labels(tree, node)
            if "fold" not in labels:
                break
            node = int(tree.children_of(node)[labels.index("fold")])
        return lines

    def first_in_raises(self) -> dict[str, float]:
        """How often each seat raises first in, of all hands; seats that never are first in are left out."""
        return {
            name: sum(share for label, share in self.frequencies(line).items() if label not in _PASSIVE)
            for name, line in self.first_in().items()
        }

    def by_line(self) -> dict[str, dict[str, dict[str, float]]]:
        """``{line: {hand: {label: probability}}}`` over all decisions before the flop."""
        tree = self.game.tree
        table = {}
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
            labels = action_labels(tree, node)
            start = int(tree.child_start[node])
            rows = self.preflop[start : start + len(labels)].T.tolist()
            table[preflop_key(tree, node)] = {
                hand: dict(zip(labels, row)) for hand, row in zip(CLASS_NAMES, rows)
            }
        return table
