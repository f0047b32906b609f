"""The spots of a street on the boards of one flop: which lines begin it, and which hands come there.

A blueprint that solves again from the turn or river on plays as it is on the streets before. So both players' reach
at the start of the street is known, hand by hand, and so is what the rest of the hand is worth to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CARDS, live_combos
from solver.betting.lines import FLOP
from solver.betting.public_tree import NodeKind, PublicTree
from solver.blueprint.board_play import add_expected
from solver.blueprint.boards import LIVE_FRACTION, NUM_LIVE, BoardBatch, board_hands
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.flop_values import FlopBoards
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import PotTypes
from solver.blueprint.rows import action_nodes
from solver.blueprint.strategy import Blueprint
from solver.blueprint.sweep_arrays import make_work
from solver.blueprint.tables import TableLayout

Floats = NDArray[np.float64]
#: Rows ``[action, hand of each board]`` of a pot type (first number) on a street (second number).
KnownRows = Mapping[tuple[int, int], NDArray[np.float32]]
PlayerReach = tuple[Floats, Floats]
#: Whether a combo holds a card, ``[1326, 52]``.
_HOLDS = (COMBO_CARDS[:, :, None] == np.arange(NUM_CARDS)).any(axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class StreetLines:
    """The lines that begin a street, below all flop lines of a game.

    Attributes
    ----------
    street
        0 flop .. 2 river.
    pots
        A pot type for each first node of the street, with numbers of its own for the lines that play it.
    pot_types
        Pot type of the game that each of these pot types lies below.
    templates
        First flop node of each pot type of the game.
    flop_lines
        Flop line of the game behind each line.
    """

    street: int
    pots: PotTypes
    pot_types: tuple[int, ...]
    templates: tuple[int, ...]
    flop_lines: NDArray[np.int64]

    @classmethod
    def of(cls, tree: PublicTree, pots: PotTypes, street: int) -> StreetLines:
        """The lines of a street; on the flop they are the flop lines themselves."""
        roots: list[int] = []
        owners: list[int] = []
        members: list[tuple[int, ...]] = []
        flop_lines: list[int] = []
        for pot_type, template in enumerate(pots.templates):
            nodes = np.arange(template, int(tree.subtree_end[template]))
            is_first = (tree.street[nodes] == FLOP + street) & (
                tree.street[tree.parent[nodes]] < FLOP + street
            )
            for node in nodes[is_first].tolist():
                first = len(flop_lines)
                roots.append(int(node))
                owners.append(pot_type)
                flop_lines += pots.members[pot_type]
                members.append(tuple(range(first, len(flop_lines))))
        shares = tuple(pots.shares[owner] for owner in owners)
        own = PotTypes(tuple(roots), tuple(members), shares)
        return cls(street, own, tuple(owners), pots.templates, np.array(flop_lines))

    @property
    def num_lines(self) -> int:
        """Lines that begin the street."""
        return len(self.flop_lines)

    def reach(
        self,
        tree: PublicTree,
        known: KnownRows,
        hands: EveryHand,
        public: NDArray[np.uint8],
        flop_reach: Sequence[NDArray[np.floating]],
    ) -> PlayerReach:
        """Both seats' reach of the lines of turn or river on a board, by combo, ``[line, 1326]`` each.

        Parameters
        ----------
        known
            What is played on the streets before.
        hands
            Which hand of `known` is which.
        flop_reach
            Reach of the flop lines by seat and class, ``[line, 169]`` each.
        """
        live = live_combos(public)
        first, second = (
            np.where(live, np.asarray(reach)[self.flop_lines][:, CLASS_OF_COMBO], 0.0) for reach in flop_reach
        )
        columns = [hands.buckets(public[: 3 + street], 0) for street in range(self.street)]
        for pot_type in sorted(set(self.pot_types)):
            below = [k for k, owner in enumerate(self.pot_types) if owner == pot_type]
            shares = self._shares_on_the_way(tree, pot_type, below, known, columns)
            for k, (ours, theirs) in zip(below, shares):
                lines = list(self.pots.members[k])
                first[lines] *= ours
                second[lines] *= theirs
        return first, second

    def _shares_on_the_way(
        self,
        tree: PublicTree,
        pot_type: int,
        below: Sequence[int],
        known: KnownRows,
        columns: Sequence[NDArray[np.integer]],
    ) -> Iterator[tuple[Floats, Floats]]:
        """How often each combo of both seats takes all actions from the flop to each first node of the street."""
        template = self.templates[pot_type]
        rows = {
            int(node): known[pot_type, street][row, columns[street]].astype(np.float64)
            for street in range(self.street)
            for row, node in enumerate(action_nodes(tree, template, street))
        }
        acts = tree.kind == NodeKind.DECISION
        # Nodes come parents first, so the way to a parent is known before it is needed.
        shares = {template: (np.ones(len(columns[0])), np.ones(len(columns[0])))}
        for node in range(template + 1, int(tree.subtree_end[template])):
            parent = int(tree.parent[node])
            if parent not in shares or tree.street[node] > FLOP + self.street:
                continue
            ours, theirs = shares[parent]
            if not acts[parent]:
                shares[node] = ours, theirs
            elif tree.street[parent] < FLOP + self.street:
                if tree.player[parent] == 0:
                    ours = ours * rows[node]
                else:
                    theirs = theirs * rows[node]
                shares[node] = ours, theirs
        for k in below:
            yield shares[self.pots.templates[k]]


def board_groups(flop: FlopBoards, street: int) -> list[BoardBatch]:
    """A flop's boards in groups that share the public cards of a street (0: all of them), weights summing to 1."""
    weights = flop.weights / flop.weights.sum()
    if street == 0:
        groups = [np.arange(len(flop.boards))]
    else:
        cards = flop.boards[:, 3 : 3 + street]
        edges = np.flatnonzero((cards[1:] != cards[:-1]).any(axis=1)) + 1
        groups = np.split(np.arange(len(cards)), edges)
    return [
        BoardBatch(flop.boards[rows], weights[rows], np.zeros(len(rows), dtype=np.int16)) for rows in groups
    ]


