"""The seam at the flop: leaves of the preflop game that somebody else values."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from solver import exploitability
from solver.betting.game import GameConfig
from solver.cfr.leaves import Leaves, Reach
from solver.preflop.check_down import CheckDown
from solver.preflop.game import PreflopGame
from solver.preflop.probabilities import from_table, line_reach, normalised, seat_reach, uniform
from solver.preflop.solver import PreflopSolver, PreflopTables

CONFIG = GameConfig(stacks=(2500, 2500), raise_sizes=("2.5,a", "3x,a", "a"), rake=0.03, rake_cap=100)


class MoneyBack:
    """At the flop everybody takes their chips back."""

    def values(self, leaves: Leaves, reach: Reach, player: int) -> NDArray[np.float64]:
        return np.zeros(reach[player].shape)


class Recorder:
    """Checks down, and keeps what it was asked."""

    def __init__(self, game: PreflopGame) -> None:
        self.inner = CheckDown(game)
        self.asked: list[tuple[Leaves, Reach, int]] = []

    def values(self, leaves: Leaves, reach: Reach, player: int) -> NDArray[np.float64]:
        self.asked.append((leaves, reach, player))
        return self.inner.values(leaves, reach, player)


@pytest.mark.parametrize("name", ["vanilla", "dcfr", "pdcfr+"])
def test_check_down_values_from_outside_give_exactly_the_built_in_strategy(name: str) -> None:
    game = PreflopGame.build(CONFIG)
    built_in, outside = PreflopSolver(game, name), PreflopSolver(game, name, CheckDown(game))
    for iterations in (1, 30):
        built_in.run(iterations)
        outside.run(iterations)
        for key, array in built_in.state().items():
            assert array.tobytes() == outside.state()[key].tobytes(), key
    assert built_in.average().probabilities.tobytes() == outside.average().probabilities.tobytes()
    assert built_in.average().exploitability == outside.average().exploitability > 0


def test_a_provider_is_asked_seat_by_seat_with_the_reach_of_the_strategies_at_that_moment() -> None:
    game = PreflopGame.build(CONFIG)
    recorder = Recorder(game)
    solver = PreflopSolver(game, "dcfr", recorder)
    solver.run(3)
    assert [player for _, _, player in recorder.asked] == [0, 1] * 3
    leaves, reach, _ = recorder.asked[0]
    assert game.tree.line(int(leaves.nodes[0])) == "cx"
    assert leaves.boards.shape == (len(leaves), 0)
    assert not game.tree.num_children[leaves.nodes].any()
    # Before the first update both seats play every action alike.
    np.testing.assert_array_equal(reach[0][0], np.full(169, 1 / game.tree.num_children[0]))
    before = PreflopSolver(game, "dcfr")
    before.run(2)
    for seat in range(2):
        expected = seat_reach(game.tree, before.tables.strategy, seat)[leaves.nodes]
        np.testing.assert_array_equal(recorder.asked[4][1][seat], expected)


def test_a_game_with_other_leaves_is_solved_and_measured_with_them() -> None:
    game = PreflopGame.build(GameConfig(stacks=(1000, 1000), raise_sizes=("a",)))
    solver = PreflopSolver(game, "dcfr", MoneyBack())
    solver.run(1500)
    average = solver.average()
    assert average.exploitability < 0.05
    assert exploitability(average).value == pytest.approx(average.exploitability)
    assert average.expected_values().sum() == pytest.approx(0, abs=1e-9)
    # A flop that pays nothing is not worth seeing with aces.
    assert average.by_line()["||p|c"]["AA"]["check"] < 1e-3
    assert average.action_values("c")["check"] == pytest.approx(np.zeros(169))
    checked_down = PreflopSolver(game, "dcfr")
    checked_down.run(1500)
    assert checked_down.average().expected_values()[0] != pytest.approx(average.expected_values()[0], abs=0.1)


def test_values_without_a_row_per_leaf_are_refused() -> None:
    game = PreflopGame.build(CONFIG)
    tables = PreflopTables(game)
    values = np.zeros((len(game.leaves) - 1, 169))
    with pytest.raises(ValueError, match=r"leaf values of shape .*: expected"):
        tables.update(0, values, PreflopSolver(game).schedule.weights(1))


# ---- strategies as arrays ------------------------------------------------------------------------


def test_reach_of_all_nodes_and_of_one_line_agree() -> None:
    game = PreflopGame.build(CONFIG)
    strategy = normalised(game.tree, np.random.default_rng(4).random((len(game.tree), 169)))
    for seat in range(2):
        everywhere = seat_reach(game.tree, strategy, seat)
        for node in range(len(game.tree)):
            here = line_reach(game.tree, strategy, node, seat)
            np.testing.assert_allclose(everywhere[node], here, rtol=1e-15)


def test_the_average_is_uniform_where_nothing_was_played_and_sums_to_one_elsewhere() -> None:
    game = PreflopGame.build(CONFIG)
    sums = np.random.default_rng(5).random((len(game.tree), 169))
    sums[game.tree.children_of(0), 7] = 0.0
    average = normalised(game.tree, sums)
    np.testing.assert_array_equal(
        average[game.tree.children_of(0), 7], uniform(game.tree)[game.tree.children_of(0), 7]
    )
    assert average[game.tree.children_of(0)].sum(axis=0) == pytest.approx(1)


def test_a_strategy_by_line_is_the_array_again() -> None:
    solver = PreflopSolver(PreflopGame.build(CONFIG), "dcfr")
    solver.run(20)
    average = solver.average()
    np.testing.assert_array_equal(from_table(average.game.tree, average.by_line()), average.probabilities)
