"""A solved street of several players: how every hand plays, what it is worth, and which hands get where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, live_combos
from solver.betting.public_tree import NodeKind
from solver.betting.tree_text import action_labels
from solver.multiplayer.space import space_for
from solver.multiplayer.traversal import _value_deals

if TYPE_CHECKING:
    from solver.multiplayer.solve import MultiplayerSolver

Floats = NDArray[np.float64]
#: Deals that are drawn at once.
_CHUNK = 256


@dataclass(frozen=True, eq=False)
class HandValues:
    """What the hands of a player are worth at a place, measured on deals.

    Attributes
    ----------
    met
        Share of the deals in which nobody else holds a card of the combo, [1326].
    ev, standard_error
        Chips received from there on, pot share included, and the error of that; nan where nothing is known. In a game
        with prizes: what the tournament is worth then, where all chips of the table are worth the whole prize pool.
    action_ev
        The same with each action, ``[action, 1326]``; empty where somebody else acts.
    """

    met: Floats
    ev: Floats
    standard_error: Floats
    action_ev: Floats


class MultiplayerSolution:
    """The average strategies of a street.

    Lines are those of the hand, from its start on; by default the line that was solved.

    Attributes
    ----------
    seconds, iterations
        What the solve took.
    reason
        Why it ended: ``iterations``, ``time`` or ``stopped``.
    memory_bytes
        Tables and scratch.
    """

    def __init__(self, solver: MultiplayerSolver, seconds: float, reason: str) -> None:
        self._solver = solver
        self.subgame, self.config = solver.subgame, solver.config
        self.seconds, self.reason = seconds, reason
        self.iterations = solver.iteration
        self.memory_bytes = solver.memory_bytes

    @property
    def num_leaves(self) -> int:
        """Places where the street ends before the hand does."""
        return len(self.subgame.leaves)

    def player(self, line: str | None = None) -> int:
        """Seat that acts."""
        return int(self.subgame.tree.player[self._decision(line)])

    def actions(self, line: str | None = None) -> list[str]:
        """Tokens of the actions."""
        tree = self.subgame.tree
        return [tree.token(child) for child in tree.children_of(self._decision(line)).tolist()]

    def labels(self, line: str | None = None) -> list[str]:
        """Labels of the actions."""
        return action_labels(self.subgame.tree, self._decision(line))

    def strategy(self, line: str | None = None) -> Floats:
        """Probability of each action by combo, ``[action, 1326]``.

        Combos outside the range that was solved take all actions alike; those that the board blocks have 0.
        """
        return self._strategy(self._decision(line))

    def range(self, player: int, line: str | None = None) -> Floats:
        """Weight of each combo of a seat at a line, [1326]: its range at the root times its own actions since."""
        return self._range(player, self._node(line))

    def values(self, line: str | None = None, player: int | None = None) -> HandValues:
        """What the hands of a seat are worth at a line, everybody playing the solution; by default who is to act."""
        node = self._node(line)
        tree, solver = self.subgame.tree, self._solver
        seat = int(tree.player[node]) if player is None else player
        ranges = [self._range(other, node) for other in range(self.subgame.seats)]
        met, rows = np.zeros(NUM_COMBOS), 1
        if tree.player[node] == seat:
            rows += int(tree.num_children[node])
        sums, squares = np.zeros((rows, NUM_COMBOS)), np.zeros((rows, NUM_COMBOS))
        space, count = space_for(solver.game), self.config.value_deals
        seed = self.config.seed + 1
        for first in range(0, count, _CHUNK):
            deals = solver.deals(seat, ranges, first, min(_CHUNK, count - first), seed=seed)
            _value_deals(
                np.int64(seat),
                np.int64(node),
                np.uint64(seed),
                np.int64(first),
                self.subgame.hand.ranges[seat] > 0.0,
                solver.average,
                deals,
                solver.game.arrays,
                space,
                met,
                sums,
                squares,
            )
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / met
            error = np.sqrt(np.maximum(squares[0] / met - means[0] ** 2, 0.0) / met)
        stakes = solver.game.arrays.stakes
        # Kernels count from the start of the hand. A stack has no fixed worth after a fold where there are prizes.
        base = float(stakes.start[seat] if len(stakes.payouts) else tree.committed[node, seat])
        return HandValues(met / count, means[0] + base, error, means[1:] + base)

    def frequencies(self, line: str | None = None, met: Floats | None = None) -> Floats:
        """How often each action is taken; with `met` of `values`, over the deals that get there."""
        node = self._decision(line)
        weights = self._range(int(self.subgame.tree.player[node]), node)
        if met is not None:
            weights = weights * met
        total = float(weights.sum())
        strategy = self._strategy(node)
        return strategy @ weights / total if total > 0.0 else strategy.mean(axis=1)

    def _range(self, player: int, node: int) -> Floats:
        tree = self.subgame.tree
        weights = self.subgame.hand.ranges[player]
        while node > 0:
            parent = int(tree.parent[node])
            if tree.player[parent] == player:
                taken = tree.children_of(parent).tolist().index(node)
                weights = weights * self._strategy(parent)[taken]
            node = parent
        return weights

    def _strategy(self, node: int) -> Floats:
        tree = self.subgame.tree
        first, actions = int(tree.child_start[node]), int(tree.num_children[node])
        rows = self._solver.average[first * NUM_COMBOS : (first + actions) * NUM_COMBOS]
        weights = rows.reshape(actions, NUM_COMBOS).astype(np.float64)
        total = weights.sum(axis=0)
        shares = np.where(total > 0.0, weights / np.maximum(total, 1e-300), 1.0 / actions)
        held = self.subgame.hand.ranges[int(tree.player[node])] > 0.0
        live = live_combos(np.array(self.subgame.hand.board, dtype=np.uint8))
        return np.where(live, np.where(held, shares, 1.0 / actions), 0.0)

    def _node(self, line: str | None) -> int:
        return self.subgame.node if line is None else self.subgame.node_at(line)

    def _decision(self, line: str | None) -> int:
        node = self._node(line)
        if self.subgame.tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {line!r}: nobody acts there")
        return node
