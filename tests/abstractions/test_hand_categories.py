"""Hands in the words that players use."""

from __future__ import annotations

import numpy as np
import pytest

from abstractions.cards import live_combos, parse_board, parse_combo
from abstractions.evaluator import CATEGORIES, category_index, evaluate_board
from abstractions.hand_categories import BLOCKED, DRAWS, MADE_HANDS, draws, made_hands


def made(hand: str, board: str) -> str:
    return MADE_HANDS[made_hands(parse_board(board))[parse_combo(hand)]]


def draw(hand: str, board: str) -> str:
    return DRAWS[draws(parse_board(board))[parse_combo(hand)]]


@pytest.mark.parametrize(
    ("hand", "board", "name"),
    [
        ("KhKd", "Ks7d2c", "set"),
        ("7h6h", "Ks7d7c", "trips"),
        ("Kh7h", "Ks7d2c", "two pair"),
        ("AhAd", "Ks7d2c", "overpair"),
        ("KhQh", "Ks7d2c", "top pair"),
        ("8h8d", "Ks7d2c", "pocket pair"),
        ("7h6h", "Ks7d2c", "second pair"),
        ("2h3h", "Ks7d2c", "low pair"),
        ("AhQh", "Ks7d2c", "ace high"),
        ("QhJh", "Ks7d2c", "no pair"),
        # The board's own pair, pairs or trips belong to nobody.
        ("QhJh", "Ks7d7c", "no pair"),
        ("AhQh", "KsKd7c7d2h", "ace high"),
        ("QhJh", "7s7d7c", "no pair"),
        ("KhQh", "Ks7d7c", "top pair"),
        ("AhAd", "Ks7d7c", "overpair"),
        ("AhAd", "7s7d7c", "full house"),
        ("Th9h", "KhQh2h", "flush"),
        ("JcTd", "KhQh9h", "straight"),
        ("5c4d", "Ah2h3h", "straight"),
    ],
)
def test_a_hand_is_named_by_what_its_own_cards_add(hand: str, board: str, name: str) -> None:
    assert made(hand, board) == name


@pytest.mark.parametrize(
    ("hand", "board", "name"),
    [
        ("AhKh", "9h5h2c", "flush draw"),
        ("JhTh", "Qh9h2c", "combo draw"),
        ("JcTc", "Qs9h2h", "open-ended"),
        # Two gaps are as good as two ends.
        ("9c7c", "JhTd8s", "straight"),
        ("7c5c", "9h8d3s", "gutshot"),
        ("Jc7c", "Th9d8s", "straight"),
        ("Tc6c", "8h7d4s", "open-ended"),
        ("AcKc", "QhJd2s", "gutshot"),
        ("5c4c", "AhKd3s", "gutshot"),
        ("AcKc", "9c5h2d", "backdoor flush"),
        ("AcKc", "9c5h2d8s", "no draw"),
        ("AhKh", "9h5h2c8d", "flush draw"),
        ("AhKh", "9h5h2c8d7s", "no draw"),
        # Four to a straight on the board alone is nobody's draw.
        ("AhAd", "9s8d7c6h", "no draw"),
    ],
)
def test_a_draw_needs_an_own_card(hand: str, board: str, name: str) -> None:
    if name in MADE_HANDS:
        assert made(hand, board) == name
        assert draw(hand, board) == "no draw"
    else:
        assert draw(hand, board) == name


def test_strong_hands_are_those_of_the_evaluator() -> None:
    board = parse_board("9h8h7h7c2d")
    found, live = made_hands(board), live_combos(board)
    best = category_index(evaluate_board(board)[live])
    names = np.array(MADE_HANDS)[found[live]]
    for name in ("straight flush", "quads", "full house", "flush", "straight"):
        assert ((names == name) == (best == CATEGORIES.index(name))).all(), name
    assert (found[~live] == BLOCKED).all()
    assert (draws(board)[~live] == BLOCKED).all()


def test_two_cards_are_no_board() -> None:
    with pytest.raises(ValueError, match="board of 0 cards"):
        made_hands(parse_board(""))
