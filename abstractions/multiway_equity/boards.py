"""The full boards of a deal, up to the renamings of suits that change nothing about it."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.multiway_equity.deal import Deal


@njit(cache=True, nogil=True)
def _write_boards(deck: Any, known: Any, images: Any, boards: Any, weights: Any) -> int:
    """Write the lowest board of every class of run-outs with the size of its class; how many there are."""
    missing = 5 - known.shape[0]
    at = np.arange(missing)
    count = 0
    while True:
        own: Any = 0
        for i in range(missing):
            own |= 1 << np.int64(deck[at[i]])
        same = 0
        lowest = True
        for row in range(images.shape[0]):
            image: Any = 0
            for i in range(missing):
                image |= 1 << np.int64(images[row, deck[at[i]]])
            if image < own:
                lowest = False
                break
            same += image == own
        if lowest:
            for i in range(known.shape[0]):
                boards[count, i] = known[i]
            for i in range(missing):
                boards[count, known.shape[0] + i] = deck[at[i]]
            weights[count] = images.shape[0] // same
            count += 1
        # The next choice of cards in lexicographic order.
        place = missing - 1
        while place >= 0 and at[place] == deck.shape[0] - missing + place:
            place -= 1
        if place < 0:
            return count
        at[place] += 1
        for i in range(place + 1, missing):
            at[i] = at[i - 1] + 1


def full_boards(deal: Deal) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Boards of five cards, uint8 [B, 5], and how many real boards each stands for.

    A board that stands for others has the same counts of winners as they, because ranges and dead cards do not
    change under the renamings that lead to them.
    """
    deck, images = deal.deck(), deal.renamings
    most = comb(deck.size, deal.missing)
    boards = np.empty((most, 5), dtype=np.uint8)
    weights = np.empty(most, dtype=np.int64)
    count = _write_boards(deck, deal.board, images, boards, weights)
    return boards[:count].copy(), weights[:count].copy()
