"""A solve to the river goes on card by card: the next street is solved again from its ranges, with its sizes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import disjoint_weight
from solver.subgame.config import FULL, SubgameConfig
from solver.subgame.forecast import forecast_bytes
from solver.subgame.solve import SubgameSolver, solve_subgame
from solver.subgame.solved_street import SolvedStreet
from solver.subgame.subgame import Subgame
from tests.solver.subgame.small_spots import FLOP, PLAIN, TURN, blueprint, thin_ranges

DEEP = replace(PLAIN, depth=FULL, sizes="50%,a", iterations=400)


@pytest.fixture(scope="module")
def deep():
    """A turn with sizes of its own, solved to the river."""
    return solve_subgame(blueprint(), "b250c/xx/", TURN, DEEP, ranges=thin_ranges())


@pytest.mark.parametrize(("played", "river"), [("xx", "3c"), ("xx", "9h"), ("xb250c", "Ad")])
def test_the_next_street_is_worth_what_the_solve_to_the_river_says(deep, played, river):
    """Solved again from the ranges that the kept turn leaves, a river has the same lines and the same value."""
    kept, line, board = SolvedStreet.of(deep), f"b250c/xx/{played}", TURN + river
    ranges = kept.range(0, line), kept.range(1, line)
    again = solve_subgame(blueprint(), line + "/", board, kept.config.on_next_street(), ranges=ranges)
    assert again.actions() == deep.actions(line + "/")
    pot = again.subgame.pot
    weights = ranges[1] * disjoint_weight(ranges[0])
    values = [solution.ev(line + "/", board) for solution in (deep, again)]
    known = np.isfinite(values[0]) & np.isfinite(values[1])
    worth = [float(weights[known] @ value[known] / weights[known].sum()) for value in values]
    assert worth[1] == pytest.approx(worth[0], abs=0.005 * pot)
    # The big blind does not just get its half: the check could fail.
    assert abs(worth[0] - pot / 2) > 0.02 * pot


def test_the_next_street_has_the_sizes_that_it_had_in_the_solve():
    assert SubgameConfig(sizes="33%").on_next_street().sizes is None
    given = SubgameConfig(sizes="33%", later_sizes="150%", later_raises="a", safety="reach").on_next_street()
    assert (given.sizes, given.raises, given.safety) == ("150%", "a", "unsafe")
    # Without sizes the street has the menu of the game: 75 % of the pot, then a raise all-in.
    subgame = Subgame.build(blueprint(), "b250c/xx/", TURN, SubgameConfig(sizes=None))
    assert [subgame.tree.token(child) for child in subgame.tree.children_of(0)] == ["x", "b375"]


@pytest.mark.parametrize(
    ("line", "board", "config"),
    [("b250c/", FLOP, PLAIN), ("b250c/xx/", TURN, PLAIN), ("b250c/xx/", TURN, DEEP), ("b250c/", FLOP, DEEP)],
)
def test_memory_is_known_before_a_solve_is_prepared(line, board, config):
    subgame = Subgame.build(blueprint(), line, board, config, ranges=thin_ranges())
    forecast = forecast_bytes(subgame, config)
    solver = SubgameSolver(blueprint(), subgame, config)
    tables = solver.engine.table_bytes + sum(side.allin.nbytes for side in solver.engine.deals.sides)
    if solver.leaves is None:
        # All but the padding behind the matrices, and the clocks of the nodes.
        assert forecast == pytest.approx(tables, rel=0.1)
    else:
        tables += sum(group.regret.nbytes + group.average.nbytes for group in solver.leaves.groups)
        # The lines of a leaf stand in vectors of eight, which a small tree does not fill.
        assert tables / 8 < forecast <= tables
    assert forecast <= solver.memory_bytes
