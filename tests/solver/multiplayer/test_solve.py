"""Streets of several players: chips are conserved, rivers agree with the exact solver, choices cost the hero."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from abstractions.cards import parse_combo
from abstractions.ranges import parse_range
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.solution import MultiplayerSolution
from solver.multiplayer.solve import solve_multiplayer
from solver.postflop.solver import PostflopSolver
from tests.solver.multiplayer.uniform_blueprint import EVERYTHING, uniform_blueprint


@pytest.fixture(scope="module")
def blueprint() -> MultiwayBlueprint:
    return uniform_blueprint()


def mean_value(solution: MultiplayerSolution, line: str, seat: int) -> float:
    """Chips that a seat receives from a line on, over all deals."""
    found = solution.values(line, seat)
    weights = solution.range(seat, line) * found.met
    return float((weights * np.nan_to_num(found.ev)).sum() / weights.sum())


@pytest.mark.parametrize(
    ("line", "board"),
    [("b300cc/xx", "QsJh2h"), ("b300cc/xxx/x", "QsJh2h8d"), ("b300cc/xxx/xxx/", "QsJh2h8d3c")],
)
def test_what_all_players_receive_is_the_pot(blueprint: MultiwayBlueprint, line: str, board: str) -> None:
    config = MultiplayerConfig(iterations=8, value_deals=8000)
    solution = solve_multiplayer(blueprint, line, board, config)
    root = solution.subgame.hand.root_line
    received = sum(mean_value(solution, root, seat) for seat in range(3))
    assert received == pytest.approx(solution.subgame.pot, rel=0.03)


def test_a_size_that_the_blueprint_does_not_know_never_brings_folded_players_back(
    blueprint: MultiwayBlueprint,
) -> None:
    solution = solve_multiplayer(
        blueprint, "b300cc/b777", "QsJh2h", MultiplayerConfig(iterations=1, sizes="100%")
    )
    subgame = solution.subgame
    for node, place in subgame.places.items():
        if place is not None:
            live = {seat for seat in range(3) if not subgame.tree.folded[node, seat]}
            assert blueprint.later.live(place) == live
    assert any(place is not None for place in subgame.places.values())


def test_two_players_on_the_river_play_as_the_exact_solver_does(blueprint: MultiwayBlueprint) -> None:
    board, first, second = "QsJh2h8d3c", "AA,KK,AQs,T9s,76s", "QQ,AJs,KJs,A5s,65s"
    ranges = [parse_range(first), parse_range(second), EVERYTHING]
    config = MultiplayerConfig(
        iterations=1500, sizes="100%", raises="none", raise_cap=0, deals=64, value_deals=20_000
    )
    # The button folds before the flop, so both blinds are left with the button's blind-free pot.
    solution = solve_multiplayer(blueprint, "fcx/xx/xx/", board, config, ranges=ranges)
    subgame = solution.subgame
    exact = PostflopSolver(
        board=board,
        oop_range=first,
        ip_range=second,
        pot=subgame.pot,
        stack=2900,
        bet_sizes={"river": {"bet": "100%", "raise": "none"}},
        add_allin_threshold=0.0,
        force_allin_threshold=0.0,
    )
    exact.solve(max_iterations=2000, target_exploitability_pct=0.05)
    report = exact.go("").node()
    root = subgame.hand.root_line
    for position, seat in enumerate((0, 1)):
        # The folded hand of the button is any, so it changes nothing.
        assert mean_value(solution, root, seat) == pytest.approx(report.ev[position], abs=0.03 * subgame.pot)
    assert solution.actions() == ["x", "b200"]
    assert solution.frequencies(met=solution.values().met) == pytest.approx(report.frequencies, abs=0.08)


def test_opponents_who_may_choose_how_to_play_on_cost_the_hero(blueprint: MultiwayBlueprint) -> None:
    """With two players left the game is zero-sum, so more choice for one is never better for the other."""
    ranges = [parse_range("AA,KK,AQs,T9s"), parse_range("QQ,AJs,KJs,65s"), EVERYTHING]
    config = MultiplayerConfig(
        iterations=400, sizes="100%", raises="none", raise_cap=0, value_deals=8000, hero=0
    )
    found = {}
    for values in (1, 4):
        own = dataclasses.replace(config, values=values, choosers="opponents")
        solution = solve_multiplayer(blueprint, "fcx/xx/", "QsJh2h8d", own, ranges=ranges)
        found[values] = mean_value(solution, solution.subgame.hand.root_line, 0)
    assert found[4] <= found[1] + 0.02 * 200
    assert found[4] < found[1]


def test_cards_of_folded_players_are_gone(blueprint: MultiwayBlueprint) -> None:
    aces = np.zeros(1326)
    aces[parse_combo("AcAd")] = 1.0
    ranges = [parse_range("AA,KK"), EVERYTHING, aces]
    config = MultiplayerConfig(iterations=2, value_deals=200)
    solution = solve_multiplayer(blueprint, "fcx/xx/xx/", "QsJh2h8d3c", config, ranges=ranges)
    met = solution.values(player=0).met
    assert met[parse_combo("AcAh")] == 0.0
    assert met[parse_combo("AsAh")] > 0.0


def test_threads_change_nothing_and_a_stopped_solve_is_valid(blueprint: MultiwayBlueprint) -> None:
    config = MultiplayerConfig(iterations=3)
    one = solve_multiplayer(blueprint, "b300cc/", "QsJh2h", config)
    two = solve_multiplayer(blueprint, "b300cc/", "QsJh2h", dataclasses.replace(config, threads=2))
    assert np.array_equal(one.strategy(), two.strategy())
    stopped = solve_multiplayer(blueprint, "b300cc/", "QsJh2h", config, should_stop=lambda: True)
    assert (stopped.iterations, stopped.reason) == (1, "stopped")
    assert stopped.strategy()[:, parse_combo("AcAd")].sum() == pytest.approx(1.0)
