"""Two players left of three: solved exactly, around the hands that the third one folded."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.ranges import parse_range
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.solve import solve_multiplayer
from solver.multiplayer.two_left import TwoLeft, solve_two_left, weights_of
from solver.postflop.solver import PostflopSolver
from solver.subgame.config import FULL, SubgameConfig
from tests.solver.multiplayer.uniform_blueprint import EVERYTHING, GAME, uniform_blueprint

BOARD = "QsJh2h8d3c"
FIRST, SECOND = "AA,KK,AQs,T9s,76s", "QQ,AJs,KJs,A5s,65s"
CONFIG = SubgameConfig(depth=FULL, sizes="100%", raises="none", raise_cap=0, iterations=3000, target_pct=0.02)


@pytest.fixture(scope="module")
def blueprint() -> MultiwayBlueprint:
    return uniform_blueprint()


def exact(pot: int, stack: int, folded: list[str | np.ndarray]) -> PostflopSolver:
    solver = PostflopSolver(
        board=BOARD,
        oop_range=FIRST,
        ip_range=SECOND,
        pot=pot,
        stack=stack,
        bet_sizes={"river": {"bet": "100%", "raise": "none"}},
        folded_ranges=folded,
        add_allin_threshold=GAME.add_allin_threshold,
        force_allin_threshold=GAME.force_allin_threshold,
        merging_threshold=GAME.merging_threshold,
    )
    solver.solve(max_iterations=3000, target_exploitability_pct=0.02)
    return solver


def solved(blueprint: MultiwayBlueprint, line: str, folded: str | np.ndarray) -> TwoLeft:
    third = parse_range(folded) if isinstance(folded, str) else folded
    ranges = [parse_range(FIRST), parse_range(SECOND), third]
    return solve_two_left(blueprint, line, BOARD, CONFIG, ranges=ranges)


def test_a_folded_hand_that_may_be_any_changes_nothing(blueprint: MultiwayBlueprint) -> None:
    found, plain = solved(blueprint, "fcx/xx/xx/", EVERYTHING), exact(200, 2900, [])
    assert (found.seats, found.folded, found.reason) == ((0, 1), (2,), "target")
    assert found.report().ev == pytest.approx(plain.node().ev, abs=0.05)
    assert found.report().frequencies == pytest.approx(plain.node().frequencies, abs=0.01)


def test_the_folded_range_is_that_of_a_spot_file(blueprint: MultiwayBlueprint) -> None:
    folded = "AcAd,AhKd,KsKh"
    found, spot = solved(blueprint, "fcx/xx/xx/", folded), exact(200, 2900, [folded])
    assert found.report().ev == pytest.approx(spot.node().ev, abs=1e-6)
    plain = exact(200, 2900, [])
    assert abs(found.report().ev[0] - plain.node().ev[0]) > 2.0


def test_drawn_hands_of_the_folded_player_agree(blueprint: MultiwayBlueprint) -> None:
    """The solver of any number of players draws the folded hands from the same range, deal by deal."""
    folded = parse_range("AcAd,AhKd,KsKh,AsQd")
    ranges = [parse_range(FIRST), parse_range(SECOND), folded]
    config = MultiplayerConfig(
        iterations=1500, sizes="100%", raises="none", raise_cap=0, deals=64, value_deals=20_000
    )
    drawn = solve_multiplayer(blueprint, "fcx/xx/xx/", BOARD, config, ranges=ranges)
    found = solved(blueprint, "fcx/xx/xx/", folded)
    for position, seat in enumerate(found.seats):
        values = drawn.values(drawn.subgame.hand.root_line, seat)
        weights = drawn.range(seat, drawn.subgame.hand.root_line) * values.met
        mean = float((weights * np.nan_to_num(values.ev)).sum() / weights.sum())
        assert mean == pytest.approx(found.report().ev[position], abs=0.03 * 200)


def test_chips_of_a_player_who_folded_after_the_flop_are_dead(blueprint: MultiwayBlueprint) -> None:
    """The small blind bets the flop, the big blind folds, the button calls: both are left with 2,250 behind."""
    ranges = [parse_range(FIRST), EVERYTHING, parse_range(SECOND)]
    found = solve_two_left(blueprint, "b300cc/b450fc/xx/", BOARD, CONFIG, ranges=ranges)
    report = found.report()
    assert (found.seats, found.folded, report.pot) == ((0, 2), (1,), 1800)
    assert sum(report.ev) == pytest.approx(1800, abs=0.01)
    assert report.ev == pytest.approx(exact(1800, 2250, []).node().ev, abs=1.0)


def test_any_size_that_was_played_is_in_the_tree_and_ranges_follow_it(blueprint: MultiwayBlueprint) -> None:
    root = solved(blueprint, "fcx/xx/xx/b333", EVERYTHING)
    report = root.report()
    assert (report.player, report.actions, report.pot) == (1, ["f", "c"], 533)
    weights, ev = weights_of(report, 0)
    bets = root.strategy(0)[root.solver.tree.children_of(0).tolist().index(root.node)]
    held = parse_range(FIRST) > 0
    assert weights[held] == pytest.approx((parse_range(FIRST) * bets)[held], abs=1e-6)
    assert np.isnan(ev[~held]).all()


def test_ranges_of_folded_players_come_from_the_line(blueprint: MultiwayBlueprint) -> None:
    found = solve_two_left(blueprint, "fcx/xx/xx/", BOARD, SubgameConfig(depth=FULL, sizes="a", iterations=5))
    # Everybody takes every action alike, so a fold says nothing.
    assert found.hand.ranges[2].max() == found.hand.ranges[2][found.hand.ranges[2] > 0].min()
    assert found.solver.engine.game.folded is not None


def test_three_players_are_refused(blueprint: MultiwayBlueprint) -> None:
    with pytest.raises(ValueError, match="depth: full needs two players left, 'b300cc/xxx/xxx/' has 3"):
        solve_two_left(blueprint, "b300cc/xxx/xxx/", BOARD, CONFIG)
