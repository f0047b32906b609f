"""What a strategy really loses on a spot: it is locked in the full tree, and the rest is solved exactly.

A figure from inside a truncated game says nothing, since whatever stands at its leaves goes unpunished. So the judge
solves the whole spot to the river once. Then it fixes a strategy of one player at the decisions that it covers, lets
everything else answer, and compares that player's value with the equilibrium's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree
from solver.exact.card_game import CardGame
from solver.exact.engine import CfrEngine
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.subgame.leaf_boards import combos_of, suit_renamings

Floats = NDArray[np.float64]
#: ``strategy(node, board) -> probabilities [action, 1326]`` of the player to act, None where it says nothing.
Covering = Callable[[int, tuple[int, ...]], Floats | None]


@dataclass(frozen=True)
class Loss:
    """What a player loses by a strategy, in chips per deal, give or take `error`, and in percent of the pot."""

    chips: float
    error: float
    pot: int

    @property
    def percent(self) -> float:
        """Loss in percent of the pot."""
        return 100.0 * self.chips / self.pot


class Judge:
    """The equilibrium of a spot, and what strategies lose against it.

    Parameters
    ----------
    tree, game
        The whole spot, without rake.
    target_pct
        Exploitability, in percent of the pot, to which the spot and every locked spot is solved.
    max_iterations
        When to stop before that.
    precision
        Of the engine's tables. "int16" takes half of the memory, for flops with wide ranges.
    """

    def __init__(
        self,
        tree: PublicTree,
        game: CardGame,
        *,
        target_pct: float = 0.1,
        max_iterations: int = 1000,
        threads: int = 1,
        precision: str = "float32",
    ) -> None:
        self.tree, self.game, self.pot = tree, game, int(tree.pot[0])
        self.target = target_pct / 100.0 * self.pot
        self.max_iterations = max_iterations
        self.engine = CfrEngine(tree, game, AUTOMATIC, threads=threads, precision=precision)
        self.gap = self._solve()
        self.values = self._middle()
        # Averages start afresh with every strategy that is judged, so they need not be kept.
        kept = {name: array for name, array in self.engine.state().items() if not name.startswith("average")}
        self._state = {name: array.copy() for name, array in kept.items()}

    def loss(self, player: int, strategy: Covering) -> Loss:
        """What a player loses when it follows a strategy wherever that says something."""
        engine = self.engine
        engine.load_state(engine.state() | self._state)
        self._lock(player, strategy)
        # Regrets keep their clock, so they move as fast as the equilibrium's did; averages start afresh.
        engine.run(max(10, engine.iteration // 10))
        for tables in engine.tables:
            tables.average[:] = 0
        gap = self._solve()
        return Loss(self.values[player] - self._middle()[player], gap + self.gap, self.pot)

    def mean_loss(self, strategy: Covering) -> float:
        """Mean loss of both players, each following the strategy, in percent of the pot."""
        return sum(self.loss(player, strategy).percent for player in range(2)) / 2

    def equilibrium(self, node: int, board: tuple[int, ...]) -> Floats:
        """The equilibrium's strategy as something to judge: it loses nothing, up to the solve's error."""
        engine = self.engine
        number = engine.deals.cards.index(board)
        player = int(self.tree.player[node])
        result = np.full((int(self.tree.num_children[node]), 1326), 1.0 / int(self.tree.num_children[node]))
        hands = self.game.hands[player][engine.deals.hands[player][number]]
        result[:, combos_of(hands)] = engine.strategy(node, number)
        return result

    def _solve(self) -> float:
        """Iterate until the exploitability meets the target; returns it, in chips."""
        engine, first = self.engine, self.engine.iteration
        while True:
            engine.run(max(10, (engine.iteration - first) // 4))
            gap = engine.exploitability()
            if gap <= self.target or engine.iteration - first >= self.max_iterations:
                return gap

    def _middle(self) -> tuple[float, float]:
        """Value of the game to each player: the middle between what it can secure and what it can at most get."""
        best = self.engine.evaluate().best_response
        return (best[0] - best[1]) / 2, (best[1] - best[0]) / 2

    def _lock(self, player: int, strategy: Covering) -> None:
        engine, tree = self.engine, self.tree
        combos = combos_of(self.game.hands[player])
        decisions = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == player))
        for board, cards in enumerate(engine.deals.cards):
            street = tree.street[0] + engine.deals.boards[board]["street"]
            renamings = suit_renamings(self.game, cards)
            for node in decisions[tree.street[decisions] == street].tolist():
                found = strategy(node, cards)
                if found is not None:
                    # The engine deals equivalent suits once, so a lock must treat them alike.
                    even = np.mean([found[:, renamed] for renamed in renamings], axis=0)
                    engine.lock(node, [board], even[:, combos])
