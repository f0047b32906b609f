"""The table pays what the betting tree pays, and blueprints at it play their own trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import live_combos, parse_board
from solver.betting.lines import PUBLIC_CARDS
from solver.betting.public_tree import NodeKind
from solver.match.players import BlueprintPlayer
from solver.match.simple import simple_blueprint
from solver.match.table import Table
from solver.simple_strategies import SIMPLE
from tests.solver.blueprint.small_games import TINY, game_of
from tests.solver.match.random_blueprints import SHALLOW, random_blueprint

BOARD = parse_board("QsJh2h8d3c")
RAKED = replace(TINY, stacks=(400, 700), antes=(10, 10), rake=0.05, rake_cap=12.0, no_flop_no_drop=True)


def real_line(table: Table, line: str) -> str:
    """A line of a tree as it is played: tokens one by one."""
    from solver.betting.lines import tokens

    real = ""
    for token in tokens(line):
        if token != "/":
            real = table.follow(real, token)
    return real


@pytest.mark.parametrize("config", [TINY, RAKED])
def test_every_end_of_a_hand_pays_what_the_tree_pays(config):
    table, tree = Table(config), game_of(config).tree
    ends = np.flatnonzero(tree.num_children == 0).tolist()
    assert len(ends) > 40
    for node in ends:
        line = real_line(table, tree.line(node))
        assert line == tree.line(node)
        assert table.actor(line) == -1
        outcome = table.outcome(line)
        assert outcome.showdown == (tree.kind[node] == NodeKind.SHOWDOWN)
        np.testing.assert_allclose(outcome.chips, tree.heads_up_payoffs[node])


def test_a_blueprint_plays_its_own_tree_as_trained():
    blueprint, table = random_blueprint(1), Table(SHALLOW)
    player, tree = BlueprintPlayer(table, blueprint), blueprint.game.tree
    live = live_combos(BOARD)
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        line, board = tree.line(node), BOARD[: PUBLIC_CARDS[tree.street[node]]]
        play = player.play(line, board)
        assert play.actions == tuple(tree.token(child) for child in tree.children_of(node).tolist())
        expected = blueprint.probabilities(blueprint.walk(line), board)
        np.testing.assert_allclose(play.probabilities[:, live], expected[:, live], atol=1e-12)


def test_a_size_between_two_known_ones_is_answered_as_a_mixture_of_both():
    config = replace(SHALLOW, stacks=(4000, 4000), raise_sizes=("2,4",))
    blueprint, table = random_blueprint(1, config), Table(config)
    player = BlueprintPlayer(table, blueprint)
    none = np.zeros(0, dtype=np.uint8)
    small, large, between = (player.play(line, none) for line in ("b200", "b400", "b300"))
    assert small.actions == large.actions == between.actions == ("f", "c")
    # Raises of .5 and 1.5 pots are known; one of 1 pot is taken for the first with probability .5 * 1.5 / (1 * 2).
    expected = 0.375 * small.probabilities + 0.625 * large.probabilities
    np.testing.assert_allclose(between.probabilities, expected, atol=1e-12)


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_strategies_do_what_they_are_called(name):
    game = game_of(SHALLOW)
    player = BlueprintPlayer(Table(SHALLOW), simple_blueprint(name, game))
    flop = BOARD[:3]
    shares = {
        line: dict(zip(play.actions, play.probabilities[:, 100]))
        for line, play in ((line, player.play(line, flop)) for line in ("cx/", "cx/b200", "cx/b137"))
    }
    if name == "uniform":
        assert shares["cx/"] == {"x": 0.5, "b200": 0.5}
        assert shares["cx/b200"] == {"f": 0.5, "c": 0.5}
        return
    assert shares["cx/"] == {"x": 1.0, "b200": 0.0}
    answer = {"f": 1.0, "c": 0.0} if name == "always-fold" else {"f": 0.0, "c": 1.0}
    # Any size is answered alike, known or not.
    assert shares["cx/b200"] == shares["cx/b137"] == answer


def test_unknown_simple_strategies_are_refused():
    with pytest.raises(ValueError, match=r"always-raise.*accepted: always-fold, always-call, uniform"):
        simple_blueprint("always-raise", game_of(SHALLOW))
