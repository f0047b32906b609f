"""Joint training: small games that are solved, and results that do not depend on how the work is split."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import NUM_CLASSES, parse_board
from solver.betting.game import GameConfig, StreetSizes
from solver.blueprint.boards import LIVE_FRACTION, BoardBatch, BoardSampler, canonical_deals
from solver.blueprint.evaluation import Evaluation
from solver.blueprint.every_hand import EveryHand
from solver.blueprint.fleet import ShardSpec, Update, board_values, sum_boards
from solver.blueprint.flop_values import FlopEvaluator, group_boards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.shard import Shard
from solver.blueprint.trainer import BlueprintTrainer
from solver.blueprint.trunk import NO_DISCOUNT
from solver.cfr.schedules import schedule
from solver.postflop.solver import PostflopSolver
from tests.solver.blueprint.small_games import (
    FewBuckets,
    FinerBuckets,
    flop_sampler,
    game_of,
    small_game,
)

OPPONENTS = [None, FewBuckets(), FinerBuckets()]
OPPONENT_NAMES = ["itself", "opponents", "finer opponents"]


def test_without_abstraction_training_reaches_the_equilibrium_of_a_small_game() -> None:
    game = game_of()
    sampler, flops = small_game()
    trainer = BlueprintTrainer(game, pot_types(game), EveryHand(sampler.cards))
    trainer.begin_phase(schedule("dcfr"), sampler)
    gaps = []
    for iterations in (20, 60, 220):
        trainer.run(iterations)
        value = Evaluation(trainer.blueprint(dtype=np.float64), by_street=True).evaluate(flops)
        gaps.append(value.exploitability)
        assert sum(value.expected) == pytest.approx(0, abs=1e-6)
        # The best responses enclose the value of the game, whatever the solver.
        assert -value.best_response[1] <= value.expected[0] + 1e-9 <= value.best_response[0] + 2e-9
        assert value.exploitability == pytest.approx(sum(value.best_response) / 2, abs=1e-6)
        assert sum(value.by_street.values()) == pytest.approx(value.exploitability)
        assert min(value.by_street.values()) > -1e-9
        assert min(value.by_line.values()) > -1e-9
        for seat in range(2):
            assert value.expected[seat] <= value.preflop_response[seat] + 1e-9
            assert value.preflop_response[seat] <= value.best_response[seat] + 1e-9
    assert gaps[0] > gaps[1] > gaps[2]
    assert 0 < gaps[2] < 2.0


def test_sampling_the_boards_of_a_small_game_solves_it_too() -> None:
    game = game_of()
    everything, _ = small_game()
    sampler = BoardSampler(everything.cards, everything.weights, everything.textures, 2, seed=5)
    # Canonical deals rename suits; buckets of hands must know the boards by these names.
    named = canonical_deals(sampler.cards)
    bucketing = EveryHand(named)
    trainer = BlueprintTrainer(game, pot_types(game), bucketing)
    trainer.begin_phase(schedule("lcfr"), sampler)
    seen = group_boards(named, sampler.weights, sampler.textures)
    gaps = []
    for iterations in (40, 400):
        trainer.run(iterations)
        gaps.append(Evaluation(trainer.blueprint()).evaluate(seen).exploitability)
    assert 0 < gaps[1] < gaps[0] / 4
    assert gaps[1] < 30


def test_the_solved_river_is_worth_what_the_exact_solver_says() -> None:
    quiet, river = StreetSizes(None, None, None, None), StreetSizes("50%,100%", "2.5x", "50%,100%", "2.5x")
    config = GameConfig(
        stacks=(1000, 1000), raise_sizes=("9.9",), raise_cap=1, postflop=(quiet, quiet, river)
    )
    game = game_of(config)
    line = game.names.index("cx")
    board = parse_board("QsJh2h8d3c")[None]
    shard = Shard(game.tree, pot_types(game), [line], EveryHand(board), dtype=np.float64)
    shard.begin_phase(1, schedule("dcfr"))
    batch = BoardBatch(board, np.ones(1), np.zeros(1, dtype=np.int16))
    everything = np.ones((len(game.lines), NUM_CLASSES))
    for epoch in range(1, 201):
        for own in range(2):
            shard.sweep(own, batch, everything, epoch)
    evaluator = FlopEvaluator(shard.layout, shard.pots, shard.bucketing, np.float64)
    table = shard.up_to_date("average", 200)
    flop = group_boards(board, np.ones(1), np.zeros(1, dtype=int))[0]
    best, mean = (
        evaluator.combo_values(table, flop, everything, 1, (choice,) * 3)[line].sum()
        * LIVE_FRACTION
        / (1081 * 990)
        for choice in (True, False)
    )
    solver = PostflopSolver(
        board="QsJh2h8d3c",
        oop_range="all",
        ip_range="all",
        pot=200,
        stack=900,
        bet_sizes={"river": {"bet": "50%,100%", "raise": "2.5x"}},
        add_allin_threshold=0.0,
        merging_threshold=0.0,
    )
    solver.solve(max_iterations=400, target_exploitability_pct=0.02)
    exact = float(solver.engine.evaluate().expected[0])
    # A blind of 100 is in the pot: the exact solver counts chips relative to half the pot.
    assert mean == pytest.approx(exact, abs=0.2)
    assert mean - 1e-9 <= best < mean + 0.6


def test_the_second_phase_keeps_the_regrets_and_starts_its_average_afresh() -> None:
    game = game_of()
    sampler, _ = small_game()
    trainer = BlueprintTrainer(game, pot_types(game), FewBuckets())
    trainer.begin_phase(schedule("lcfr"), sampler)
    trainer.run(15)
    strategy = trainer.trunks[0].strategy.copy()
    before = trainer.shards[0].up_to_date("regret", trainer.epoch)
    trainer.begin_phase(schedule("dcfr"), sampler)
    np.testing.assert_array_equal(trainer.trunks[0].strategy, strategy)
    kept = trainer.shards[0].up_to_date("regret", trainer.epoch + 1)
    positive = before > 0
    # dcfr continues the clock at epoch 16: positive regrets keep 15^1.5 / (15^1.5 + 1), negative ones half.
    np.testing.assert_allclose(kept[positive], before[positive] * 15**1.5 / (15**1.5 + 1), rtol=1e-5)
    np.testing.assert_allclose(kept[~positive], before[~positive] / 2, rtol=1e-5)
    assert not trainer.shards[0].up_to_date("average", trainer.epoch + 1).any()
    trainer.run(1)
    # One iteration into the phase, the preflop average is what was played in it.
    root = game.preflop.tree.children_of(0)
    np.testing.assert_allclose(trainer.trunks[0].average()[root], strategy[root], atol=1e-12)


def test_an_iteration_asks_the_shards_for_one_seat_after_the_other() -> None:
    game, sampler, plan = game_of(), flop_sampler(batch=2), schedule("lcfr")
    trained, by_hand = (BlueprintTrainer(game, pot_types(game), FewBuckets()) for _ in range(2))
    for trainer in (trained, by_hand):
        trainer.begin_phase(plan, sampler)
    trained.run(4)
    assert [sampler.epoch(iteration) for iteration in range(1, 5)] == [1, 1, 2, 2]
    for iteration in range(1, 5):
        batch, epoch = sampler.draw(iteration), sampler.epoch(iteration)
        weights = plan.weights(epoch) if iteration in (1, 3) else NO_DISCOUNT
        for seat in range(2):
            reach = game.reach(by_hand.trunks[0].strategy, 1 - seat).astype(np.float32)
            answers = by_hand.fleet.sweep([Update(seat)], batch, reach[None], epoch)
            by_hand.trunks[0].update(seat, sum_boards(board_values(len(game.lines), answers))[:, 0], weights)
    for name, table in trained.trunks[0].state().items():
        assert table.tobytes() == by_hand.trunks[0].state()[name].tobytes(), name
    for name, table in trained.fleet.state().items():
        assert table.tobytes() == by_hand.fleet.state()[name].tobytes(), name


@pytest.mark.parametrize("opponents", OPPONENTS, ids=OPPONENT_NAMES)
@pytest.mark.parametrize("scope", ["global", "texture"])
def test_training_gives_the_same_bytes_however_it_is_split(scope: str, opponents: FewBuckets | None) -> None:
    game = game_of()
    pots = pot_types(game)
    splits: list[list[ShardSpec]]
    if scope == "global":
        splits = [[ShardSpec((0, 1, 2))], [ShardSpec((2,)), ShardSpec((0, 1))]]
    else:
        splits = [
            [ShardSpec((0, 1, 2), (0, 1, 2))],
            [ShardSpec((0, 2), (1,)), ShardSpec((1,), (0, 1, 2)), ShardSpec((0, 2), (2, 0))],
        ]
    states = []
    for specs in splits:
        trainer = BlueprintTrainer(game, pots, FewBuckets(), specs, opponents=opponents)
        trainer.begin_phase(schedule("lcfr"), flop_sampler(), plain=trainer.has_plain_phase)
        trainer.run(5)
        trainer.begin_phase(schedule("dcfr"), flop_sampler(seed=4))
        trainer.run(4)
        states.append(trainer.state())
    assert states[0].keys() == states[1].keys()
    for key, array in states[0].items():
        assert array.tobytes() == states[1][key].tobytes(), key


@pytest.mark.parametrize("opponents", OPPONENTS, ids=OPPONENT_NAMES)
def test_a_run_that_stops_and_resumes_ends_with_the_same_bytes(opponents: FewBuckets | None) -> None:
    game = game_of()
    pots = pot_types(game)

    def trainer(phases: int) -> BlueprintTrainer:
        result = BlueprintTrainer(game, pots, FewBuckets(), opponents=opponents)
        first, second = flop_sampler(), flop_sampler(seed=4)
        result.begin_phase(schedule("lcfr"), first, plain=result.has_plain_phase)
        if phases == 2:
            result.begin_phase(schedule("dcfr"), second, after_epoch=first.epoch(5))
        return result

    straight = trainer(1)
    straight.run(3)
    first = trainer(1)
    first.restore(straight.state())
    for one in (straight, first):
        one.run(2)
        one.begin_phase(schedule("dcfr"), flop_sampler(seed=4))
        one.run(2)
    second = trainer(2)
    second.restore(straight.state())
    for one in (straight, first, second):
        one.run(3)
    for resumed in (first, second):
        for key, array in straight.state().items():
            assert array.tobytes() == resumed.state()[key].tobytes(), key


def test_coarse_buckets_stay_exploitable_and_the_responder_finds_it_after_the_flop() -> None:
    game = game_of()
    sampler, flops = small_game()
    trainer = BlueprintTrainer(game, pot_types(game), FewBuckets())
    trainer.begin_phase(schedule("dcfr"), sampler)
    trainer.run(150)
    value = Evaluation(trainer.blueprint(), by_street=True).evaluate(flops)
    exact = BlueprintTrainer(game, pot_types(game), EveryHand(sampler.cards))
    exact.begin_phase(schedule("dcfr"), sampler)
    exact.run(150)
    assert value.exploitability > 20 * Evaluation(exact.blueprint()).evaluate(flops).exploitability
    assert value.by_street["preflop"] < sum(value.by_street[street] for street in ("flop", "turn", "river"))


def test_current_strategies_can_be_evaluated_as_well() -> None:
    game = game_of()
    sampler, flops = small_game()
    trainer = BlueprintTrainer(game, pot_types(game), FewBuckets())
    trainer.begin_phase(schedule("lcfr"), sampler)
    trainer.run(10)
    average, current = trainer.blueprint(), trainer.blueprint("regret")
    np.testing.assert_array_equal(current.preflop, trainer.trunks[0].strategy)
    values = [Evaluation(b).evaluate(flops).exploitability for b in (average, current)]
    assert values[0] != values[1]
    assert min(values) > 0
