"""Fresh run-outs of a board, the next card dealt evenly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import Bucketing

FULL_BOARD = 5


class RunOutDealer:
    """Deals run-outs of one board. The next cards come in rounds, each of which deals every card once.

    Examples
    --------
    >>> dealer = RunOutDealer((0, 1, 2), np.random.default_rng(0))
    >>> boards = dealer.draw(49)
    >>> boards.shape, len(set(boards[:, 3].tolist()))
    ((49, 5), 49)
    """

    def __init__(self, board: Sequence[int], rng: np.random.Generator) -> None:
        self.board = tuple(int(card) for card in board)
        self.rest = np.array([card for card in range(52) if card not in self.board], dtype=np.uint8)
        self._rng = rng
        self._waiting: list[int] = []

    @property
    def scale(self) -> float:
        """One over the chance that a run-out leaves two given hands alive."""
        scale = 1.0
        for dealt in range(FULL_BOARD - len(self.board)):
            left = len(self.rest) - dealt
            scale *= left / (left - 4)
        return scale

    def draw(self, count: int) -> NDArray[np.uint8]:
        """So many full boards, uint8 [count, 5]."""
        boards = np.empty((count, FULL_BOARD), dtype=np.uint8)
        boards[:, : len(self.board)] = self.board
        known = len(self.board)
        for row in boards:
            if not self._waiting:
                self._waiting = self._rng.permutation(self.rest).tolist()
            row[known] = self._waiting.pop()
            if known + 1 < FULL_BOARD:
                later = self.rest[self.rest != row[known]]
                row[known + 1 :] = self._rng.choice(later, FULL_BOARD - known - 1, replace=False)
        return boards


class RememberedBuckets:
    """Buckets of another bucketing; those of flops and turns are kept, because run-outs share them."""

    def __init__(self, bucketing: Bucketing) -> None:
        self.bucketing = bucketing
        self._known: dict[tuple[bytes, int], NDArray[np.integer]] = {}

    @property
    def num_buckets(self) -> tuple[int, int, int]:
        """Buckets of flop, turn and river."""
        return self.bucketing.num_buckets

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:
        """Bucket of every combo on a board as dealt."""
        if len(board) == FULL_BOARD:
            return self.bucketing.buckets(board, texture)
        key = board.tobytes(), texture
        if key not in self._known:
            self._known[key] = self.bucketing.buckets(board, texture)
        return self._known[key]
