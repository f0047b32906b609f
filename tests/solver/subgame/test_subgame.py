"""Subgames are cut out of the hand where they should be, and bad input is refused in one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from abstractions.cards import live_combos, parse_board
from solver.betting.lines import RIVER, TURN
from solver.subgame.config import SubgameConfig
from solver.subgame.subgame import Subgame
from tests.solver.subgame import small_spots
from tests.solver.subgame.small_spots import PLAIN, blueprint, spot


def offered(subgame, line):
    tree, node = subgame.tree, subgame.node_at(line)
    return [tree.token(child) for child in tree.children_of(node)]


def test_the_root_is_the_start_of_the_street_with_the_actions_since_in_its_tree():
    subgame = Subgame.build(blueprint(), "b250c/xb333r777", "QsJh2h", SubgameConfig())
    assert (subgame.root_line, subgame.pot, subgame.street) == ("b250c/", 500, 1)
    assert offered(subgame, "b250c/") == ["x", "b165", "b250", "b375", "b500", "b750", "A"]
    # Both sizes that were played stand among those of the menus, and everything below them is there.
    assert offered(subgame, "b250c/x") == ["x", "b165", "b250", "b333", "b375", "b500", "b750", "A"]
    assert offered(subgame, "b250c/xb333") == ["f", "c", "r777", "r833", "A"]
    assert offered(subgame, "b250c/xb333r777") == ["f", "c", "A"]
    # Elsewhere they are not.
    assert "r777" not in offered(subgame, "b250c/xb375")
    # Later streets have the game's sizes: 75 % of 1,166, then a raise all-in.
    assert offered(subgame, "b250c/xb333c/") == ["x", "A"]
    assert offered(subgame, "b250c/xb165c/") == ["x", "b623"]
    assert subgame.tree.street.max() == RIVER


def test_the_played_line_is_found_whether_all_in_is_written_as_chips_or_not():
    subgame = Subgame.build(blueprint(), "b250c/xA", "QsJh2h", SubgameConfig())
    assert subgame.node_at("b250c/xb1250") == subgame.node_at("||p|b250c/xA") == subgame.node


def test_ranges_at_the_root_are_the_blueprints_own_reach():
    board = parse_board(small_spots.RIVER)
    line = "b250c/xx/xx/"
    subgame = Subgame.build(blueprint(), line, board, SubgameConfig())
    for seat in range(2):
        reach = blueprint().reach(line, board, seat)
        kept = reach >= 1e-5 * reach.max()
        np.testing.assert_allclose(subgame.ranges[seat][kept], reach[kept] / reach.max())
        assert not subgame.ranges[seat][~kept].any()
        assert not subgame.ranges[seat][~live_combos(board)].any()


def test_an_action_that_the_blueprint_never_takes_leaves_a_range():
    board = parse_board(small_spots.RIVER)
    line = "b250c/xb375c/xx/"
    known = blueprint()
    table = known.table.copy()
    # The small blind never checks this turn.
    table[known.layout.action_entries(known.game.tree.node_at("b250c/xb375c/xx"))] = 0.0
    never = replace(known, table=table)
    assert not never.reach(line, board, 0).any()
    subgame = Subgame.build(never, line, board, SubgameConfig())
    # What it did before is still known.
    before = known.reach("b250c/xb375c/", board[:4], 0) * live_combos(board)
    kept = before >= 1e-5 * before.max()
    np.testing.assert_allclose(subgame.ranges[0][kept], before[kept] / before.max())


def test_any_stacks():
    config = SubgameConfig(stacks=(700, 2000))
    subgame = Subgame.build(blueprint(), "b250c/x", "QsJh2h", config)
    # The small blind has 450 left, which is what anybody can bet for.
    assert offered(subgame, "b250c/x") == ["x", "b165", "b250", "A"]
    all_in = subgame.node_at("b250c/xAc")
    assert subgame.tree.committed[all_in].tolist() == [700, 700]


def test_the_depth_says_which_streets_are_searched():
    for depth, last in ((1, 1), (2, TURN), (3, RIVER), ("full", RIVER), (9, RIVER)):
        subgame = Subgame.build(blueprint(), "b250c/", "QsJh2h", SubgameConfig(depth=depth))
        assert subgame.last_street == last
        assert int(subgame.searched[0].street.max()) == last


def test_the_slash_before_a_new_card_may_be_left_out():
    assert spot("b250c/xx", small_spots.TURN).line == "b250c/xx/"


@pytest.mark.parametrize(
    ("line", "board", "message"),
    [
        ("b250c/xx/", "QsJh2h", r"board 'QsJh2h': 3 cards; line 'b250c/xx/' is on the turn, which has 4"),
        (
            "b250",
            "QsJh2h",
            "line 'b250' has seen no flop: subgames start with the flop, the turn or the river",
        ),
        ("b250c/b50", "QsJh2h", "line 'b250c/b50': 'b50' is below the smallest bet, to 100"),
        ("b250c/b1300", "QsJh2h", "'b1300' is more than all-in, to 1250"),
        ("b250c/c", "QsJh2h", "'c' is not possible, there is no bet to answer"),
        ("b250c/b300x", "QsJh2h", "'x' is not possible, there is a bet of 300 to answer"),
        ("b250c/b300b600", "QsJh2h", "'b600' is written r600 there"),
        ("b250c/b300f", "QsJh2h", "line 'b250c/b300f': nobody acts there"),
        ("b250c/Ac/", "QsJh2h8d", "'/' is not possible, the hand is over"),
        ("b250c/x/", "QsJh2h8d", "'/' before the betting of the flop is over"),
        ("b250c/xxx", "QsJh2h", "'x' is not possible, the street is over, '/' comes next"),
        ("b250c/?", "QsJh2h", "no token at"),
        ("b250c/", "QsJhJh", "board"),
        ("b250c/", "QsJh", "board 'QsJh' has 2 cards"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(line, board, message):
    with pytest.raises(ValueError, match=message) as refused:
        Subgame.build(blueprint(), line, board, PLAIN)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 0}, "depth: 0 is unknown; accepted: 1, 2, full"),
        ({"safety": "none"}, "safety: 'none' is unknown; accepted: unsafe, resolve, maxmargin, reach"),
        ({"continuation": "net"}, "continuation: 'net' is unknown; accepted: trained, values"),
        ({"values": 5}, "values: 5 is unknown; accepted: 1, 4, 7"),
        ({"sizes": "50"}, "sizes: size '50' is not understood"),
        ({"time_s": 0.0}, "time_s: 0.0 is not a positive number"),
        ({"iterations": None}, "nothing says when to stop"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        SubgameConfig(**settings)
