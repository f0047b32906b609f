"""Real losses: the judge against best responses, and what depth-limited solves and translation lose by it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import NUM_COMBOS
from solver.exact.engine import CfrEngine
from solver.exact.strategies import evaluate_strategy
from solver.postflop.automatic_schedule import AUTOMATIC
from solver.subgame.blueprint_play import BlueprintTables
from solver.subgame.config import SubgameConfig
from solver.subgame.judge import Judge
from solver.subgame.leaf_boards import combos_of
from solver.subgame.solve import SubgameSolver, solve_subgame
from solver.subgame.subgame import Subgame
from solver.subgame.translation import TranslatedBlueprint
from tests.solver.subgame import small_spots
from tests.solver.subgame.small_spots import PLAIN, blueprint, random_ranges, thin_ranges

TURN_LINE, RIVER_LINE = "b250c/xx/", "b250c/xx/xx/"


def build(line, board, ranges, config=PLAIN):
    return Subgame.build(blueprint(), line, board, config, ranges=ranges)


def uniform(tree):
    return lambda node, _: np.full(
        (int(tree.num_children[node]), NUM_COMBOS), 1.0 / int(tree.num_children[node])
    )


def test_the_loss_of_a_strategy_for_all_decisions_is_what_a_best_response_finds():
    subgame = build(RIVER_LINE, small_spots.RIVER, random_ranges(small_spots.RIVER))
    judge = Judge(subgame.tree, subgame.cards, target_pct=0.02)
    for player in range(2):

        def both(node, board, hands, player=player):
            actions = int(subgame.tree.num_children[node])
            return np.full((actions, len(hands)), 1.0 / actions)

        best = evaluate_strategy(subgame.tree, subgame.cards, both).best_response[1 - player]
        loss = judge.loss(player, uniform(subgame.tree))
        assert loss.chips == pytest.approx(judge.values[player] + best, abs=0.2)
        assert loss.percent > 10.0
    assert sum(judge.values) == pytest.approx(0.0, abs=1e-9)


def test_the_equilibrium_loses_nothing_and_neither_does_saying_nothing():
    subgame = build(TURN_LINE, small_spots.TURN, thin_ranges())
    judge = Judge(subgame.tree, subgame.cards)
    known = {}
    for node in np.flatnonzero(subgame.tree.street == subgame.street).tolist():
        if subgame.tree.player[node] >= 0:
            known[node] = judge.equilibrium(node, subgame.board)
    for player in range(2):
        for strategy in (lambda node, _: known.get(node), lambda node, _: None):
            loss = judge.loss(player, strategy)
            assert abs(loss.percent) < 0.2
            assert abs(loss.chips) <= loss.error


def first_street(subgame, solution):
    """The solution's strategy of the searched street."""

    def strategy(node, board):
        if len(board) > len(subgame.board):
            return None
        return solution.strategy(subgame.root_line + subgame.tree.line(node))

    return strategy


def checked_down(subgame):
    """The first street solved as if nobody bet again."""
    tree, nodes = subgame.searched
    engine = CfrEngine(tree, subgame.cards, AUTOMATIC)
    engine.run(200)
    number = {int(node): k for k, node in enumerate(nodes)}

    def strategy(node, board):
        if len(board) > len(subgame.board):
            return None
        player = int(subgame.tree.player[node])
        result = uniform(subgame.tree)(node, board)
        result[:, combos_of(subgame.cards.hands[player])] = engine.strategy(number[node])
        return result

    return strategy


def solved(subgame, **settings):
    config = replace(PLAIN, **{"iterations": 100, "run_outs": 4, **settings})
    return first_street(subgame, SubgameSolver(blueprint(), subgame, config).run())


def test_real_loss_trained_below_four_values_below_one_below_check_down():
    losses: dict[str, list[float]] = {}
    for ranges in (thin_ranges(), random_ranges(small_spots.TURN)):
        subgame = build(TURN_LINE, small_spots.TURN, ranges)
        judge = Judge(subgame.tree, subgame.cards, target_pct=0.1)
        strategies = {
            "trained": solved(subgame),
            "four": solved(subgame, continuation="values", values=4),
            "four, half biased": solved(subgame, continuation="values", values=4, factor=2.0),
            "one": solved(subgame, continuation="values", values=1),
            "check-down": checked_down(subgame),
        }
        for name, strategy in strategies.items():
            losses.setdefault(name, []).append(judge.mean_loss(strategy))
    mean = {name: sum(found) / len(found) for name, found in losses.items()}
    assert mean["trained"] < 0.7 * mean["four"], losses
    assert mean["four"] < 0.8 * mean["one"], losses
    assert mean["four"] < 0.9 * mean["four, half biased"], losses
    # The blueprint was trained for wide ranges. Against thin ones it may be worse than checking down.
    assert losses["one"][1] < 0.8 * losses["check-down"][1], losses
    assert mean["trained"] < 1.0, losses


def test_an_unknown_bet_is_answered_far_better_by_solving_than_by_translation():
    ranges = random_ranges(small_spots.RIVER, 200)
    # The blueprint bets 375 on this river, and is bet twice the pot.
    line = RIVER_LINE + "b1000"
    config = SubgameConfig(sizes="75%", raises="a", raise_cap=1, iterations=200)
    subgame = build(line, small_spots.RIVER, ranges, config)
    answer = subgame.node
    judge = Judge(subgame.tree, subgame.cards, target_pct=0.02)
    translated = TranslatedBlueprint(blueprint())
    root = translated.deal(translated.readings_at(subgame.rules, subgame.streets[:-1]))
    tables = BlueprintTables(translated, subgame.tree, root, 0)
    buckets = blueprint().bucketing.buckets(np.array(subgame.board, dtype=np.uint8), 0)
    solution = solve_subgame(blueprint(), line, small_spots.RIVER, config, ranges=ranges)
    by_translation = judge.loss(
        0, lambda node, _: tables.shares(node)[:, buckets] if node == answer else None
    )
    by_solving = judge.loss(0, lambda node, _: solution.strategy() if node == answer else None)
    assert by_translation.percent > 1.0
    assert by_solving.percent < 0.1 * by_translation.percent, (by_translation, by_solving)