def blueprint_values(
    blueprint: Blueprint, lines: StreetLines, flop: FlopBoards, reach: Sequence[PlayerReach]
) -> list[NDArray[np.float32]]:
    """What the lines of a street are worth to both seats where the blueprint plays on, ``[seat, line, 1326]``.

    Parameters
    ----------
    reach
        Of both seats, for each of the flop's `board_groups`.

    Returns
    -------
    For each group, in chips times deals, as if no other flop came.
    """
    tree, layout = blueprint.game.tree, blueprint.layout
    plan = LanePlan.build(tree, lines.pots.templates)
    own = TableLayout(plan, layout.num_buckets)
    table = np.zeros(own.size, dtype=blueprint.table.dtype)
    slot = blueprint.slot(flop.texture)
    for street in range(lines.street, 3):
        for pot_type, template in enumerate(blueprint.pots.templates):
            nodes = action_nodes(tree, template, street)
            rows = layout.rows(blueprint.table, pot_type, street, slot)
            for k in np.flatnonzero(np.array(lines.pot_types) == pot_type).tolist():
                here = action_nodes(tree, lines.pots.templates[k], street)
                own.fill(table, k, street, rows[np.searchsorted(nodes, here)])
    work = make_work(plan.programs, NUM_LIVE, table.dtype)
    found = []
    for group, arriving in zip(board_groups(flop, lines.street), reach):
        values = np.zeros((2, lines.num_lines, arriving[0].shape[1]))
        for board, weight in zip(group.boards, group.weights):
            deal = board_hands(board, blueprint.bucketing, flop.texture)
            for number in range(lines.pots.num_rounds):
                numbers = np.array(lines.pots.round_lines(number))
                played = numbers >= 0
                for seat in range(2):
                    pays = plan.payoffs(seat, lines.pots.round_shares(number)).ravel().astype(table.dtype)
                    met = np.where(played[:, None], arriving[1 - seat][numbers], 0.0).astype(table.dtype)
                    worth = np.zeros((len(numbers), values.shape[2]))
                    add_expected(
                        own,
                        table,
                        deal,
                        deal.combos,
                        seat,
                        met,
                        pays,
                        float(weight) / LIVE_FRACTION,
                        work,
                        worth,
                    )
                    values[seat, numbers[played]] += worth[played]
        found.append(values.astype(np.float32))
    return found


def deals_met(group: BoardBatch, reach: Floats) -> Floats:
    """Weight of the deals in which each combo meets a hand of a reach on a group's boards, ``[line, 1326]``."""
    met = np.zeros_like(reach)
    first, second = COMBO_CARDS.T
    for board, weight in zip(group.boards, group.weights):
        live = live_combos(board)
        here = np.where(live, reach, 0.0)
        by_card = here @ _HOLDS
        # As `disjoint_weight`, for all lines at once.
        left = here.sum(axis=1, keepdims=True) - by_card[:, first] - by_card[:, second] + here
        met += np.where(live, np.maximum(left, 0.0), 0.0) * float(weight)
    return met / LIVE_FRACTION
