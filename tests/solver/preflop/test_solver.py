"""The heads-up preflop solver: published push-or-fold figures, brute force, and poker sense."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from abstractions.cards import CLASS_COMBOS, CLASS_NAMES
from abstractions.equity import preflop_table
from solver.betting.game import GameConfig
from solver.betting.tree import NodeKind
from solver.cfr.schedules import SCHEDULES, schedule
from solver.preflop.game import BOARDS_PER_PAIR, NUM_DEALS, PreflopGame
from solver.preflop.kernels import _pairs
from solver.preflop.solver import PreflopSolver, solve_preflop
from solver.preflop.strategy import PreflopStrategy

STANDARD = GameConfig(raise_sizes=("2.5,a", "3x,a", "2.5x,a", "a"))


def push_or_fold(stack: int, **changes: object) -> GameConfig:
    return GameConfig(**{"stacks": (stack, stack), "limp": False, "raise_sizes": ("a",)} | changes)


def random_strategy(game: PreflopGame, seed: int) -> PreflopStrategy:
    random = np.random.default_rng(seed)
    probabilities = np.ones((len(game.tree), 169))
    for node in np.flatnonzero(game.tree.kind == NodeKind.DECISION):
        children = game.tree.children_of(int(node))
        probabilities[children] = random.dirichlet(np.full(len(children), 0.5), 169).T
    return PreflopStrategy(game, probabilities)


def hand(name: str) -> int:
    return CLASS_NAMES.index(name)


# ---- known results -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stack", "value", "jams", "calls"),
    [
        (500, 0.05620, 71.48, 62.07),
        (1000, -0.04537, 58.29, 37.38),
        (1500, -0.12723, 45.65, 28.55),
        (2000, -0.18319, 40.23, 21.72),
    ],
)
def test_push_or_fold_reproduces_the_known_equilibria(
    stack: int, value: float, jams: float, calls: float
) -> None:
    result = solve_preflop(push_or_fold(stack), iterations=4000)
    assert result.exploitability < 1e-3
    assert result.values[0] == pytest.approx(value, abs=1e-4)
    assert 100 * result.strategy.frequencies()["all_in"] == pytest.approx(jams, abs=0.1)
    assert 100 * result.strategy.frequencies("A")["call"] == pytest.approx(calls, abs=0.1)


def test_the_standard_menu_is_solved_to_a_hundredth_of_a_milliblind_in_half_a_minute() -> None:
    result = solve_preflop(STANDARD, iterations=25_000, check_every=25_000)
    assert result.iterations == 25_000
    assert result.exploitability < 0.01
    assert result.seconds < 30


@pytest.mark.parametrize("name", ["dcfr", "lcfr", "cfr+"])
def test_every_schedule_finds_the_same_game_value(name: str) -> None:
    result = solve_preflop(GameConfig(), iterations=3000, variant=name)
    assert result.exploitability < 0.05
    assert result.values[0] == pytest.approx(-0.04442, abs=5e-5)


def test_exploitability_falls_and_bounds_the_distance_from_the_value() -> None:
    result = solve_preflop(GameConfig(stacks=(2500, 2500)), iterations=2000, check_every=250)
    figures = [exploitability for _, _, exploitability in result.trace]
    assert len(figures) == 8
    assert figures[-1] < figures[0] / 10
    assert min(figures) >= 0


# ---- poker sense ---------------------------------------------------------------------------------


def test_aces_never_fold_and_the_worst_hand_folds_to_a_shove() -> None:
    strategy = solve_preflop(STANDARD, iterations=3000).strategy
    tree = strategy.game.tree
    for line, hands in strategy.by_line().items():
        if strategy.reach(line, int(tree.player[tree.node_at(line)]))[hand("AA")] > 0.01:
            assert hands["AA"].get("fold", 0) < 1e-3, line
    assert strategy.by_line()["||p|A"]["32o"]["fold"] > 0.999
    assert strategy.by_line()["||p|A"]["AA"]["call"] > 0.999


def test_better_stakes_widen_the_jamming_range() -> None:
    plain = solve_preflop(push_or_fold(1000), iterations=1500).strategy.frequencies()["all_in"]
    antes = solve_preflop(push_or_fold(1000, antes=(25, 25)), iterations=1500).strategy.frequencies()[
        "all_in"
    ]
    raked = solve_preflop(push_or_fold(1000, rake=0.05, rake_cap=300), iterations=1500).strategy
    assert antes > plain + 0.02
    assert raked.frequencies("A")["call"] < 0.37


def test_only_the_shorter_stack_matters() -> None:
    even = solve_preflop(push_or_fold(1000), iterations=500)
    uneven = solve_preflop(push_or_fold(0, stacks=(7000, 1000)), iterations=500)
    assert uneven.values == pytest.approx(even.values, abs=1e-12)


def test_a_straddle_gives_the_small_blind_the_last_word() -> None:
    result = solve_preflop(GameConfig(stacks=(2000, 2000), straddle=200), iterations=2000)
    assert result.exploitability < 0.1
    # The straddler put in two blinds of dead money before looking, and acts last for it.
    assert set(result.strategy.frequencies()) == {"fold", "call", "open_500"}
    assert result.strategy.frequencies("c").keys() == {"check", "open_500"}
    assert sum(result.values) == pytest.approx(0, abs=1e-12)


# ---- brute force ---------------------------------------------------------------------------------


def test_card_removal_by_inclusion_and_exclusion_is_exact() -> None:
    _, _, totals = preflop_table()
    game = PreflopGame.build(push_or_fold(1000))
    reach = np.random.default_rng(1).random(169)
    pairs = np.empty(169)
    _pairs(reach, game.combos, game.ranks, pairs)
    assert pairs == pytest.approx(totals @ reach / BOARDS_PER_PAIR, rel=1e-12)
    _pairs(np.ones(169), game.combos, game.ranks, pairs)
    assert pairs == pytest.approx(CLASS_COMBOS * 1225)


def leaf_payoffs(game: PreflopGame, node: int, seat: int) -> np.ndarray:
    """Chips times deals of a seat by (class of seat 0, class of seat 1), summed over boards."""
    wins, ties, totals = preflop_table()
    if game.tree.kind[node] == NodeKind.FOLD:
        return totals * game.tree.payoffs(node)[seat] / BOARDS_PER_PAIR
    won, lost, split = (game.tree.payoffs(node, s)[seat] for s in ((1, 0), (0, 1), (0, 0)))
    return (wins * won + (totals - wins - ties) * lost + ties * split) / BOARDS_PER_PAIR


def brute_values(strategy: PreflopStrategy, seat: int, choose: Callable[..., np.ndarray]) -> np.ndarray:
    """Values of a seat's classes at the root by recursion over lines, full class-by-class matrices."""
    tree, probabilities = strategy.game.tree, strategy.probabilities

    def visit(node: int, opponent: np.ndarray) -> np.ndarray:
        if tree.num_children[node] == 0:
            matrix = leaf_payoffs(strategy.game, node, seat)
            return (matrix if seat == 0 else matrix.T) @ opponent
        children = tree.children_of(node)
        if tree.player[node] == seat:
            return choose(np.array([visit(int(c), opponent) for c in children]), probabilities[children])
        return sum(visit(int(c), opponent * probabilities[c]) for c in children)

    return visit(0, np.ones(169))


