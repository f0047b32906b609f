"""Pots are settled exactly, chips are conserved, and prizes follow the independent chip model."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS
from abstractions.evaluator import evaluate_board
from solver.betting.game import GameConfig
from solver.betting.icm import icm
from solver.betting.lines import PREFLOP
from solver.betting.public_tree import NodeKind
from solver.betting.tree import game_tree
from solver.multiway.deals import boards_dealt, deal_cards
from solver.multiway.game import MultiwayGame
from solver.multiway.payoffs import Ends
from solver.multiway.replica import Player

UNEQUAL = GameConfig(
    stacks=(900, 400, 1500, 250),
    antes=(10, 0, 25, 5),
    big_blind_ante=40,
    raise_sizes=("2.5,a", "a"),
    raise_cap=3,
    rake=0.05,
    rake_cap=30,
    no_flop_no_drop=True,
)


@pytest.fixture(scope="module")
def unequal() -> tuple[MultiwayGame, list[int]]:
    game = MultiwayGame.build(UNEQUAL)
    return game, np.flatnonzero(game.tree.kind != NodeKind.DECISION).tolist()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_every_end_pays_what_the_tree_says_and_keeps_all_chips_but_the_rake(unequal, data) -> None:
    game, ends = unequal
    node = data.draw(st.sampled_from(ends))
    strengths = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4))
    net = game.ends.net(node, np.array(strengths))
    assert net == pytest.approx(game.tree.payoffs(node, strengths) / 100, abs=1e-9)
    assert net.sum() == pytest.approx(-game.tree.rake_of(node) / 100, abs=1e-9)


def test_one_prize_for_the_winner_is_worth_what_the_chips_are() -> None:
    chips = dataclasses.replace(UNEQUAL, rake=0.0, rake_cap=0.0)
    tree = game_tree(chips, last_street=PREFLOP)
    money = Ends.of(tree, chips)
    prize = Ends.of(tree, dataclasses.replace(chips, payouts=(7.0,)))
    rng = np.random.default_rng(1)
    for node in rng.choice(np.flatnonzero(tree.kind != NodeKind.DECISION), 40).tolist():
        strengths = rng.integers(0, 3, 4)
        assert prize.net(node, strengths) == pytest.approx(money.net(node, strengths), abs=1e-9)


def test_prizes_of_three_places_follow_the_independent_chip_model() -> None:
    config = GameConfig(stacks=(5000, 3000, 2000), raise_sizes=("a",), payouts=(50, 30, 20))
    tree = game_tree(config, last_street=PREFLOP)
    ends = Ends.of(tree, config)
    assert ends.stakes.start[0] / ends.stakes.total == pytest.approx(0.3839, abs=5e-5)
    node = tree.node_at("ff")
    after = np.array([4950, 3050, 2000])
    gained = icm(after, (0.5, 0.3, 0.2)) - icm((5000, 3000, 2000), (0.5, 0.3, 0.2))
    assert ends.net(node, np.zeros(3, np.int64)) == pytest.approx(100 * gained, abs=1e-9)


@pytest.mark.parametrize("number", range(6))
def test_hands_that_nobody_blocks_are_counted_as_brute_force_counts_them(number: int) -> None:
    seats = 5
    dealt = deal_cards(3, number, seats)
    board = dealt.cards[:5].astype(np.uint8)
    assert boards_dealt(3, number, 1)[0].tolist() == board.tolist()
    strengths = evaluate_board(board)
    taken = set(dealt.cards.tolist())
    assert len(taken) == 5 + 2 * seats
    free = [c for c, cards in enumerate(COMBO_CARDS.tolist()) if not taken & set(cards)]
    for seat in range(seats):
        hand = sorted(dealt.cards[5 + 2 * seat : 7 + 2 * seat].tolist())
        own = strengths[COMBO_CARDS.tolist().index(hand)]
        better = np.bincount(CLASS_OF_COMBO[[c for c in free if strengths[c] > own]], minlength=169)
        tied = np.bincount(CLASS_OF_COMBO[[c for c in free if strengths[c] == own]], minlength=169)
        assert dealt.better[dealt.position[seat], :169].tolist() == better.tolist()
        assert dealt.tied[dealt.group[seat], :169].tolist() == tied.tolist()
    assert dealt.live[:169].tolist() == np.bincount(CLASS_OF_COMBO[free], minlength=169).tolist()


def test_values_of_all_seats_sum_to_nothing_without_rake() -> None:
    game = MultiwayGame.build(
        GameConfig(stacks=(900, 400, 1500), raise_sizes=("2.5,a", "a"), antes=(10, 10, 10))
    )
    uniform = np.ones(game.entries, np.float32)
    values = Player(game).play(uniform, uniform, 2, 0, 40_000, learn=False)
    error = values.sum(axis=1).std() / np.sqrt(len(values))
    assert abs(values.sum(axis=1).mean()) < 4 * error
