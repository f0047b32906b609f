"""Trees of subgames are the parts of the game's tree that they stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solver.betting.game import GameConfig, StreetSizes
from solver.betting.lines import FLOP, RIVER, TURN
from solver.betting.public_tree import NodeKind
from solver.betting.rules import start_street
from solver.betting.tree import game_start, game_tree, spot_tree, state_at, subgame_tree
from solver.betting.tree_parts import lower_part, upper_part

SIZES = StreetSizes("60%", "2.5x", "75%", "a", donk="30%")
#: The small blind has the shorter stack, the big blind pays an ante, and the house takes its share.
CONFIG = GameConfig(
    stacks=(1500, 2000),
    antes=(0, 40),
    raise_sizes=("2.5", "3x"),
    raise_cap=2,
    postflop=(SIZES,) * 3,
    postflop_raise_cap=1,
    rake=0.05,
    rake_cap=60.0,
)
ARRAYS = ("kind", "player", "street", "num_children", "committed", "folded", "pot")


def subgame_at(tree, node, **options):
    rules, start = game_start(CONFIG)
    root = state_at(rules, start, tree, node)
    return subgame_tree(
        rules, root, antes=CONFIG.antes, rake=CONFIG.rake, rake_cap=CONFIG.rake_cap, **options
    )


def assert_same_tree(found, expected):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    np.testing.assert_array_equal(found.children, expected.children)
    # A root has no action that led to it.
    np.testing.assert_array_equal(found.amount[1:], expected.amount[1:])
    np.testing.assert_allclose(found.heads_up_payoffs, expected.heads_up_payoffs, rtol=0, atol=1e-12)


def test_the_subgame_of_every_decision_is_that_part_of_the_game():
    tree = game_tree(CONFIG)
    decisions = np.flatnonzero(tree.kind == NodeKind.DECISION)
    # Every third decision: starts of streets, and answers to bets within them.
    for node in decisions[::3].tolist():
        assert_same_tree(subgame_at(tree, node), lower_part(tree, np.array([node]))[0])


@pytest.mark.parametrize("last_street", [FLOP, TURN])
def test_a_subgame_may_stop_before_a_later_street(last_street):
    tree = game_tree(CONFIG)
    node = tree.node_at("b250c/")
    found = subgame_at(tree, node, last_street=last_street)
    expected, _ = upper_part(lower_part(tree, np.array([node]))[0], last_street)
    assert_same_tree(found, expected)
    assert (found.kind[(found.num_children == 0) & (found.street == last_street)] == NodeKind.CHANCE).any()
    assert found.street.max() == last_street


def test_a_subgame_takes_other_sizes():
    tree = game_tree(CONFIG)
    node = tree.node_at("b250c/xx/")
    other = StreetSizes("33%", "none", "33%", "none")
    found = subgame_at(tree, node, menus={TURN: other})
    # The pot is 540: the turn has the new sizes, the river still those of the game.
    assert [found.token(child) for child in found.children_of(0)] == ["x", "b178"]
    river = found.node_at("xx/")
    assert [found.token(child) for child in found.children_of(river)] == ["x", "b324"]
    # Asking for other sizes leaves the game's own untouched.
    again = subgame_at(tree, node)
    assert [again.token(child) for child in again.children_of(0)] == ["x", "b324"]


def test_chips_of_folded_seats_are_dead_money():
    # The small blind folded 50, the button opened to 250 and the big blind called: 550 in the middle.
    rules, _ = game_start(GameConfig(stacks=(2000, 2000), postflop=(SIZES,) * 3))
    rules = replace(rules, dead=50)
    root = start_street(rules, FLOP, (250, 250), 0, 0)
    tree = subgame_tree(rules, root, last_street=RIVER, rake=0.1, rake_cap=1000.0)
    assert (tree.pot[0], tree.dead) == (550, 50)
    fold = tree.node_at("b165f")
    # The caller wins the dead money and the other's 250 less a tenth of the pot.
    assert tree.payoffs(fold).tolist() == pytest.approx([-250.0, 550 - 55 - 250])


def test_a_spot_is_a_subgame_whose_pot_is_dead_money():
    tree = spot_tree(TURN, 200, 900, {"turn": {"bet": "50%"}})
    assert (tree.dead, tree.pot[0], tree.antes) == (200, 200, (0, 0))
    assert tree.committed[0].tolist() == [0, 0]


def test_a_subgame_needs_a_decision_and_streets_to_play():
    rules, _ = game_start(CONFIG)
    everything_in = start_street(rules, FLOP, (1500, 1500), 0, -1)
    with pytest.raises(ValueError, match="subgame: nobody has a decision at the root"):
        subgame_tree(rules, everything_in)
    with pytest.raises(ValueError, match="last_street: 1 is before street 2"):
        subgame_tree(rules, start_street(rules, TURN, (250, 250), 0, -1), last_street=FLOP)


def test_parts_need_roots_on_one_street():
    tree = game_tree(CONFIG)
    with pytest.raises(ValueError, match="lower_part: the roots do not lie on one street"):
        lower_part(tree, np.array([0, tree.node_at("b250c/")]))
