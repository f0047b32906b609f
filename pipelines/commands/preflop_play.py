"""A preflop strategy from wherever it is, and the ranges that it carries along a line to the flop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO
from artifacts.blueprint.line_reach import deal_weight
from artifacts.preflop_offpath import clean_off_path
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, action_order
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import game_tree
from solver.betting.tree_text import action_labels, preflop_key
from solver.preflop.probabilities import Floats, LineTable, from_table, line_reach
from solver.preflop.strategy import PreflopStrategy

Ranges = tuple[Floats, Floats]


def played_frequencies(strategy: PreflopStrategy, line: str) -> dict[str, float]:
    """How often each action is taken when a line is played, with card removal; nan where it never is.

    `PreflopStrategy.frequencies` leaves card removal out: it is the share of the range, as push-or-fold charts
    are published. `artifacts.blueprint.line_reach` says the same of an exported blueprint.
    """
    tree = strategy.game.tree
    node = tree.node_at(line)
    seat = int(tree.player[node])
    weights = strategy.reach(line, seat) * strategy.game.pairs(strategy.reach(line, 1 - seat))
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = strategy.probabilities[tree.children_of(node)] @ weights / weights.sum()
    return dict(zip(action_labels(tree, node), shares.tolist()))


@dataclass(frozen=True, eq=False)
class FlopArrival:
    """Where a preflop line leaves two players.

    Attributes
    ----------
    line, pot, stack
        The line, the chips in the middle, and those behind each player that can still be bet.
    seats, ranges
        Seats and ranges of the players out of and in position.
    folded
        Range that each other seat folded, by seat; those that say nothing are left out.
    probability
        Share of the deals of the ranges that were dealt in which the line is played.
    strategy
        Rows of the decisions on the way, for the hands that the seat to act was dealt.
    """

    line: str
    pot: int
    stack: int
    seats: tuple[int, int]
    ranges: Ranges
    folded: Mapping[int, Floats]
    probability: float
    strategy: dict[str, dict[str, dict[str, float]]]


class Preflop(Protocol):
    """What carries two ranges to the flop."""

    @property
    def game(self) -> GameConfig:
        """The game."""

    @property
    def source(self) -> Mapping[str, Any]:
        """What a report says about where the strategy is from."""

    def players(self, line: str | None) -> tuple[int, int]:
        """The two seats that see the flop, in ascending order."""

    def arrival(self, line: str | None, ranges: Ranges, *, clean: bool) -> FlopArrival:
        """Where a line leaves the ranges that these two seats were dealt."""


@dataclass(frozen=True, eq=False)
class PreflopPlay:
    """A preflop strategy of both seats as solved, and where it is from.

    Attributes
    ----------
    by_line
        ``{line: {hand: {label: probability}}}``, raw.
    source
        What a report says about it.
    """

    game: GameConfig
    by_line: LineTable
    source: Mapping[str, Any]

    @cached_property
    def tree(self) -> PublicTree:
        """The preflop betting of the game."""
        return game_tree(self.game, last_street=0)

    @cached_property
    def probabilities(self) -> Floats:
        """The strategy by node and hand class."""
        return from_table(self.tree, self.by_line)

    def reach(self, node: int, seat: int) -> Floats:
        """Probability by hand class that a seat plays its part of the way to a node."""
        return line_reach(self.tree, self.probabilities, node, seat)

    def carried(self, node: int, ranges: Ranges) -> Ranges:
        """Ranges by combo of both seats at a node, from those that they were dealt."""
        first, second = (ranges[seat] * self.reach(node, seat)[CLASS_OF_COMBO] for seat in range(2))
        return first, second

    def flop_node(self, line: str | None, ranges: Ranges) -> int:
        """Node at which a line sees a flop; without one, that of the line which the ranges play most."""
        nodes = np.flatnonzero(self.tree.kind == NodeKind.CHANCE).tolist()
        if not nodes:
            raise ValueError("line: no line of this game sees a flop with chips behind")
        if line is None:
            played = [deal_weight(*self.carried(node, ranges)) for node in nodes]
            return int(nodes[int(np.argmax(played))])
        node = self.tree.node_at(line)
        if node not in nodes:
            lines = " ".join(self.tree.line(other) for other in nodes)
            raise ValueError(f"line: {line!r} does not lead to a flop; accepted: {lines}")
        return node

    def players(self, line: str | None) -> tuple[int, int]:
        """Both seats."""
        del line
        return 0, 1

    def arrival(self, line: str | None, ranges: Ranges, *, clean: bool) -> FlopArrival:
        """Where a line leaves two ranges; without one, the line that they play most."""
        tree, node = self.tree, self.flop_node(line, ranges)
        carried = self.carried(node, ranges)
        seats = action_order(2, FLOP)
        return FlopArrival(
            line=tree.line(node),
            pot=int(tree.pot[node]),
            stack=min(self.game.stacks[seat] - int(tree.committed[node, seat]) for seat in range(2)),
            seats=(seats[0], seats[1]),
            ranges=(carried[seats[0]], carried[seats[1]]),
            folded={},
            probability=deal_weight(*carried) / deal_weight(*ranges),
            strategy=self.strategy_to(node, ranges, clean=clean),
        )

    def strategy_to(
        self, node: int, ranges: Ranges, *, clean: bool
    ) -> dict[str, dict[str, dict[str, float]]]:
        """Rows of the decisions on the way to a node, for the hands that the seat to act was dealt."""
        table = clean_off_path(self.by_line) if clean else self.by_line
        strategy = {}
        while node > 0:
            node = int(self.tree.parent[node])
            held = ranges[int(self.tree.player[node])] > 0
            rows = table[preflop_key(self.tree, node)]
            hands = [CLASS_NAMES[index] for index in np.unique(CLASS_OF_COMBO[held])]
            strategy[preflop_key(self.tree, node)] = {hand: dict(rows[hand]) for hand in hands}
        return dict(reversed(strategy.items()))
