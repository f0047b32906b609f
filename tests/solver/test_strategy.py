"""Reach is the product of a player's own actions on the way, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES, NUM_COMBOS, live_combos, parse_board
from solver.strategy import by_class, by_combo, reach


@dataclass(frozen=True)
class Place:
    number: int
    player: int
    street: int


class Alternating:
    """Players act in turn, two actions each; combo c takes action 1 with a probability of its own."""

    def steps(self, line: str) -> list[tuple[Place, int]]:
        return [(Place(k, k % 2, 0), int(token == "b")) for k, token in enumerate(line)]

    def probabilities(self, decision: Place, board: NDArray[np.uint8]) -> NDArray[np.float64]:
        bets = (np.arange(NUM_COMBOS) + decision.number) % 10 / 10
        return np.stack([1 - bets, bets])


def test_only_own_actions_count_and_blocked_hands_never_get_there() -> None:
    board = parse_board("QsJh2h")
    combos = np.arange(NUM_COMBOS)
    first = reach(Alternating(), "xbb", board, 0)
    expected = (1 - combos % 10 / 10) * ((combos + 2) % 10 / 10)
    live = live_combos(board)
    np.testing.assert_allclose(first[live], expected[live])
    assert not first[~live].any()
    np.testing.assert_allclose(reach(Alternating(), "xbb", board, 1)[live], ((combos + 1) % 10 / 10)[live])
    np.testing.assert_array_equal(reach(Alternating(), "", board, 0), live)


def test_ranges_by_class_and_by_combo_are_the_same_range() -> None:
    weights = np.linspace(0, 1, NUM_CLASSES)
    combos = by_combo(weights)
    np.testing.assert_array_equal(combos, weights[CLASS_OF_COMBO])
    np.testing.assert_array_equal(by_class(combos), weights)
    assert by_combo(combos) is combos
