"""Boards on which a blueprint can be played."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from abstractions.buckets import board_buckets
from abstractions.cards import format_cards, parse_board
from abstractions.isomorphism import canonical_boards
from artifacts import open_blueprint
from artifacts.blueprint.known_boards import draw_board, known_boards, knows_all_boards


def test_the_known_boards_are_those_with_buckets(exported: Path) -> None:
    bundle = open_blueprint(exported)
    assert not knows_all_boards(bundle)
    flops = known_boards(bundle, parse_board(""))
    board_buckets(bundle, flops)  # refuses boards without buckets
    turns = [format_cards(board) for board in known_boards(bundle, parse_board("QsJh2h"))]
    assert "QsJh2h8d" in turns
    assert len(known_boards(bundle, parse_board("QsJh2h8d"))) == 48


class Textured:
    """Buckets of three textures, with a row for a board under one or two of them."""

    path, num_textures = "", 3

    def __init__(self, missing: int | None = None) -> None:
        self.missing = missing

    def bucket_rows(self, num_cards: int) -> np.ndarray:
        boards = np.arange(len(canonical_boards(num_cards).boards))
        if num_cards == self.missing:
            boards = boards[boards != 7]
        return np.sort(np.concatenate([3 * boards + 1, 3 * boards[::2] + 2]))

    def flop_textures(self) -> np.ndarray:
        return np.ones(1755, dtype=np.int16)


def test_buckets_by_texture_can_cover_every_board() -> None:
    assert knows_all_boards(Textured())
    for num_cards in (3, 4, 5):
        assert not knows_all_boards(Textured(missing=num_cards))
    assert len(draw_board(Textured(), np.random.default_rng(0))) == 5


def test_drawn_boards_have_buckets_on_every_street(exported: Path) -> None:
    bundle, rng = open_blueprint(exported), np.random.default_rng(1)
    drawn = [draw_board(bundle, rng) for _ in range(30)]
    for board in drawn:
        assert len(set(board.tolist())) == 5
        for cards in (3, 4, 5):
            board_buckets(bundle, board[None, :cards])
    # Suits are drawn too, so that a flop comes in several of them.
    assert len({format_cards(np.sort(board[:3])) for board in drawn}) > 5
