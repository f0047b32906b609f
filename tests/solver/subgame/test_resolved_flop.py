"""A blueprint that solves again, met by an exact responder: small games whose parts can be checked one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.blueprint.evaluation import BlueprintValue, Evaluation
from solver.blueprint.flop_values import RESPONSES
from solver.blueprint.pot_types import pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trainer import BlueprintTrainer
from solver.cfr.schedules import schedule
from solver.subgame.resolved_flop import ResolvedGame, known_rows, resolved_values, solve_again, table_bytes
from tests.solver.blueprint.small_games import FewBuckets, game_of, small_game


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    """A blueprint in few buckets, trained on four boards of two flops."""
    game = game_of()
    sampler, _ = small_game()
    trainer = BlueprintTrainer(game, pot_types(game), FewBuckets())
    trainer.begin_phase(schedule("lcfr"), sampler)
    trainer.run(60)
    return trainer.blueprint()


def resolved(blueprint: Blueprint, street: int, iterations: int) -> BlueprintValue:
    """How the blueprint fares that solves again from a street on (3: never)."""
    evaluation = Evaluation(blueprint, by_street=True)
    first, second = evaluation.reach
    game = ResolvedGame(blueprint.game.tree, blueprint.pots, (first, second), iterations)
    values = [
        resolved_values(game, flop, known_rows(blueprint, flop, street), RESPONSES)
        for flop in small_game()[1]
    ]
    return evaluation.result(values[0] + values[1])


def test_where_nothing_is_solved_again_the_blueprint_plays(blueprint: Blueprint) -> None:
    alone = Evaluation(blueprint, by_street=True).evaluate(small_game()[1])
    same = resolved(blueprint, 3, 1)
    assert same.exploitability == pytest.approx(alone.exploitability, rel=1e-4)
    assert same.expected == pytest.approx(alone.expected, rel=1e-4)
    for street, loss in alone.by_street.items():
        assert same.by_street[street] == pytest.approx(loss, rel=1e-3, abs=0.05)


def test_a_street_that_is_solved_again_loses_next_to_nothing(blueprint: Blueprint) -> None:
    alone = Evaluation(blueprint, by_street=True).evaluate(small_game()[1])
    river, turn, flop = (resolved(blueprint, street, 150) for street in (2, 1, 0))
    assert alone.by_street["river"] > 10
    assert river.by_street["river"] < 1
    assert turn.by_street["turn"] + turn.by_street["river"] < 1
    assert sum(flop.by_street[name] for name in ("flop", "turn", "river")) < 2
    # The earlier it begins, the less is lost in all. Solving the river alone is unsafe: here it loses more on the turn.
    assert flop.exploitability < 0.2 * turn.exploitability < 0.2 * alone.exploitability
    assert river.by_street["turn"] > alone.by_street["turn"]


def test_more_iterations_leave_less(blueprint: Blueprint) -> None:
    few, many = (
        sum(resolved(blueprint, 0, count).by_street[name] for name in ("flop", "turn", "river"))
        for count in (15, 150)
    )
    assert many < 0.5 * few


def test_what_the_blueprint_plays_is_held(blueprint: Blueprint) -> None:
    flop = small_game()[1][0]
    evaluation = Evaluation(blueprint)
    first, second = evaluation.reach
    known = known_rows(blueprint, flop, 1)
    game = ResolvedGame(blueprint.game.tree, blueprint.pots, (first, second), 5)
    shard, table = solve_again(game, flop, known)
    for (pot_type, street), rows in known.items():
        np.testing.assert_array_equal(shard.layout.rows(table, pot_type, street), rows)
    # Its rows are the blueprint's strategy of each hand: all actions of a decision sum to 1.
    assert {street for _, street in known} == {0}
    assert shard.regret.nbytes + shard.average.nbytes == table_bytes(blueprint, flop)
    # Whatever the blueprint's unit is, its probabilities are what counts.
    scaled = replace(blueprint, table=7 * blueprint.table)
    again = known_rows(scaled, flop, 1)
    for key, rows in known.items():
        np.testing.assert_allclose(again[key], rows, atol=1e-6)
