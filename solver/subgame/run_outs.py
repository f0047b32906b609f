"""Fresh run-outs of a board, the next card dealt evenly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import Bucketing

FULL_BOARD = 5
#: Number of the kind of the next card, from a board that ends with it.
Kind = Callable[[NDArray[np.uint8]], int]


class RunOutDealer:
    """Deals run-outs of one board. The next cards come in rounds, each of which deals every card once.

    Cards of each kind are spread evenly over a round, so that any few run-outs in a row are a fair sample of all.

    Examples
    --------
    >>> dealer = RunOutDealer((0, 1, 2), np.random.default_rng(0))
    >>> boards = dealer.draw(49)
    >>> boards.shape, len(set(boards[:, 3].tolist()))
    ((49, 5), 49)
    """

    def __init__(self, board: Sequence[int], rng: np.random.Generator, kind: Kind | None = None) -> None:
        self.board = tuple(int(card) for card in board)
        self.rest = np.array([card for card in range(52) if card not in self.board], dtype=np.uint8)
        self._rng = rng
        self._waiting: list[int] = []
        kinds = [0 if kind is None else kind(np.array([*self.board, card])) for card in self.rest]
        self._by_kind = [self.rest[np.array(kinds) == number] for number in sorted(set(kinds))]

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
                self._waiting = self._round()
            row[known] = self._waiting.pop()
            if known + 1 < FULL_BOARD:
                later = self.rest[self.rest != row[known]]
                row[known + 1 :] = self._rng.choice(later, FULL_BOARD - known - 1, replace=False)
        return boards

    def _round(self) -> list[int]:
        """All next cards: the j-th of n cards of a kind lies at a random point of the j-th of n equal parts."""
        parts = [self._rng.permutation(cards) for cards in self._by_kind]
        if len(parts) == 1:
            return parts[0].tolist()
        points = [(np.arange(len(cards)) + self._rng.random(len(cards))) / len(cards) for cards in parts]
        return np.concatenate(parts)[np.argsort(np.concatenate(points))].tolist()


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
