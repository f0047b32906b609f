"""Nodes are counted without building them: as many as the built tree has, or a lower bound."""

from __future__ import annotations

from dataclasses import replace

import pytest

from solver.betting.game import GameConfig
from solver.betting.lines import PREFLOP, RIVER
from solver.betting.tree import game_start, game_tree
from solver.betting.tree_size import count_nodes

UNEQUAL = GameConfig(
    stacks=(900, 400, 1500, 250),
    antes=(10, 0, 25, 5),
    raise_sizes=("2.5,100%,a", "60%,a"),
    raise_cap=3,
    add_allin_threshold=1.0,
    merging_threshold=0.2,
)
GAMES = {
    "two seats": GameConfig(stacks=(2500, 2500), raise_sizes=("2", "3x,a", "a")),
    "three seats with donk bets": GameConfig.from_mapping(
        {
            "stacks": [1200, 1200, 1200],
            "raise_sizes": ["3", "a"],
            "bet_sizes": {"flop": {"bet": "50%", "raise": "3x"}},
            "donk_sizes": {"turn": "25%"},
        }
    ),
    "four seats of unequal stacks": UNEQUAL,
    "a straddle": replace(UNEQUAL, stacks=(900, 800, 1500, 1000), straddle=200),
    "two players after the flop": replace(UNEQUAL, max_flop_players=2, limp=False),
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("last_street", [PREFLOP, RIVER])
def test_the_count_is_that_of_the_tree(name: str, last_street: int) -> None:
    config = GAMES[name]
    found = count_nodes(*game_start(config), last_street)
    assert found.is_exact
    assert found.nodes == len(game_tree(config, last_street=last_street))


def test_with_few_states_the_count_is_a_lower_bound() -> None:
    whole = count_nodes(*game_start(UNEQUAL))
    part = count_nodes(*game_start(UNEQUAL), most_states=50)
    assert not part.is_exact
    assert 50 < part.nodes < whole.nodes
    assert str(part) == f"more than {part.nodes:,} nodes"


def test_the_refusal_of_a_large_tree_says_its_size_and_what_makes_it_large() -> None:
    config = GameConfig(stacks=(10_000,) * 9, limp=False, raise_sizes=("2.5", "3x", "a"), raise_cap=3)
    with pytest.raises(
        ValueError, match=r"the tree has 875,521 nodes .* raise_cap \(3\), one step less gives 37,839"
    ):
        game_tree(replace(config, node_limit=500_000), last_street=PREFLOP)
