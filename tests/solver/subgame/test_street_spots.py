"""Spots of turn and river below a blueprint: who comes there and what it is worth, against plain recursion."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS, live_combos
from abstractions.evaluator import evaluate_board
from solver.betting.public_tree import NodeKind
from solver.blueprint.boards import LIVE_FRACTION
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.flop_values import FlopBoards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.rows import action_nodes
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trainer import BlueprintTrainer
from solver.cfr.schedules import schedule
from solver.subgame.resolved_flop import known_rows
from solver.subgame.street_spots import StreetLines, blueprint_values, board_groups, deals_met
from tests.solver.blueprint.small_games import FewBuckets, game_of, small_game

Floats = NDArray[np.float64]
#: Which combos share no card.
DISJOINT = ~(COMBO_CARDS[:, None, :, None] == COMBO_CARDS[None, :, None, :]).any(axis=(2, 3))


def trained(kind: str) -> Blueprint:
    """A blueprint in few buckets; its flop lines have tables of their own, or share them."""
    game = game_of()
    trainer = BlueprintTrainer(game, pot_types(game, kind, tolerance=0.9), FewBuckets())
    trainer.begin_phase(schedule("lcfr"), small_game()[0])
    trainer.run(5)
    return trainer.blueprint()


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    """Every flop line has tables of its own."""
    return trained("per_line")


def spots(blueprint: Blueprint, flop: FlopBoards, street: int):
    """Lines of a street, groups of boards, and both players' reach on each."""
    lines = StreetLines.of(blueprint.game.tree, blueprint.pots, street)
    groups, hands = board_groups(flop, street), EveryHand(flop.boards)
    classes = [blueprint.game.reach(blueprint.preflop, seat) for seat in range(2)]
    known = known_rows(blueprint, flop, street)
    reach = [
        lines.reach(blueprint.game.tree, known, hands, group.boards[0, : 3 + street], classes)
        for group in groups
    ]
    return lines, groups, reach


@pytest.mark.parametrize("street", [1, 2])
def test_reach_is_that_of_the_blueprint(blueprint: Blueprint, street: int) -> None:
    flop = small_game()[1][0]
    lines, groups, reach = spots(blueprint, flop, street)
    assert lines.num_lines > 1
    for group, found in zip(groups, reach):
        public = group.boards[0, : 3 + street]
        for number in range(lines.num_lines):
            line = blueprint.game.tree.line(lines.pots.templates[number])
            for seat in range(2):
                expected = blueprint.reach(line, public, seat)
                np.testing.assert_allclose(found[seat][number], expected, atol=1e-6)


class PlainBoard:
    """One board of a blueprint, hand against hand."""

    def __init__(self, blueprint: Blueprint, board: NDArray[np.uint8], texture: int) -> None:
        self.tree = blueprint.game.tree
        rows = known_rows(blueprint, FlopBoards(board[None], np.ones(1), texture), 3)
        hands = EveryHand(board[None])
        self.share = {
            int(child): rows[pot_type, street][row, hands.buckets(board[: 3 + street], 0)]
            for pot_type, template in enumerate(blueprint.pots.templates)
            for street in range(3)
            for row, child in enumerate(action_nodes(self.tree, template, street))
        }
        strength, live = evaluate_board(board).astype(np.int64), live_combos(board)
        self.meets = DISJOINT & live[:, None] & live
        self.ahead = np.sign(strength[:, None] - strength[None, :]) * self.meets

    def value(self, node: int, seat: int, other: Floats) -> Floats:
        """What a node is worth to each combo of a seat against a reach of the other seat."""
        tree = self.tree
        if tree.kind[node] in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            won, lost, tied = (tree.heads_up_payoffs[node, outcome, seat] for outcome in (seat, 1 - seat, 2))
            pay = np.where(self.ahead > 0, won, np.where(self.ahead < 0, lost, tied))
            return (pay * self.meets) @ other
        children = tree.children_of(node).tolist()
        if tree.kind[node] == NodeKind.CHANCE:
            return self.value(children[0], seat, other)
        if tree.player[node] == seat:
            return sum(self.share[child] * self.value(child, seat, other) for child in children)
        return sum(self.value(child, seat, other * self.share[child]) for child in children)


@pytest.mark.parametrize("street", [1, 2])
def test_values_are_those_of_plain_recursion(blueprint: Blueprint, street: int) -> None:
    flop = small_game()[1][0]
    lines, groups, reach = spots(blueprint, flop, street)
    found = blueprint_values(blueprint, lines, flop, reach)
    for group, arriving, values in zip(groups, reach, found):
        assert np.abs(values).max() > 1e-3
        boards = [PlainBoard(blueprint, board, flop.texture) for board in group.boards]
        for number, node in enumerate(lines.pots.templates):
            for seat in range(2):
                against = arriving[1 - seat][number]
                expected = sum(
                    weight / LIVE_FRACTION * board.value(node, seat, against)
                    for board, weight in zip(boards, group.weights)
                )
                np.testing.assert_allclose(values[seat, number], expected, atol=1e-5 * np.abs(values).max())


@pytest.mark.parametrize("kind", ["per_line", "shared"])
@pytest.mark.parametrize("street", [1, 2])
def test_what_one_seat_wins_the_other_loses(kind: str, street: int) -> None:
    blueprint = trained(kind)
    flop = small_game()[1][0]
    lines, groups, _ = spots(blueprint, flop, street)
    rng = np.random.default_rng(7)
    reach = [tuple(rng.random((2, lines.num_lines, NUM_COMBOS))) for _ in groups]
    assert (lines.pots.num_rounds > 1) == (kind == "shared")
    for arriving, values in zip(reach, blueprint_values(blueprint, lines, flop, reach)):
        first, second = ((arriving[seat] * values[seat]).sum(axis=1) for seat in range(2))
        assert (np.abs(first) > 1.0).all()
        np.testing.assert_allclose(first, -second, atol=1e-4 * np.abs(first).max())


def test_deals_that_meet_are_counted_pair_by_pair(blueprint: Blueprint) -> None:
    flop = small_game()[1][0]
    rng = np.random.default_rng(5)
    for group in board_groups(flop, 1):
        reach = rng.random((2, NUM_COMBOS))
        expected = np.zeros_like(reach)
        for board, weight in zip(group.boards, group.weights):
            live = live_combos(board)
            expected += weight * (reach @ (DISJOINT & live[:, None] & live))
        np.testing.assert_allclose(deals_met(group, reach), expected / LIVE_FRACTION, rtol=1e-9, atol=1e-9)


def test_groups_share_the_cards_of_their_street_and_weigh_one_together(blueprint: Blueprint) -> None:
    flop = small_game()[1][0]
    for street, count in ((0, 1), (1, 2), (2, 3)):
        groups = board_groups(flop, street)
        assert len(groups) == count
        assert sum(group.weights.sum() for group in groups) == pytest.approx(1.0)
        for group in groups:
            assert len(np.unique(group.boards[:, : 3 + street], axis=0)) == 1
