"""Matches: the estimate is unbiased whatever values it uses, and leaves most of the luck out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, live_combos, parse_board
from abstractions.evaluator import evaluate_board
from solver.betting.game import StreetSizes
from solver.betting.lines import PUBLIC_CARDS
from solver.betting.public_tree import NodeKind
from solver.blueprint.strategy import Blueprint
from solver.match.board_values import BoardValues
from solver.match.play import Interval, Match, draw_deal, hand_rng, play_hand
from solver.match.players import BlueprintPlayer, ResolvingPlayer
from solver.match.simple import simple_blueprint
from solver.match.table import Table
from solver.subgame.config import SubgameConfig
from tests.solver.blueprint.small_games import game_of
from tests.solver.match.random_blueprints import SHALLOW, random_blueprint

BOARD = parse_board("QsJh2h8d3c")
TABLE = Table(SHALLOW)


@cache
def exact_value(first: int, second: int) -> float:
    """Chips of seat 0 on `BOARD`, by summing over all pairs of hands at every end of the tree."""
    seats = random_blueprint(first), random_blueprint(second)
    tree, hands = seats[0].game.tree, np.flatnonzero(live_combos(BOARD))
    cards = COMBO_CARDS[hands]
    apart = (cards[:, None, :, None] != cards[None, :, None, :]).all(axis=(2, 3))
    strengths = evaluate_board(BOARD)[hands]
    wins = np.sign(strengths[:, None] - strengths[None, :])

    def value(node: int, own: np.ndarray, other: np.ndarray) -> float:
        kind = tree.kind[node]
        if kind == NodeKind.CHANCE:
            return value(int(tree.children_of(node)[0]), own, other)
        if kind == NodeKind.DECISION:
            total, seat = 0.0, int(tree.player[node])
            street = int(tree.street[node])
            blueprint = seats[seat]
            shares = blueprint.probabilities(blueprint.walk(tree.line(node)), BOARD[: PUBLIC_CARDS[street]])
            for child, row in zip(tree.children_of(node).tolist(), shares[:, hands]):
                pair = (own * row, other) if seat == 0 else (own, other * row)
                total += value(child, *pair)
            return total
        win, lose, split = tree.heads_up_payoffs[node, :, 0]
        pays = np.select([wins > 0, wins < 0], [win, lose], split)
        return float(own @ (apart * pays) @ other)

    every = np.ones(len(hands))
    return value(0, every, every) / apart.sum()


def values_of(first: Blueprint, second: Blueprint) -> tuple[BoardValues, BoardValues]:
    return BoardValues(TABLE, (first, second)), BoardValues(TABLE, (second, first))


def test_the_value_of_a_board_is_the_sum_over_all_pairs_of_hands():
    values = BoardValues(TABLE, (random_blueprint(1), random_blueprint(2)))
    values.deal(BOARD)
    assert values.root(0) == pytest.approx(exact_value(1, 2), abs=1e-3)
    assert values.root(1) == pytest.approx(-exact_value(1, 2), abs=1e-3)
    assert exact_value(1, 2) != pytest.approx(exact_value(2, 1), abs=1)


def test_with_true_values_every_hand_of_a_board_has_the_same_estimate():
    blueprints = random_blueprint(1), random_blueprint(2)
    players = BlueprintPlayer(TABLE, blueprints[0]), BlueprintPlayer(TABLE, blueprints[1])
    values = BoardValues(TABLE, blueprints)
    lines = set()
    for number in range(20):
        rng = hand_rng(7, number)
        result = play_hand(TABLE, players, draw_deal(rng, BOARD), 0, rng, values)
        assert result.estimate == pytest.approx(exact_value(1, 2), abs=2e-3)
        lines.add(result.line)
    assert len(lines) > 8


def test_with_wrong_values_the_estimate_is_unbiased_and_still_varies_less():
    blueprints = random_blueprint(1), random_blueprint(2)
    players = BlueprintPlayer(TABLE, blueprints[0]), BlueprintPlayer(TABLE, blueprints[1])
    guess = simple_blueprint("uniform", game_of(SHALLOW))
    guesses = BoardValues(TABLE, (guess, guess))
    corrected, plain, chips = [], [], []
    for number in range(400):
        deal = draw_deal(hand_rng(3, number), BOARD)
        for wrong, found in ((guesses, corrected), (None, plain)):
            result = play_hand(TABLE, players, deal, 0, hand_rng(4, number), wrong)
            found.append(result.estimate)
        chips.append(result.chips)
    for figures in (corrected, plain, chips):
        interval = Interval.of(np.array(figures))
        assert abs(interval.mean - exact_value(1, 2)) < 2 * interval.half_width
    # Ranges instead of hands, and then a poor guess of values, each take off a good part of the variance.
    assert np.var(corrected) < np.var(plain) / 2 < np.var(chips) / 4


def test_a_strategy_wins_nothing_from_itself_and_gains_of_two_cancel():
    first, second = random_blueprint(1), random_blueprint(2)

    def estimate(a: Blueprint, b: Blueprint) -> float:
        players = BlueprintPlayer(TABLE, a), BlueprintPlayer(TABLE, b)
        rng = hand_rng(5, 0)
        return Match(TABLE, players, values_of(a, b), exact=True).duplicate(draw_deal(rng), rng)[1]

    assert estimate(first, first) == pytest.approx(0.0, abs=1e-4)
    assert estimate(first, second) == pytest.approx(-estimate(second, first), abs=1e-3)


def test_always_fold_loses_half_a_small_blind_a_hand_to_always_call():
    # In the small blind it folds, in the big blind it checks all the way for nothing on average over the hands.
    game = game_of(SHALLOW)
    fold, call = simple_blueprint("always-fold", game), simple_blueprint("always-call", game)
    players = BlueprintPlayer(TABLE, fold), BlueprintPlayer(TABLE, call)
    match = Match(TABLE, players, values_of(fold, call), exact=True)
    for number in range(3):
        rng = hand_rng(1, number)
        chips, estimate = match.duplicate(draw_deal(rng), rng)
        assert estimate == pytest.approx(-25.0, abs=1e-4)
        assert chips in (-75.0, -25.0, 25.0)


def test_values_of_unknown_sizes_are_those_of_the_nearest_line_with_the_pot_scaled():
    blueprint = random_blueprint(1)
    values = BoardValues(TABLE, (blueprint, blueprint))
    values.deal(BOARD)
    live = live_combos(BOARD).astype(float)
    known, larger = (values.value(line, 0, (live, live)) for line in ("b200c/x", "b300c/x"))
    pairs = 1081 * 990
    assert (larger / pairs + 300) / 600 == pytest.approx((known / pairs + 200) / 400, rel=1e-6)


def test_strategies_with_other_menus_meet_and_the_estimate_stays_unbiased():
    first = random_blueprint(1)
    menus = replace(SHALLOW, raise_sizes=("3",), postflop=(StreetSizes("50%", "a", "50%", "a"),) * 3)
    second = random_blueprint(2, menus)
    players = BlueprintPlayer(TABLE, first), BlueprintPlayer(TABLE, second)
    values = BoardValues(TABLE, (first, first))
    corrected, plain, lines = [], [], set()
    for number in range(300):
        deal = draw_deal(hand_rng(5, number), BOARD)
        corrected.append(play_hand(TABLE, players, deal, 0, hand_rng(6, number), values).estimate)
        result = play_hand(TABLE, players, deal, 0, hand_rng(7, number))
        plain.append(result.estimate)
        lines.add(result.line)
    # Sizes of both menus were played.
    assert any("b200" in line for line in lines)
    assert any("b300" in line for line in lines) or any("b100" in line for line in lines)
    one, other = Interval.of(np.array(corrected)), Interval.of(np.array(plain))
    assert abs(one.mean - other.mean) < 1.5 * np.hypot(one.half_width, other.half_width)
    assert one.half_width < 0.9 * other.half_width


def test_values_of_blueprints_with_other_betting_are_refused():
    other = random_blueprint(1, replace(SHALLOW, stacks=(800, 800)))
    with pytest.raises(ValueError, match="different betting"):
        BoardValues(TABLE, (random_blueprint(1), other))


def test_a_resolving_player_plays_the_same_hand_the_same_way_and_the_blueprint_before():
    blueprint = random_blueprint(1)
    config = SubgameConfig(iterations=5, sizes="50%", raises="a")
    player, again = (ResolvingPlayer(TABLE, blueprint, 3, config) for _ in range(2))
    plain = BlueprintPlayer(TABLE, blueprint)
    before = "cx/xx/"
    np.testing.assert_array_equal(
        player.play(before, BOARD[:4]).probabilities, plain.play(before, BOARD[:4]).probabilities
    )
    line = "cx/xx/xx/"
    first, answer = player.play(line, BOARD), player.play(line + "x", BOARD)
    assert first.actions == ("x", "b100")
    np.testing.assert_allclose(first.probabilities.sum(axis=0), 1.0)
    assert not np.allclose(first.probabilities[0], plain.play(line, BOARD).probabilities[0])
    # Asked in another order, with other hands in between, it answers the same.
    again.play("cx/xb200c/xx/", BOARD)
    np.testing.assert_array_equal(again.play(line + "x", BOARD).probabilities, answer.probabilities)
    np.testing.assert_array_equal(again.play(line, BOARD).probabilities, first.probabilities)


def test_deals_are_whole_and_the_same_for_a_seed():
    seen = set()
    for number in range(200):
        deal = draw_deal(hand_rng(9, number))
        cards = {*deal.board.tolist(), *COMBO_CARDS[list(deal.combos)].ravel().tolist()}
        assert len(cards) == 9
        again = draw_deal(hand_rng(9, number))
        assert again.combos == deal.combos
        assert again.board.tolist() == deal.board.tolist()
        seen.add(int(CLASS_OF_COMBO[deal.combos[0]]))
    assert len(seen) > 80


def test_an_interval_is_the_textbooks():
    interval = Interval.of(np.array([1.0, 2.0, 3.0, 6.0]))
    assert interval.mean == 3.0
    assert interval.half_width == pytest.approx(1.96 * np.sqrt(14 / 3) / 2)
    assert interval.text == "3.0 mbb/hand, 95 % interval 0.9 to 5.1"
    assert Interval(-0.01, 0.02, 9).text == "0.0 mbb/hand, 95 % interval 0.0 to 0.0"
