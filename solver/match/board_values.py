"""What two ranges are expected to win on one full board, when each seat follows a blueprint.

The board is dealt in full before the hand, and its later cards are hidden from the players. Given the board, only the
hands are left to chance. So the value of a line is a sum over pairs of hands, and one sweep of the trainer's kernel
finds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_COMBOS, disjoint_weight, live_combos
from abstractions.equity import combo_equities
from solver.betting.lines import PUBLIC_CARDS, Letter
from solver.betting.public_tree import NodeKind
from solver.blueprint.board_play import table_side
from solver.blueprint.boards import NUM_LIVE, BoardHands, board_hands
from solver.blueprint.plan import LanePlan, PotShare
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.strategy import Blueprint, BlueprintNode
from solver.blueprint.sweep import _sweep_board
from solver.blueprint.sweep_arrays import EXPECTED, FROM_TABLES, Side, Work, by_hand_showdown, make_work
from solver.blueprint.tables import TableLayout
from solver.match.players import BlueprintPlayer
from solver.match.table import Outcome, Table

Floats = NDArray[np.float64]
Ranges = tuple[Floats, Floats]
#: Places of the tree below which the betting is kept prepared.
_MAX_PREPARED = 256


def same_betting(first: Blueprint, second: Blueprint) -> bool:
    """Whether two blueprints play one tree with the same pot types, so that one sweep can play both."""
    return (
        first.game.preflop.config == second.game.preflop.config
        and first.pots == second.pots
        and first.table.dtype == second.table.dtype
    )


def settled(outcome: Outcome, own: int, ranges: Ranges, board: NDArray[np.uint8]) -> float:
    """Net chips that the end of a hand pays a seat, summed over the pairs of hands of both ranges."""
    met = ranges[own] * disjoint_weight(ranges[1 - own])
    if not outcome.showdown:
        return float(outcome.chips[0, own] * met.sum())
    if not met.any():
        return 0.0
    equity = np.nan_to_num(combo_equities(ranges[1 - own] / ranges[1 - own].max(), board))
    win, lose = outcome.chips[own, own], outcome.chips[1 - own, own]
    return float((met * (lose + (win - lose) * equity)).sum())


@dataclass(frozen=True, eq=False)
class _Below:
    """The betting below a decision, with the strategy of each seat in tables of its own."""

    plan: LanePlan
    layouts: tuple[TableLayout, TableLayout]
    tables: tuple[NDArray[Any], NDArray[Any]]
    work: Work


class BoardValues:
    """Expected chips of a seat on one board after another.

    Parameters
    ----------
    blueprints
        What seat 0 and seat 1 follow; `same_betting` holds for them.
    """

    def __init__(self, table: Table, blueprints: tuple[Blueprint, Blueprint]) -> None:
        if not same_betting(*blueprints):
            raise ValueError("the blueprints of a value play different betting")
        self.table, self.blueprints = table, blueprints
        self._players = BlueprintPlayer(table, blueprints[0]), BlueprintPlayer(table, blueprints[1])
        self.game = blueprints[0].game
        tree, preflop = self.game.tree, self.game.preflop.tree
        upper = np.flatnonzero(tree.street == 0).tolist()
        self._preflop = {node: preflop.node_at(tree.line(node)) for node in upper}
        plan = blueprints[0].layout.plan
        self._work = make_work(plan.programs, NUM_LIVE, blueprints[0].table.dtype)
        self._prepared: dict[tuple[int, int], _Below] = {}
        self.board = np.zeros(0, dtype=np.uint8)

    def deal(self, board: NDArray[np.uint8]) -> None:
        """Play on another full board from now on."""
        if np.array_equal(board, self.board):
            return
        self.board = board.copy()
        self._textures = tuple(blueprint.texture(board) for blueprint in self.blueprints)
        first, second = (
            board_hands(board, blueprint.bucketing, texture)
            for blueprint, texture in zip(self.blueprints, self._textures)
        )
        self._hands: tuple[BoardHands, BoardHands] = (first, second)

    def root(self, own: int) -> float:
        """Mean net chips of a seat on the board, over all pairs of hands."""
        live = live_combos(self.board).astype(np.float64)
        return self._preflop_value(0, own, (live, live)) / float(live @ disjoint_weight(live))

    def value(self, line: str, own: int, ranges: Ranges) -> float:
        """Net chips of a seat from a real line on, summed over the pairs of hands of both ranges.

        A line that the blueprint does not know is taken for the nearest one that it does, its pot scaled. A bet of a
        size that it does not know is folded to as the blueprint would, and otherwise called and checked down. So is a
        line at which it has no decision.
        """
        if self.table.actor(line) < 0:
            return settled(self.table.outcome(line), own, ranges, self.board)
        nearest = max(self._players[0].readings(line), key=lambda reading: reading.weight).place
        if nearest.player < 0:
            return self._answered(line, own, ranges)
        share = self.blueprints[0].pots.of_line(nearest.line)[1] if nearest.line >= 0 else PotShare()
        pot = float(self.game.tree.pot[nearest.node]) * share.scale
        put_in = self._put_in(nearest, share, own)
        real_pot, real_put_in = self.table.pot(line), self.table.committed(line, own)
        known = pot == real_pot and put_in == real_put_in
        if not known and self.table.to_call(line) > 0:
            return self._answered(line, own, ranges)
        if nearest.line < 0:
            found = self._preflop_value(nearest.node, own, ranges)
        else:
            found = self._postflop_value(nearest, share, own, ranges)
        if known:
            return found
        pairs = float(ranges[0] @ disjoint_weight(ranges[1]))
        return (found + put_in * pairs) * real_pot / pot - real_put_in * pairs

    def _put_in(self, place: BlueprintNode, share: PotShare, own: int) -> float:
        """Chips that a seat has put in at a place of the blueprint."""
        return -float(share.pay(-self.game.tree.committed[place.node, [own]].astype(np.float64), own)[0])

    def _answered(self, line: str, own: int, ranges: Ranges) -> float:
        """The value of a line if the seat to act folds as its blueprint does, and the rest is checked down."""
        seat = self.table.actor(line)
        play = self._players[seat].play(line, self.board[: PUBLIC_CARDS[self.table.state(line).street]])
        if Letter.FOLD not in play.actions:
            return settled(self.table.outcome(line + self.table.passive(line)), own, ranges, self.board)
        folds = play.probabilities[play.actions.index(Letter.FOLD)]
        total = 0.0
        for token, shares in ((Letter.FOLD, folds), (self.table.passive(line), 1.0 - folds)):
            first, second = (ranges[k] * shares if k == seat else ranges[k] for k in range(2))
            total += settled(self.table.outcome(line + token), own, (first, second), self.board)
        return total

    def _preflop_value(self, node: int, own: int, ranges: Ranges) -> float:
        """Sum over pairs of hands from a preflop node of the blueprint's tree on."""
        tree, number = self.game.tree, len(self.game.lines)
        reach = np.zeros((2, number, NUM_COMBOS))
        ended = 0.0
        waiting = [(node, ranges)]
        while waiting:
            here, (first, second) = waiting.pop()
            kind = tree.kind[here]
            if kind == NodeKind.CHANCE:
                reach[:, self.game.lines.index(int(tree.children_of(here)[0]))] = first, second
            elif kind != NodeKind.DECISION:
                outcome = Outcome(tree.heads_up_payoffs[here], kind == NodeKind.SHOWDOWN)
                ended += settled(outcome, own, (first, second), self.board)
            else:
                seat = int(tree.player[here])
                for child in tree.children_of(here).tolist():
                    shares = self.blueprints[seat].preflop[self._preflop[child]][CLASS_OF_COMBO]
                    pair = (first * shares, second) if seat == 0 else (first, second * shares)
                    waiting.append((child, pair))
        return ended + self._flop_lines(own, reach)

    def _flop_lines(self, own: int, reach: Floats) -> float:
        """Sum over pairs of hands and flop lines; `reach` is ``[seat, line, combo]``."""
        blueprint = self.blueprints[own]
        plan, pots = blueprint.layout.plan, blueprint.pots
        layouts = self.blueprints[0].layout, self.blueprints[1].layout
        tables = self.blueprints[0].table, self.blueprints[1].table
        slots = [each.slot(texture) for each, texture in zip(self.blueprints, self._textures)]
        total = 0.0
        for number in range(pots.num_rounds):
            lines = np.array(pots.round_lines(number))
            opponent = np.where(lines[:, None] >= 0, reach[1 - own, lines], 0.0)
            if not opponent.any():
                continue
            pays = plan.payoffs(own, pots.round_shares(number)).ravel()
            found = self._swept(plan, layouts, tables, slots, own, opponent, pays, self._work)
            total += float((found[lines >= 0] * reach[own, lines[lines >= 0]]).sum())
        return total

    def _postflop_value(self, place: BlueprintNode, share: PotShare, own: int, ranges: Ranges) -> float:
        """Sum over pairs of hands from a postflop decision of the blueprint's tree on."""
        below = self._below(place.node)
        pays = below.plan.payoffs(own, [share]).ravel()
        opponent = ranges[1 - own][None]
        found = self._swept(below.plan, below.layouts, below.tables, [0, 0], own, opponent, pays, below.work)
        return float(found[0] @ ranges[own])

    def _swept(
        self,
        plan: LanePlan,
        layouts: tuple[TableLayout, TableLayout],
        tables: tuple[NDArray[Any], NDArray[Any]],
        slots: list[int],
        own: int,
        opponent: Floats,
        pays: Floats,
        work: Work,
    ) -> Floats:
        """Value of each line of a plan to each combo of a seat, ``[line, 1326]``, in chips times opponent reach."""
        dtype = tables[0].dtype
        sides: list[Side] = [
            table_side(layouts[seat], tables[seat], self._hands[seat].runs, slots[seat]) for seat in range(2)
        ]
        out = np.zeros((len(plan.lines), NUM_COMBOS))
        _sweep_board(
            plan.programs[own],
            pays.astype(dtype),
            self._hands[own].hands,
            self._hands[own].combos,
            sides[own],
            sides[1 - own],
            np.ascontiguousarray(opponent, dtype=dtype),
            tables[own],
            EXPECTED,
            1.0,
            FROM_TABLES,
            NO_CHOICES,
            by_hand_showdown(dtype),
            -np.inf,
            work,
            work,
            out,
        )
        return out

    def _below(self, node: int) -> _Below:
        """The betting below a postflop decision, with the rows of the board's texture."""
        key = (node, self._textures[0])
        if key not in self._prepared:
            if len(self._prepared) >= _MAX_PREPARED:
                self._prepared.clear()
            plan = LanePlan.build(self.game.tree, [node])
            layouts, tables = [], []
            for blueprint, texture in zip(self.blueprints, self._textures):
                layout, slot = TableLayout(plan, blueprint.layout.num_buckets), blueprint.slot(texture)
                table = np.zeros(layout.size, dtype=blueprint.table.dtype)
                for child in layout.actions.tolist():
                    rows = blueprint.table[blueprint.layout.action_entries(child, slot)]
                    table[layout.action_entries(child)] = np.maximum(rows, 0)
                layouts.append(layout)
                tables.append(table)
            work = make_work(plan.programs, NUM_LIVE, tables[0].dtype)
            self._prepared[key] = _Below(plan, (layouts[0], layouts[1]), (tables[0], tables[1]), work)
        return self._prepared[key]
