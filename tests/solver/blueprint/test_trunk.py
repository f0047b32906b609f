"""The trunk against the preflop solver, published push or fold figures and brute force over classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES
from abstractions.equity import class_pairs, preflop_table
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.trunk import Trunk, TrunkGame
from solver.cfr.schedules import schedule
from solver.preflop.solver import NUM_DEALS, PreflopGame, PreflopSolver

MENU = (StreetSizes("100%", None, "100%", None),) * 3


def random_table(seed: int = 0) -> tuple[NDArray, NDArray, NDArray]:
    """Wins, ties and totals of made-up classes with the real numbers of deals."""
    rng = np.random.default_rng(seed)
    totals = class_pairs() * 1_712_304
    wins = np.triu(rng.random((NUM_CLASSES, NUM_CLASSES)), 1)
    wins = wins + np.tril(1 - wins.T, -1)
    np.fill_diagonal(wins, 0.5)
    counts = (wins * totals).astype(np.int64)
    return counts, totals - counts - counts.T, totals


def checked_down(game: TrunkGame, strategy: NDArray, seat: int) -> NDArray:
    """Value of every flop line when nobody bets after the flop, from the class tables alone."""
    reach = game.reach(strategy, 1 - seat)
    pairs = class_pairs()
    equity = game.preflop.equity.T  # [own, opponent]: pairs times equity
    values = np.empty_like(reach)
    for k, leaf in enumerate(game.leaves):
        won, lost = (game.preflop.tree.heads_up_payoffs[leaf, winner, seat] for winner in (seat, 1 - seat))
        values[k] = lost * (pairs @ reach[k]) + (won - lost) * (equity @ reach[k])
    return values


def test_with_flops_checked_down_the_trunk_is_the_preflop_solver() -> None:
    config = GameConfig(stacks=(1500, 1500), raise_sizes=("2.5", "3x", "a"), raise_cap=3, postflop=MENU)
    table = random_table()
    game = TrunkGame.build(config, table)
    trunk = Trunk(game)
    solver = PreflopSolver(PreflopGame.build(config, table), "dcfr")
    plan = schedule("dcfr")
    for iteration in range(1, 31):
        trunk.discount(plan.weights(iteration))
        for seat in range(2):
            trunk.update(seat, checked_down(game, trunk.strategy, seat))
    solver.run(30)
    np.testing.assert_allclose(trunk.regret, solver.regret, rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(trunk.average(), solver.average().probabilities, atol=1e-9)
    average = solver.average()
    for seat in range(2):
        flops = checked_down(game, average.probabilities, seat)
        for best in (False, True):
            values = game.values(average.probabilities, seat, flops, best=best)
            np.testing.assert_allclose(values, average.node_values(seat, best=best), rtol=1e-9, atol=1e-3)


def test_push_or_fold_at_ten_big_blinds_has_its_published_value() -> None:
    game = TrunkGame.build(GameConfig(stacks=(1000, 1000), limp=False, raise_sizes=("a",)), preflop_table())
    assert game.lines == ()
    trunk = Trunk(game)
    plan = schedule("dcfr")
    nothing = np.zeros((0, NUM_CLASSES))
    for iteration in range(1, 401):
        trunk.discount(plan.weights(iteration))
        for seat in range(2):
            trunk.update(seat, nothing)
    average = trunk.average()
    value = game.values(average, 0, nothing)[0].sum() / NUM_DEALS / 100
    assert value == pytest.approx(-0.04537, abs=1e-4)
    jam = game.preflop.tree.node_at("A")
    jams = 100 * float(CLASS_COMBOS @ average[jam]) / 1326
    assert jams == pytest.approx(58.29, abs=0.2)
    assert average[jam, CLASS_NAMES.index("AA")] == pytest.approx(1.0, abs=1e-3)


def test_reach_of_a_flop_line_is_the_product_of_the_actions_taken() -> None:
    config = GameConfig(stacks=(1500, 1500), raise_sizes=("2.5", "3x"), raise_cap=2, postflop=MENU)
    game = TrunkGame.build(config, random_table())
    strategy = np.random.default_rng(1).random(game.uniform().shape)
    tree = game.preflop.tree
    line = game.names.index("b250r750c")
    np.testing.assert_allclose(
        game.reach(strategy, 0)[line], strategy[tree.node_at("b250")] * strategy[tree.node_at("b250r750c")]
    )
    np.testing.assert_allclose(game.reach(strategy, 1)[line], strategy[tree.node_at("b250r750")])
    assert game.tree.line(game.lines[line]) == "b250r750c/"


def test_a_saved_trunk_continues_as_if_never_stopped() -> None:
    config = GameConfig(stacks=(1500, 1500), raise_sizes=("2.5",), raise_cap=1, postflop=MENU)
    game = TrunkGame.build(config, random_table())
    straight, first, second = Trunk(game), Trunk(game), Trunk(game)

    def step(trunk: Trunk) -> None:
        for seat in range(2):
            trunk.update(seat, checked_down(game, trunk.strategy, seat))

    step(straight)
    step(straight)
    step(first)
    second.restore(first.state())
    step(second)
    for name, array in straight.state().items():
        assert array.tobytes() == second.state()[name].tobytes()
