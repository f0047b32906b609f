"""Public states and their values: ranges as published, values that sum to zero and do not depend on suits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstractions.cards import live_combos, parse_board, parse_combo
from abstractions.ranges import parse_range
from solver.exact.node_values import node_values, street_entries
from solver.postflop.solver import PostflopSolver
from solver.value_states import labels
from solver.value_states.labels import (
    ZERO_SUM,
    Labelling,
    label,
    label_with_every_river,
    label_with_rivers,
    read_rivers,
    state_solver,
)
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


@pytest.fixture(scope="module")
def read() -> tuple[PublicState, PostflopSolver, list[labels.Labelled]]:
    """A turn of few hands that is solved roughly, and all of its rivers."""
    board = board_of("QsJh2h8d")
    live = live_combos(np.array(board, dtype=np.uint8))
    first, second = (parse_range(text) * live for text in ("AA,QJs,T9s,76s,A5s", "KK,88,AQs,T9o,A3s"))
    turn = PublicState(board, 200, 700, (first / first.sum(), second / second.sum()))
    solver = state_solver(turn, HOW)
    solver.solve(max_iterations=30, target_exploitability_pct=None)
    return turn, solver, read_rivers(solver, turn)


def test_a_read_river_is_what_the_turns_strategies_play_there(read) -> None:
    """The turn's strategies, put into a solver of the river alone, have the same values and exploitability."""
    _, solver, rivers = read
    tree, engine = solver.tree, solver.engine
    for river in rivers[::13]:
        alone = state_solver(river.state, HOW, "float64")
        board = engine.deals.cards.index(river.state.board)
        (above,) = (
            node
            for node in np.flatnonzero(tree.street == 3).tolist()
            if tree.street[tree.parent[node]] == 2
            and tree.pot[node] == river.state.pot
            # Both lines to a pot of one bet are told apart by their ranges.
            and np.allclose(
                node_values(engine, node, board).reach[0] / node_values(engine, node, board).reach[0].sum(),
                river.state.ranges[0][live_combos(np.array(river.state.board, dtype=np.uint8))],
            )
        )
        pairs = [(0, above)]
        while pairs:
            here, there = pairs.pop()
            assert alone.tree.kind[here] == tree.kind[there]
            if alone.tree.player[here] >= 0:
                alone.engine.set_average(here, 0, engine.strategy(there, board))
            pairs += zip(alone.tree.children_of(here).tolist(), tree.children_of(there).tolist(), strict=True)
        assert alone.measure_exploitability().percent_of_pot == pytest.approx(river.exploitability, abs=1e-3)
        for player in range(2):
            values = alone.engine.root_values(player) / river.state.pot
            best = alone.engine.root_values(player, best=True) / river.state.pot
            live = live_combos(np.array(river.state.board, dtype=np.uint8))
            held = river.state.ranges[player][live] > 0.0
            assert river.values[player][live] == pytest.approx(np.where(held, values, best), abs=2e-6)


def test_every_river_is_read_and_is_zero_sum(read) -> None:
    turn, _, rivers = read
    assert len({river.state.board for river in rivers}) == 48
    # Checked through, a pot-sized bet and a call of either player.
    assert sorted({(river.state.pot, river.state.stack) for river in rivers}) == [(200, 700), (600, 500)]
    assert len(rivers) == 3 * 48
    for river in rivers:
        assert abs(river.imbalance) <= ZERO_SUM
        assert river.state.board[:4] == turn.board
        assert river.exploitability >= -1e-4
        for own, before in zip(river.state.ranges, turn.ranges):
            assert own.sum() == pytest.approx(1.0)
            assert not own[before == 0.0].any()


def test_rivers_lose_no_more_than_the_turn_on_average(read) -> None:
    """Who responds on the river alone gains no more than who responds on both streets."""
    _, solver, rivers = read
    engine = solver.engine
    gained = 0.0
    for board in np.flatnonzero(engine.deals.boards["street"] == 1).tolist():
        for entry in street_entries(engine, board):
            met = [entry.reach[p] @ (entry.best[p] - entry.values[p]) for p in range(2)]
            gained += sum(met) / 2 / 44 / engine.pair_weight
    whole = solver.measure_exploitability()
    assert 0.0 < gained <= whole.value * (1 + 1e-4)
    within = [river for river in rivers if river.exploitability <= 1.0]
    assert 0 < len(within) < len(rivers)


def test_only_rivers_within_the_bound_are_kept() -> None:
    turn = random_state(4, (2.0, 2.0), np.random.default_rng(8))
    labelled, rivers, num_read = label_with_every_river(turn, HOW, 0.5)
    assert labelled.exploitability <= 0.5
    assert 0 < len(rivers) <= num_read
    assert max(river.exploitability for river in rivers) <= 0.5
    assert len(label_with_every_river(turn, HOW, 100.0)[1]) == num_read


def test_a_read_river_is_worth_what_it_is_worth_when_solved_on_its_own() -> None:
    turn = random_state(4, (1.0, 1.0), np.random.default_rng(9))
    _, rivers, _ = label_with_every_river(turn, Labelling("100%,a", "a", 0.05, 5000), 0.2)
    for river in rivers[:: max(1, len(rivers) // 3)]:
        alone = label(river.state, Labelling("100%,a", "a", 0.05, 5000))
        # The value of a zero-sum game is unique, so both are within what a best response gains from either.
        bound = 2 * (river.exploitability + alone.exploitability) / 100
        assert river.game_value == pytest.approx(alone.game_value, abs=bound)


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
