"""A blueprint that solves again, met by an exact responder: small games whose parts can be checked one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind
from solver.blueprint.evaluation import BlueprintValue, Evaluation
from solver.blueprint.flop_values import RESPONSES, FlopBoards
from solver.blueprint.pot_types import pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trainer import BlueprintTrainer
from solver.cfr.schedules import schedule
from solver.preflop.probabilities import seat_reach
from solver.subgame.resolved_flop import (
    ResolvedGame,
    known_rows,
    line_gifts,
    resolved_values,
    solve_again,
    stay_out_values,
    table_bytes,
)
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


def protected(
    blueprint: Blueprint, iterations: int, street: int = 0, *, gifts: bool = True
) -> BlueprintValue:
    """How the blueprint fares that solves again from a street on, with opponents who may stay out."""
    evaluation, game = Evaluation(blueprint, by_street=True), blueprint.game
    first, second = evaluation.reach
    spots = ResolvedGame(game.tree, blueprint.pots, (first, second), iterations)
    chips = line_gifts(game, given_up_on(blueprint, small_game()[1])) if gifts else None
    values = [
        resolved_values(
            spots,
            flop,
            known_rows(blueprint, flop, street),
            RESPONSES,
            stay_out_values(blueprint, flop, street, chips),
        )
        for flop in small_game()[1]
    ]
    return evaluation.result(values[0] + values[1])


def given_up_on(blueprint: Blueprint, flops: Sequence[FlopBoards]) -> NDArray[np.float64]:
    """Chips that an action before the flop wins less than the best one, if these flops are all there are."""
    game, tree = blueprint.game, blueprint.game.preflop.tree
    total = Evaluation(blueprint).flop_values(flops[0]) + Evaluation(blueprint).flop_values(flops[1])
    found = np.zeros_like(blueprint.preflop)
    for seat in range(2):
        values = game.values(blueprint.preflop, seat, total[seat, 0])
        others = seat_reach(tree, blueprint.preflop, 1 - seat)
        for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == seat)):
            children = tree.children_of(int(node))
            behind = values[children].max(axis=0) - values[children]
            found[children] = behind / np.maximum(game.preflop.pairs(others[node]), 1e-9)
    return found


def test_gifts_are_what_an_action_is_behind_in_deals_that_get_there(blueprint: Blueprint) -> None:
    game, tree = blueprint.game, blueprint.game.preflop.tree
    lost = np.zeros_like(blueprint.preflop)
    line = game.names.index("b200c")
    leaf = game.leaves[line]
    lost[leaf], lost[tree.parent[leaf]] = 3.0, 5.0
    gifts = line_gifts(game, lost)
    for seat, chips in ((0, 5.0), (1, 3.0)):
        np.testing.assert_allclose(gifts[seat][line], chips)
        assert not np.delete(gifts[seat], line, axis=0).any()


def test_who_may_stay_out_gains_less_before_the_flop(blueprint: Blueprint) -> None:
    unsafe, safe = resolved(blueprint, 0, 150), protected(blueprint, 150)
    assert unsafe.by_street["preflop"] > 40
    assert safe.by_street["preflop"] < 0.9 * unsafe.by_street["preflop"]
    # Hands that come by choice are met at the cost of those that come anyway, but the blueprint alone is far worse.
    alone = Evaluation(blueprint).evaluate(small_game()[1])
    assert safe.exploitability < 0.2 * alone.exploitability


@pytest.mark.parametrize("street", [1, 2])
@pytest.mark.parametrize("gifts", [False, True])
def test_safe_turns_and_rivers_are_no_worse_than_the_blueprint(
    blueprint: Blueprint, street: int, gifts: bool
) -> None:
    alone = Evaluation(blueprint, by_street=True).evaluate(small_game()[1])
    unsafe, safe = resolved(blueprint, street, 150), protected(blueprint, 150, street, gifts=gifts)
    # Gifts count against what was given up before the flop, so a little may be lost where nothing was given.
    assert safe.exploitability < alone.exploitability + (5 if gifts else 0)
    # Solved for the ranges alone, the same streets let other hands in for more before the flop.
    assert safe.by_street["preflop"] < unsafe.by_street["preflop"]
    assert safe.by_street["river"] < 0.5 * alone.by_street["river"] if street == 2 else True


def test_staying_out_is_worth_something_else_on_another_street(blueprint: Blueprint) -> None:
    flop = small_game()[1][0]
    spots = ResolvedGame(blueprint.game.tree, blueprint.pots, tuple(Evaluation(blueprint).reach), 1)
    with pytest.raises(ValueError, match="stay_out: made for another street"):
        solve_again(spots, flop, known_rows(blueprint, flop, 1), stay_out_values(blueprint, flop, 0))


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
    layout, table = solve_again(game, flop, known)
    for (pot_type, street), rows in known.items():
        np.testing.assert_array_equal(layout.rows(table, pot_type, street), rows)
    # Its rows are the blueprint's strategy of each hand: all actions of a decision sum to 1.
    assert {street for _, street in known} == {0}
    assert 2 * table.nbytes == table_bytes(blueprint, flop)
    # Whatever the blueprint's unit is, its probabilities are what counts.
    scaled = replace(blueprint, table=7 * blueprint.table)
    again = known_rows(scaled, flop, 1)
    for key, rows in known.items():
        np.testing.assert_allclose(again[key], rows, atol=1e-6)
