"""No abstraction: a bucket for each hand on each of some boards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS


class EveryHand:
    """The solver's `Bucketing` in which hands are their own buckets, on the streets of some full boards.

    Parameters
    ----------
    boards
        Full boards as dealt, uint8 [n, 5]. The order of the flop's cards does not matter.
    """

    def __init__(self, boards: NDArray[np.uint8]) -> None:
        self._numbers: list[dict[bytes, int]] = [{}, {}, {}]
        self._boards: list[list[NDArray[np.uint8]]] = [[], [], []]
        for board in boards:
            for street in range(3):
                public = board[: 3 + street]
                if self._key(public) not in self._numbers[street]:
                    self._numbers[street][self._key(public)] = len(self._boards[street])
                    self._boards[street].append(public)
        flop, turn, river = (NUM_COMBOS * len(known) for known in self._boards)
        self.num_buckets = (flop, turn, river)

    @staticmethod
    def _key(board: NDArray[np.uint8]) -> bytes:
        return bytes(sorted(board[:3].tolist())) + bytes(board[3:])

    def boards(self, street: int) -> list[NDArray[np.uint8]]:
        """The public cards of a street (0 flop .. 2 river), in the order of their buckets: 1,326 each."""
        return self._boards[street]

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """Bucket of every combo on a board; the same for every texture."""
        return np.arange(NUM_COMBOS) + NUM_COMBOS * self._numbers[len(board) - 3][self._key(board)]
