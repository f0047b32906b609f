"""How sizes that a blueprint does not know are read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from abstractions.cards import parse_board
from solver.betting.played_lines import play_line
from solver.betting.rules import Action
from solver.betting.tree import game_start
from solver.subgame.translation import Choice, TranslatedBlueprint, pseudo_harmonic, readings
from tests.solver.subgame.small_spots import FLOP, GAME, TURN, blueprint

FOLD, CALL = Choice(Action.FOLD, 0.0), Choice(Action.CALL, 0.0)


def test_known_sizes_stay_and_the_probability_falls_between_them():
    known = [0.5, 1.0, 2.0]
    shares = [dict(pseudo_harmonic(size, known)).get(1, 0.0) for size in np.linspace(0.5, 1.0, 11)]
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert all(low < high for low, high in pairwise(shares))
    # Ganzfried & Sandholm's example: the middle of the mapping lies below the mean of the sizes.
    assert dict(pseudo_harmonic(0.714285714, known))[0] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("choice", "offered", "expected"),
    [
        (FOLD, [FOLD, CALL], [(0, 1.0)]),
        # A raise where the blueprint has none is nearest to a call.
        (Choice(Action.RAISE, 0.7), [FOLD, CALL], [(1, 1.0)]),
        # A bet that leaves chips behind is no all-in, because the hand would be over.
        (Choice(Action.RAISE, 0.7), [FOLD, CALL, Choice(Action.ALLIN, 0.8)], [(1, 1.0)]),
        (Choice(Action.ALLIN, 3.0), [FOLD, CALL, Choice(Action.RAISE, 0.5)], [(2, 1.0)]),
        (
            Choice(Action.ALLIN, 0.5),
            [FOLD, CALL, Choice(Action.RAISE, 0.5), Choice(Action.ALLIN, 9.0)],
            [(3, 1.0)],
        ),
        (Choice(Action.CHECK, 0.0), [FOLD, CALL], [(1, 1.0)]),
    ],
)
def test_actions_without_a_counterpart(choice, offered, expected):
    assert readings(choice, offered, ends_hand=False) == expected


def test_a_line_of_known_sizes_is_itself():
    rules, start = game_start(GAME)
    translated = TranslatedBlueprint(blueprint())
    board = parse_board(TURN)
    streets = play_line(rules, start, "b250c/xb375c/xx")
    (reading,) = translated.readings_at(rules, streets)
    assert blueprint().game.tree.line(reading.place.node) == "b250c/xb375c/xx"
    for seat in range(2):
        expected = blueprint().reach("b250c/xx", board[:3], seat)
        found = translated.reach(rules, play_line(rules, start, "b250c/xx"), board[:3], seat)
        np.testing.assert_allclose(found, expected)


def test_an_unknown_open_is_read_as_the_known_one():
    rules, start = game_start(GAME)
    translated = TranslatedBlueprint(blueprint())
    board = parse_board(FLOP)
    found, known = (
        translated.reach(rules, play_line(rules, start, line), board, 0) for line in ("b300c/xx", "b250c/xx")
    )
    np.testing.assert_array_equal(found, known)


def test_after_a_raise_that_the_blueprint_does_not_have_the_next_street_goes_on():
    rules, start = game_start(GAME)
    translated = TranslatedBlueprint(blueprint())
    # The game has one raise, all-in. A small one, called, leaves the blueprint where the bet was called.
    streets = play_line(rules, start, "b250c/b300r600c/xx")
    (reading,) = translated.readings_at(rules, streets)
    assert blueprint().game.tree.line(reading.place.node) == "b250c/b375c/xx"
