"""Equity by hand, what is realised of it, and ranges as curves and by category."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstractions.cards import CLASS_NAMES, NUM_CLASSES, NUM_COMBOS, parse_board, parse_combo
from abstractions.equity import equity
from abstractions.ranges import from_class_weights
from artifacts import open_blueprint
from artifacts.agents import locked_agent, simple_agent
from artifacts.blueprint.difference import strategy_distance
from artifacts.blueprint.line_reach import deal_weight, line_play
from artifacts.hand_values import equity_realisation, hand_equities, mean_over, met_weights, range_curve
from artifacts.range_categories import category_rows
from solver.simple_strategies import SIMPLE
from solver.strategy import by_combo
from solver.subgame.locks import action_lock

RIVER = "QsJh2h8d3c"


def test_equities_after_the_flop_are_those_against_the_range(exported: Path) -> None:
    bundle, line, board = open_blueprint(exported), "b250c/xx/xx/x", parse_board(RIVER)
    found = hand_equities(bundle, line, board, 1)
    opponent = bundle.range(line, 1, board)
    for hand in ("AhAd", "QhQd", "7c6c"):
        assert found[parse_combo(hand)] == pytest.approx(equity(hand, opponent, RIVER), abs=1e-9)
    assert np.isnan(found[parse_combo("QsAh")])


def test_equities_before_the_flop_weigh_classes_by_the_deals_they_leave(exported: Path) -> None:
    bundle = open_blueprint(exported)
    found = hand_equities(bundle, "b250", parse_board(""), 0)
    wins, ties, totals = bundle.class_equity()
    weights = bundle.range("b250", 0)
    aces = CLASS_NAMES.index("AA")
    expected = ((wins + ties / 2)[aces] * weights).sum() / (totals[aces] * weights).sum()
    assert found[aces] == pytest.approx(expected)


def test_a_hand_that_receives_its_share_realises_all_of_it() -> None:
    assert equity_realisation(np.array([30.0, 5.0]), np.array([0.3, 0.0]), 100.0)[0] == pytest.approx(1.0)
    assert np.isnan(equity_realisation(np.array([5.0]), np.array([0.0]), 100.0)).all()


@given(st.integers(0, 2**32))
def test_weights_of_two_ranges_are_their_deals(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.random(NUM_CLASSES), rng.random(NUM_CLASSES)
    total = deal_weight(by_combo(first), by_combo(second))
    assert met_weights(first, second).sum() == pytest.approx(total)
    assert met_weights(from_class_weights(first), from_class_weights(second)).sum() == pytest.approx(total)


@given(st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(-10, 10)), min_size=1, max_size=20))
def test_a_curve_falls_from_the_best_hand_to_the_worst(hands: list[tuple[float, float]]) -> None:
    weights, values = np.array(hands).T
    curve = range_curve(weights, values)
    assert curve is not None
    assert curve.values[0] == values.max()
    assert curve.values[-1] == values.min()
    assert (np.diff(curve.values) <= 0).all()
    mean = mean_over(weights, values)
    assert mean is not None
    assert values.min() - 1e-9 <= mean <= values.max() + 1e-9


def test_nothing_has_no_curve_and_no_mean() -> None:
    assert range_curve(np.zeros(3), np.ones(3)) is None
    assert mean_over(np.ones(3), np.full(3, np.nan)) is None


def test_categories_split_a_range_and_average_its_strategy() -> None:
    categories = np.array([0, 0, 2, -1])
    shares = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    rows = category_rows(categories, ("best", "middle", "rest"), np.array([3.0, 1.0, 4.0, 9.0]), shares)
    assert [(row.name, row.share) for row in rows] == [("best", 0.5), ("rest", 0.5)]
    assert rows[0].strategy.tolist() == [0.75, 0.25]


def test_agents_play_the_same_with_every_hand(exported: Path) -> None:
    bundle = open_blueprint(exported)
    facing = bundle.decision("b250")
    expected = {"always-call": [0, 1, 0], "always-fold": [1, 0, 0], "uniform": [1 / 3] * 3}
    assert set(expected) == set(SIMPLE)
    for name, shares in expected.items():
        agent = simple_agent(bundle, name)
        table = agent.probabilities(facing, parse_board(""))
        assert table.shape == (3, NUM_COMBOS)
        assert pytest.approx(np.tile(shares, (NUM_COMBOS, 1))) == table.T
    # Nobody folds to nothing: where there is no bet, always-fold checks.
    checks = simple_agent(bundle, "always-fold").postflop("b250c/", "QsJh2h")
    assert (checks.probability == np.array([1.0, 0.0])).all()
    assert line_play(simple_agent(bundle, "always-call"), "c").frequencies == pytest.approx([1.0, 0.0])
    with pytest.raises(ValueError, match="accepted: always-fold"):
        simple_agent(bundle, "maniac")


def test_a_locked_agent_plays_the_blueprint_but_for_one_decision(exported: Path) -> None:
    bundle, none = open_blueprint(exported), parse_board("")
    table = action_lock(bundle.decision("").tokens, {"b250": 1.0}, "22+")
    agent = locked_agent(bundle, "", table)
    own, other = agent.preflop(""), bundle.preflop("")
    pairs = np.array([hand[0] == hand[1] for hand in own.hands])
    assert own.raw_probability[pairs].tolist() == [[0.0, 0.0, 1.0]] * 13
    assert own.raw_probability[~pairs] == pytest.approx(other.raw_probability[~pairs])
    assert agent.range("b250", "sb")[pairs].tolist() == [1.0] * 13
    facing = bundle.decision("b250")
    assert np.array_equal(agent.probabilities(facing, none), bundle.probabilities(facing, none))
    with pytest.raises(ValueError, match="whole hand classes are locked"):
        locked_agent(bundle, "", action_lock(bundle.decision("").tokens, {"b250": 1.0}, "AhAs"))
    with pytest.raises(ValueError, match="2 actions at ''; expected 3"):
        locked_agent(bundle, "", table[:2])
    # After the flop single combos may be locked.
    flop = parse_board("QsJh2h")
    table = action_lock(bundle.decision("b250c/").tokens, {"x": 1.0}, "AhAs")
    shares = locked_agent(bundle, "b250c/", table).postflop("b250c/", flop)
    aces = shares.combos.tolist().index(parse_combo("AhAs"))
    assert shares.raw_probability[aces].tolist() == [1.0, 0.0]


def test_strategies_with_other_sizes_are_compared_by_kind() -> None:
    first, second = np.array([[0.2, 0.3, 0.5]]), np.array([[0.2, 0.3, 0.25, 0.25]])
    distance, by = strategy_distance(
        ["fold", "call", "raise_9"], first, ["fold", "call", "raise_8", "all_in"], second
    )
    assert (distance.tolist(), by) == ([pytest.approx(0.0)], "kind")