@pytest.mark.parametrize(
    "config",
    [
        GameConfig(stacks=(2000, 2000)),
        GameConfig(stacks=(1500, 4000), antes=(10, 30), rake=0.04, rake_cap=60, raise_sizes=("2,a", "2.5x")),
    ],
)
def test_expected_value_and_best_response_agree_with_brute_force(config: GameConfig) -> None:
    strategy = random_strategy(PreflopGame.build(config), seed=2)
    for seat in range(2):
        mean = brute_values(strategy, seat, lambda values, p: (values * p).sum(axis=0))
        best = brute_values(strategy, seat, lambda values, p: values.max(axis=0))
        assert strategy.expected_values()[seat] == pytest.approx(mean.sum() / NUM_DEALS, rel=1e-10)
        assert strategy.best_response_values()[seat] == pytest.approx(best.sum() / NUM_DEALS, rel=1e-10)
    assert strategy.exploitability > 0
    if config.rake == 0:
        assert strategy.expected_values().sum() == pytest.approx(0, abs=1e-9)
    else:
        assert strategy.expected_values().sum() < 0


def reference_cfr(game: PreflopGame, name: str, iterations: int) -> np.ndarray:
    """Textbook alternating CFR on full matrices: average strategy by node and class."""
    tree = game.tree
    shape = (len(tree), 169)
    regret, last, total, sigma = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.ones(shape)
    for node in range(1, len(tree)):
        sigma[node] /= tree.num_children[tree.parent[node]]
    matrices = {n: [leaf_payoffs(game, n, s) for s in (0, 1)] for n in np.flatnonzero(tree.num_children == 0)}

    def visit(node: int, seat: int, own: np.ndarray, opponent: np.ndarray, factors) -> np.ndarray:
        if tree.num_children[node] == 0:
            return (matrices[node][0] if seat == 0 else matrices[node][1].T) @ opponent
        children = tree.children_of(node)
        if tree.player[node] != seat:
            return sum(visit(int(c), seat, own, opponent * sigma[c], factors) for c in children)
        values = np.array([visit(int(c), seat, own * sigma[c], opponent, factors) for c in children])
        mean = (values * sigma[children]).sum(axis=0)
        total[children] = total[children] * factors.strategy + own * sigma[children]
        scale = np.where(regret[children] > 0, factors.positive, factors.negative)
        regret[children] = regret[children] * scale + values - mean
        last[children] = values - mean
        if factors.floor_negative:
            regret[children] = np.maximum(regret[children], 0)
        return mean

    for t in range(1, iterations + 1):
        factors = schedule(name).weights(t)
        for seat in range(2):
            visit(0, seat, np.ones(169), np.ones(169), factors)
            for node in np.flatnonzero(tree.player == seat):
                children = tree.children_of(int(node))
                claim = regret[children]
                if factors.predictive:
                    claim = factors.prediction * claim + last[children]
                claim = np.maximum(claim, 0)
                sums = claim.sum(axis=0)
                safe = np.where(sums > 0, sums, 1)
                sigma[children] = np.where(sums > 0, claim / safe, 1 / len(children))
    return total


