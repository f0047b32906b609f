"""A solved subgame: how every hand plays, what it is worth, and which hands get where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS, disjoint_weight, format_cards, live_combos
from solver.betting.public_tree import NodeKind
from solver.exact.engine import CfrEngine
from solver.exact.node_values import board_values
from solver.postflop.holdem import read_board
from solver.postflop.node_report import per_deal, real_combos
from solver.subgame.subgame import decisions

if TYPE_CHECKING:
    from solver.subgame.solve import SubgameSolver

Floats = NDArray[np.float64]
Board = str | Sequence[int] | NDArray[np.integer]


def action_shares(strategy: Floats, own: Floats, other: Floats) -> Floats:
    """How often each action is taken over all deals, given ``[action, 1326]`` and the weights of both players."""
    weights = own * disjoint_weight(other)
    total = float(weights.sum())
    return strategy @ weights / total if total > 0.0 else strategy.mean(axis=1)


class SubgameSolution:
    """The average strategies of a subgame.

    Lines are those of the hand, from its start on; by default the line that was solved. A line of a later street that
    was searched needs the board, too.

    Attributes
    ----------
    seconds, iterations
        What the solve took.
    reason
        Why it ended: ``iterations``, ``time``, ``target`` or ``stopped``.
    memory_bytes
        Tables and scratch.
    locked
        Lines whose strategy was given.
    """

    def __init__(self, solver: SubgameSolver, seconds: float, reason: str) -> None:
        self._solver = solver
        self.subgame, self.config = solver.subgame, solver.config
        self.seconds = seconds
        self.iterations = solver.engine.iteration
        self.reason = reason
        self.memory_bytes = solver.memory_bytes
        self.locked = solver.locked

    @property
    def num_leaves(self) -> int:
        """Places where the search ends before the hand does."""
        return len(self._solver.engine.leaves)

    def covers(self, line: str) -> bool:
        """Whether somebody acts at a line of the searched streets."""
        try:
            node = self.subgame.node_at(line, self._solver.engine.tree)
        except ValueError:
            return False
        return bool(self._solver.engine.tree.kind[node] == NodeKind.DECISION)

    def player(self, line: str | None = None) -> int:
        """Seat that acts."""
        return int(self._solver.engine.tree.player[self._decision(line)])

    def actions(self, line: str | None = None) -> list[str]:
        """Tokens of the actions."""
        tree = self._solver.engine.tree
        return [tree.token(child) for child in tree.children_of(self._decision(line)).tolist()]

    def strategy(self, line: str | None = None, board: Board | None = None) -> Floats:
        """Probability of each action by combo, ``[action, 1326]``.

        Combos outside the range that was solved take all actions alike; those that the board blocks have 0.
        """
        engine, node = self._solver.engine, self._decision(line)
        number, suits, cards = self._board(node, board)
        player = int(engine.tree.player[node])
        actions = int(engine.tree.num_children[node])
        live = live_combos(cards)
        result = np.where(live, 1.0 / actions, 0.0) * np.ones((actions, 1))
        hands = engine.game.hands[player][engine.deals.hands[player][number]]
        result[:, real_combos(hands, suits)] = engine.strategy(node, number)
        return result

    def range(self, player: int, line: str | None = None, board: Board | None = None) -> Floats:
        """Weight of each combo of a player at a line, [1326]: its range at the root times its own actions since."""
        tree = self._solver.engine.tree
        node = self.subgame.node_at(self.subgame.line if line is None else line, tree)
        cards = self._board(node, board)[2]
        weights = np.where(live_combos(cards), self.subgame.ranges[player], 0.0)
        root = self.subgame.root_line
        while node > 0:
            parent = int(tree.parent[node])
            if tree.player[parent] == player:
                public = cards[: len(self.subgame.board) + int(tree.street[parent] - tree.street[0])]
                taken = tree.children_of(parent).tolist().index(node)
                weights = weights * self.strategy(root + tree.line(parent), public)[taken]
            node = parent
        return weights

    def frequencies(self, line: str | None = None, board: Board | None = None) -> Floats:
        """How often each action is taken, over the deals that get there."""
        player = self.player(line)
        own, other = (self.range(seat, line, board) for seat in (player, 1 - player))
        return action_shares(self.strategy(line, board), own, other)

    def ev(self, line: str | None = None, board: Board | None = None) -> Floats:
        """Chips that each combo of the player to act receives from a line on, pot share included, [1326].

        Nan for combos outside the range, and for those that meet nobody. Where the search ended before the hand does,
        values below are estimated over a fixed set of run-outs.
        """
        node = self._decision(line)
        number, suits, _ = self._board(node, board)
        return self._evs([node], number, suits)[0][0]

    def action_ev(self, line: str | None = None, board: Board | None = None) -> Floats:
        """`ev` with each action, ``[action, 1326]``."""
        node = self._decision(line)
        number, suits, _ = self._board(node, board)
        return self._evs([node], number, suits)[0][1]

    def street_evs(self) -> dict[str, tuple[Floats, Floats]]:
        """`ev` and `action_ev` of every decision of the first street by its line, for the price of one."""
        tree, root = self._solver.engine.tree, self.subgame.root_line
        nodes = decisions(tree, self.subgame.street).tolist()
        return {root + tree.line(node): found for node, found in zip(nodes, self._evs(nodes, 0, range(4)))}

    def _evs(self, nodes: Sequence[int], board: int, suits: Sequence[int]) -> list[tuple[Floats, Floats]]:
        """EVs at some decisions of one street, also by action, on a board whose suits stand for real ones."""
        engine = self._solver.engine
        self.begin_evaluation()
        results = []
        for node, found in zip(nodes, board_values(engine, nodes, board)):
            player = int(engine.tree.player[node])
            met = engine.compatible(player, found.reach[1 - player], board)
            share = engine.tree.dead / 2 + float(engine.tree.committed[node, player])
            combos = real_combos(engine.game.hands[player][found.hands[player]], suits)
            ev, by_action = np.full(NUM_COMBOS, np.nan), np.full((len(found.strategy), NUM_COMBOS), np.nan)
            ev[combos] = np.where(met > 0.0, per_deal(found.values[player], met) + share, np.nan)
            by_action[:, combos] = np.where(met > 0.0, per_deal(found.action_values, met) + share, np.nan)
            results.append((ev, by_action))
        return results

    @property
    def engine(self) -> CfrEngine:
        """Tables of the searched streets; `begin_evaluation` before asking it for values."""
        return self._solver.engine

    def begin_evaluation(self) -> None:
        """Play the average strategies from now on, with the ranges at the root."""
        engine = self._solver.engine
        if self._solver.leaves is not None:
            self._solver.leaves.begin_evaluation()
        for seat in range(2):
            engine.set_range(seat, engine.game.weights[seat])

    def root_values(self, player: int) -> Floats:
        """Net chips per deal of each combo of a player at the root, both playing the solution, [1326].

        Nan for the combos that have none in `ev`.
        """
        engine = self._solver.engine
        self.begin_evaluation()
        met = engine.compatible(player, engine.game.weights[1 - player])
        result = np.full(NUM_COMBOS, np.nan)
        values = per_deal(engine.root_values(player), met) + engine.tree.dead / 2
        result[real_combos(engine.game.hands[player], range(4))] = np.where(met > 0.0, values, np.nan)
        return result

    def _decision(self, line: str | None) -> int:
        tree = self._solver.engine.tree
        node = self.subgame.node_at(self.subgame.line if line is None else line, tree)
        if tree.kind[node] != NodeKind.DECISION:
            raise ValueError(f"line {line!r}: nobody acts there")
        return node

    def _board(self, node: int, board: Board | None) -> tuple[int, tuple[int, ...], NDArray[np.uint8]]:
        """The engine's number of a board, the real suit of each of its suits, and its cards."""
        engine, root = self._solver.engine, self.subgame.board
        cards = root if board is None else read_board(board)
        dealt = int(engine.tree.street[node] - engine.tree.street[0])
        if cards[: len(root)] != root or len(cards) < len(root) + dealt:
            raise ValueError(
                f"board {format_cards(list(cards))!r}: expected {format_cards(list(root))!r} and {dealt} more cards"
            )
        cards = cards[: len(root) + dealt]
        number, suits = engine.deals.locate(cards[len(root) :])
        return number, suits, np.array(cards, dtype=np.uint8)
