"""All run-outs of a flop, up to renamings of the suits that the flop does not distinguish."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.isomorphism import SUIT_PERMUTATIONS

#: Turns of a flop, rivers of a turn.
NUM_TURNS, NUM_RIVERS = 49, 48


def keeping_renamings(flop: NDArray, later: NDArray | tuple[int, ...] = ()) -> NDArray[np.intp]:
    """Rows of `SUIT_PERMUTATIONS` that keep the set of flop cards and each later card.

    >>> from abstractions.cards import parse_cards
    >>> [len(keeping_renamings(parse_cards(flop))) for flop in ("2c7dKh", "2c7cKh", "2c7cKc", "7c7dKh", "7c7d7h")]
    [1, 2, 6, 2, 6]
    """
    cards, drawn = np.sort(flop), np.asarray(later, dtype=np.uint8)
    same_flop = (np.sort(_renamed(cards), axis=1) == cards).all(axis=1)
    return np.flatnonzero(same_flop & (_renamed(drawn) == drawn).all(axis=1))


def _renamed(cards: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cards under every renaming of suits, ``[renaming, card]``."""
    return (cards & ~np.uint8(3)) | SUIT_PERMUTATIONS[:, cards & 3]


def _orbits(flop: NDArray, later: tuple[int, ...]) -> dict[int, int]:
    """Next cards, one of each set that the renamings exchange, with the size of the set."""
    rest = np.setdiff1d(np.arange(52, dtype=np.uint8), np.array([*flop, *later], dtype=np.uint8))
    lowest = _renamed(rest)[keeping_renamings(flop, later)].min(axis=0)
    cards, counts = np.unique(lowest, return_counts=True)
    return dict(zip(cards.tolist(), counts.tolist()))


def all_run_outs(flop: NDArray) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Full boards that stand for the 49 x 48 run-outs of a flop, and how many each stands for.

    Of turns that a renaming of suits exchanges and that keeps the flop, one is listed; likewise of the rivers of a
    turn.

    >>> from abstractions.cards import parse_cards
    >>> [len(all_run_outs(parse_cards(flop))[0]) for flop in ("2c7dKh", "2c7cKh", "2c7cKc")]
    [2352, 1429, 675]
    """
    cards = np.sort(np.asarray(flop, dtype=np.uint8))
    boards, counts = [], []
    for turn, turns in _orbits(cards, ()).items():
        for river, rivers in _orbits(cards, (turn,)).items():
            boards.append([*cards.tolist(), turn, river])
            counts.append(float(turns * rivers))
    return np.array(boards, dtype=np.uint8), np.array(counts)