@pytest.mark.parametrize("name", SCHEDULES)
def test_iterations_agree_with_textbook_cfr(name: str) -> None:
    game = PreflopGame.build(GameConfig(stacks=(1200, 1200), raise_sizes=("2.5,a", "a")))
    solver = PreflopSolver(game, name)
    solver.run(12)
    expected = reference_cfr(game, name, 12)
    assert solver.tables.strategy_sum[1:] == pytest.approx(expected[1:], rel=1e-9, abs=1e-9)


# ---- the strategy as data ------------------------------------------------------------------------


def test_strategy_tables_carry_the_agreed_keys_and_labels() -> None:
    strategy = solve_preflop(GameConfig(raise_sizes=("3", "3x", "a")), iterations=50).strategy
    table = strategy.by_line()
    assert set(table["||p|"]["AKs"]) == {"fold", "call", "open_300"}
    assert set(table["||p|c"]["72o"]) == {"check", "open_300"}
    assert set(table["||p|b300r900"]["QQ"]) == {"fold", "call", "all_in"}
    flat = strategy.average_strategy()
    assert flat["T9s||p|b300r900"] == table["||p|b300r900"]["T9s"]
    assert len(flat) == 169 * len(table)
    assert all(sum(row.values()) == pytest.approx(1, abs=1e-9) for row in flat.values())


def test_action_values_explain_the_strategy() -> None:
    result = solve_preflop(push_or_fold(1000), iterations=3000)
    values = result.strategy.action_values("")
    assert values["fold"] == pytest.approx(np.full(169, -50.0))
    jam = result.strategy.by_line()["||p|"]
    for index, name in enumerate(CLASS_NAMES):
        if values["all_in"][index] > -50 + 0.5:
            assert jam[name]["all_in"] > 0.99, name
        if values["all_in"][index] < -50 - 0.5:
            assert jam[name]["fold"] > 0.99, name
    mean = CLASS_COMBOS @ np.maximum(values["fold"], values["all_in"]) / 1326
    assert mean / 100 == pytest.approx(result.values[0], abs=1e-4)


def test_reach_multiplies_only_the_seats_own_actions() -> None:
    strategy = random_strategy(PreflopGame.build(GameConfig()), seed=3)
    table = strategy.by_line()
    first, second = table["||p|"]["AKo"]["open_250"], table["||p|b250"]["AKo"]["raise_750"]
    assert strategy.reach("b250r750", 0)[hand("AKo")] == pytest.approx(first)
    assert strategy.reach("||p|b250r750", 1)[hand("AKo")] == pytest.approx(second)


def test_a_run_that_stops_and_resumes_ends_with_the_same_bytes() -> None:
    game = PreflopGame.build(GameConfig(stacks=(2500, 2500)))
    whole, first, second = (PreflopSolver(game, "pdcfr+") for _ in range(3))
    whole.run(60)
    first.run(25)
    second.restore(first.state())
    second.run(35)
    assert second.iteration == 60
    assert second.average().probabilities.tobytes() == whole.average().probabilities.tobytes()


def test_solving_stops_at_the_target_and_reports_progress() -> None:
    seen = []
    result = solve_preflop(
        GameConfig(stacks=(1000, 1000)),
        target=5.0,
        check_every=5,
        progress=lambda iteration, exploitability: seen.append((iteration, exploitability)),
    )
    assert result.exploitability <= 5.0 < seen[-2][1]
    assert seen[-1] == (result.iterations, result.exploitability)
    assert solve_preflop(GameConfig(), time_limit=0.0, check_every=10).iterations == 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": GameConfig(stacks=(1000,) * 3)}, "stacks: the preflop solver plays 2 seats"),
        ({"iterations": 0}, "iterations: 0"),
        ({"variant": "fast"}, "schedule 'fast'"),
    ],
)
def test_bad_requests_are_named(changes: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve_preflop(**{"config": GameConfig()} | changes)
