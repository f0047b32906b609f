"""Lines after the flop: the templates of pot types, in the chips of each line."""

from __future__ import annotations

import pytest

from solver.betting.game import GameConfig, StreetSizes
from solver.betting.played_lines import play_line
from solver.betting.tree import game_start
from solver.multiplayer.later_lines import LaterLines
from solver.multiplayer.trained_lines import trained_lines
from solver.multiway.game import MultiwayGame

GAME = GameConfig(
    stacks=(3000,) * 3,
    raise_sizes=("3", "a"),
    raise_cap=2,
    postflop=(StreetSizes("50%", None, "50%", None),) * 3,
    max_flop_players=3,
)


@pytest.fixture(scope="module")
def later() -> LaterLines:
    return trained_lines(MultiwayGame.build(GAME, buckets=(4, 5, 6)))


@pytest.mark.parametrize("start", ["b300cc/", "fcx/", "cfx/"])
def test_lines_are_those_that_the_rules_of_the_game_allow(later: LaterLines, start: str) -> None:
    rules, begin = game_start(GAME)
    found = dict(later.below(start))
    assert start in found
    for line, place in found.items():
        state = play_line(rules, begin, line)[-1].state
        assert (later.seat(place), later.street(place)) == (state.actor, state.street)
        assert later.pot(place) == rules.dead + sum(state.committed)
        assert later.committed(place) == list(state.committed)
        assert later.live(place) == {seat for seat in range(3) if not state.folded >> seat & 1}


def test_a_line_is_found_again_and_others_are_not(later: LaterLines) -> None:
    for line, place in later.below("b300cc/"):
        assert later.at(line) == place
    assert later.at("b300cc") is None
    assert later.at("b300cc/b451") is None
    assert later.at("b300cc/xx/") is None


def test_entries_of_different_decisions_do_not_overlap(later: LaterLines) -> None:
    entries = [entry for _, place in later.below("b300cc/") for entry in later.entries(place)]
    assert len(entries) == len(set(entries))
