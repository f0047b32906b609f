"""The trunk against the preflop solver, published push or fold figures and brute force over classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES, NUM_CLASSES
from abstractions.equity import class_pairs, preflop_table
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.trunk import NO_DISCOUNT, Trunk, TrunkGame
from solver.cfr.schedules import schedule
from solver.preflop.check_down import CheckDown
from solver.preflop.game import NUM_DEALS, PreflopGame
from solver.preflop.solver import PreflopSolver

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
        for seat in range(2):
            trunk.update(seat, checked_down(game, trunk.strategy, seat), plan.weights(iteration))
    solver.run(30)
    np.testing.assert_allclose(trunk.tables.regret, solver.tables.regret, rtol=1e-9, atol=1e-3)
    np.testing.assert_allclose(trunk.average(), solver.average().probabilities, atol=1e-9)
    average = solver.average()
    for seat in range(2):
        flops = checked_down(game, average.probabilities, seat)
        for best in (False, True):
            values = game.values(average.probabilities, seat, flops, best=best)
            np.testing.assert_allclose(values, average.node_values(seat, best=best), rtol=1e-9, atol=1e-3)


def test_with_the_check_down_provider_the_trunk_is_the_preflop_solver_to_the_last_bit() -> None:
    config = GameConfig(stacks=(1500, 1500), raise_sizes=("2.5", "3x", "a"), raise_cap=3, postflop=MENU)
    game = TrunkGame.build(config, random_table())
    provider, trunk, plan = CheckDown(game.preflop), Trunk(game), schedule("dcfr")
    solver = PreflopSolver(PreflopGame.build(config, random_table()), plan)
    for iteration in range(1, 21):
        trunk.tables.iterate(provider, plan.weights(iteration))
    solver.run(20)
    for name, table in trunk.state().items():
        assert table.tobytes() == solver.state()[name].tobytes(), name
    average = solver.average()
    assert trunk.average().tobytes() == average.probabilities.tobytes()
    reach = game.reach(trunk.average(), 0), game.reach(trunk.average(), 1)
    for seat in range(2):
        flops = provider.values(game.preflop.leaves, reach, seat)
        np.testing.assert_allclose(flops, checked_down(game, trunk.average(), seat), rtol=1e-9, atol=1e-3)
        for best in (False, True):
            values = game.values(trunk.average(), seat, flops, best=best)
            assert values.tobytes() == average.node_values(seat, best=best).tobytes()


def test_discounts_of_an_epoch_apply_once_and_then_regrets_just_add_up() -> None:
    config = GameConfig(stacks=(1500, 1500), raise_sizes=("2.5",), raise_cap=1, postflop=MENU)
    game = TrunkGame.build(config, random_table())
    provider, trunk = CheckDown(game.preflop), Trunk(game)
    for _ in range(4):
        trunk.tables.iterate(provider, NO_DISCOUNT)
    vanilla = PreflopSolver(game.preflop, "vanilla")
    vanilla.run(4)
    assert trunk.tables.regret.tobytes() == vanilla.tables.regret.tobytes()
    before, strategy = trunk.tables.regret.copy(), trunk.strategy.copy()
    weights = schedule("dcfr").weights(9)
    trunk.tables.iterate(provider, weights)
    trunk.tables.regret -= before * np.where(before > 0, weights.positive, weights.negative)
    # What is left is the iteration's own regret, which the strategy of the iteration makes zero on average.
    root = game.preflop.tree.children_of(0)
    own = (strategy[root] * trunk.tables.regret[root]).sum(axis=0)
    scale = np.abs(trunk.tables.regret[root]).max()
    np.testing.assert_allclose(own, 0, atol=1e-9 * scale)


def test_push_or_fold_at_ten_big_blinds_has_its_published_value() -> None:
    game = TrunkGame.build(GameConfig(stacks=(1000, 1000), limp=False, raise_sizes=("a",)), preflop_table())
    assert game.lines == ()
    trunk = Trunk(game)
    plan = schedule("dcfr")
    nothing = np.zeros((0, NUM_CLASSES))
    for iteration in range(1, 401):
        for seat in range(2):
            trunk.update(seat, nothing, plan.weights(iteration))
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
