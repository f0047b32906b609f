"""How often a preflop solve takes an action, counted over all deals."""

from __future__ import annotations

import pytest

from abstractions.cards import CLASS_OF_COMBO, disjoint_weight
from pipelines.commands.preflop_play import played_frequencies
from solver.betting.game import GameConfig
from solver.preflop.solver import solve_preflop


def test_frequencies_are_those_of_the_deals_in_which_the_line_is_played() -> None:
    game = GameConfig(stacks=(1000, 1000), raise_sizes=("a",), limp=False)
    strategy = solve_preflop(game, iterations=200).strategy
    calls = strategy.probabilities[strategy.game.tree.node_at("Ac")][CLASS_OF_COMBO]
    met = disjoint_weight(strategy.reach("A", 0)[CLASS_OF_COMBO])
    played = played_frequencies(strategy, "||p|A")
    assert played["call"] == pytest.approx(calls @ met / met.sum())
    assert sum(played.values()) == pytest.approx(1)
    # A range that jams holds aces and kings more often, so fewer are left to call with.
    assert played["call"] < strategy.frequencies("A")["call"]
