"""Public states and their values: ranges as published, values that sum to zero and do not depend on suits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import live_combos, parse_board, parse_combo
from abstractions.ranges import parse_range
from solver.postflop.solver import PostflopSolver
from solver.value_states import labels
from solver.value_states.labels import ZERO_SUM, Labelling, label, label_with_rivers
from solver.value_states.public_state import PublicState, random_board, random_state
from solver.value_states.random_ranges import recursive_range, strength_order, with_noise

HOW = Labelling(bet="100%,a", raise_="a", accuracy=0.5, max_iterations=1000)


def board_of(text: str) -> tuple[int, ...]:
    return tuple(int(card) for card in parse_board(text))


@given(st.integers(1, 300), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_recursive_range_sums_to_one_over_its_hands(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.choice(1326, count, replace=False)
    weights = recursive_range(order, rng)
    assert weights.sum() == pytest.approx(1.0)
    assert set(np.flatnonzero(weights)) <= set(order.tolist())
    assert (weights >= 0.0).all()


def test_each_half_of_a_recursive_range_gets_half_on_average_and_any_share_at_times() -> None:
    rng = np.random.default_rng(3)
    order = np.arange(64)
    strong = np.array([recursive_range(order, rng)[32:64].sum() for _ in range(4000)])
    assert strong.mean() == pytest.approx(0.5, abs=0.02)
    # Uniform on 0 to 1.
    assert strong.std() == pytest.approx(np.sqrt(1 / 12), abs=0.01)
    weakest = np.array([recursive_range(order, rng)[0] for _ in range(4000)])
    assert weakest.mean() == pytest.approx(1 / 64, rel=0.25)


def test_hands_are_ordered_by_how_well_they_do() -> None:
    rng = np.random.default_rng(1)
    river = strength_order(board_of("QsJh2h8d3c"), rng).tolist()
    place = {hand: river.index(parse_combo(hand)) for hand in ("6c4s", "AhKd", "QhQd", "Tc9c")}
    assert place["6c4s"] < place["AhKd"] < place["QhQd"] < place["Tc9c"]
    flop = strength_order(board_of("QsJh2h"), rng).tolist()
    assert flop.index(parse_combo("5c4d")) < flop.index(parse_combo("AcKc")) < flop.index(parse_combo("QhQd"))
    assert len(flop) == 1176


def test_noise_keeps_a_range_near_and_on_the_board() -> None:
    live = live_combos(np.array(board_of("QsJh2h8d3c"), dtype=np.uint8))
    weights = parse_range("22+,A2s+") * live
    rng = np.random.default_rng(2)
    assert with_noise(weights, live, 0.0, rng) == pytest.approx(weights / weights.sum())
    changed = with_noise(weights, live, 0.3, rng)
    assert changed.sum() == pytest.approx(1.0)
    assert not changed[~live].any()
    assert np.corrcoef(changed, weights)[0, 1] > 0.8
    assert not np.allclose(changed, weights / weights.sum())


@pytest.fixture(scope="module")
def river():
    return label(random_state(5, (0.5, 4.0), np.random.default_rng(4)), HOW)


def test_values_of_both_players_sum_to_zero_and_only_live_hands_have_some(river) -> None:
    assert abs(river.imbalance) <= ZERO_SUM
    assert river.exploitability <= 0.5
    live = live_combos(np.array(river.state.board, dtype=np.uint8))
    for values in river.values:
        assert not values[~live].any()
        assert np.abs(values[live]).max() < 10.0
    assert abs(river.game_value) < 0.5


def test_values_are_those_of_a_solved_spot() -> None:
    board = board_of("QsJh2h8d3c")
    live = live_combos(np.array(board, dtype=np.uint8))
    first, second = (parse_range(text) * live for text in ("AA,QJs,T9s,76s", "KK,88,AQs,T9o"))
    state = PublicState(board, 200, 500, (first / first.sum(), second / second.sum()))
    tight = Labelling("100%,a", "a", 0.005, 20000)
    found = label(state, tight)
    solver = PostflopSolver(
        board=board,
        oop_range=first,
        ip_range=second,
        pot=200,
        stack=500,
        bet_sizes={"river": {"bet": "100%,a", "raise": "a"}},
    )
    solver.solve(target_exploitability_pct=0.005, max_iterations=20000)
    report = solver.node()
    assert (found.game_value + 0.5) * 200 == pytest.approx(report.ev[0], abs=0.1)
    for player in range(2):
        hands = report.hands[player]
        total = (first, second)[1 - player].sum()
        expected = (hands.ev / 200 - 0.5) * hands.met / total
        assert found.values[player][hands.combos] == pytest.approx(expected, abs=2e-3)
    # A hand outside the range has the value of its best response: the best hand wins at least half the pot it meets.
    nuts = parse_combo("TcTd")
    assert first[nuts] == 0.0
    assert found.values[0][nuts] > found.values[0][parse_combo("7c6c")]


def test_renamed_suits_rename_the_values(river) -> None:
    suits = np.array([2, 0, 3, 1])
    renamed = river.renamed(suits)
    again = label(river.state.renamed(suits), HOW)
    for player in range(2):
        assert renamed.values[player] == pytest.approx(again.values[player], abs=2e-3)
        # Renamed back, they are what they were.
        back = renamed.renamed(np.argsort(suits))
        assert np.array_equal(back.values[player], river.values[player])
    assert back.state.board == river.state.board


def test_rivers_below_a_solved_turn_have_its_ranges_and_pots() -> None:
    rng = np.random.default_rng(7)
    turn = random_state(4, (1.0, 1.0), rng)
    labelled, rivers = label_with_rivers(turn, HOW, 6, rng)
    assert labelled.exploitability <= 0.5
    assert 1 <= len(rivers) <= 6
    for river in rivers:
        assert river.state.board[:4] == turn.board
        assert river.state.pot + 2 * river.state.stack == turn.pot + 2 * turn.stack
        assert abs(river.imbalance) <= ZERO_SUM
        for own, before in zip(river.state.ranges, turn.ranges):
            assert own.sum() == pytest.approx(1.0)
            assert not own[before == 0.0].any()


def test_a_row_that_is_not_zero_sum_is_solved_in_64_bits_and_refused_if_that_does_not_help(
    river: labels.Labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    off = replace(river, values=(river.values[0] + 2 * ZERO_SUM, river.values[1]))

    def solved(_state: PublicState, _how: Labelling, precision: str) -> tuple[labels.Labelled, None]:
        asked.append(precision)
        return (off if precision == "float32" or len(asked) > 2 else river), None

    monkeypatch.setattr(labels, "_solved", solved)
    assert label(river.state, HOW) is river
    assert asked == ["float32", "float64"]
    with pytest.raises(ValueError, match=r"the values sum to 0\.0002 pots instead of 0"):
        label(river.state, HOW)


def test_boards_are_dealt_without_repeats() -> None:
    rng = np.random.default_rng(0)
    assert all(len(set(random_board(cards, rng))) == cards for cards in (3, 4, 5) for _ in range(50))
