"""What is dealt in a game of two players: hands, board, deck, and who wins on a full board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from solver.exact.folded_hands import FoldedHands

Strengths = Callable[[Sequence[int], NDArray[np.uint8]], NDArray[np.integer]]


@dataclass(frozen=True)
class CardGame:
    """What is dealt: the hands each player may hold, the board so far and the rest of the deck.

    Attributes
    ----------
    hands : two uint8 arrays [hand, 2]
        Cards of each player's hands; hands of one card have `NO_CARD` of their player second.
    weights : two float64 arrays
        Weight of each hand in its range.
    board : tuple of int
        Public cards at the root.
    deck : tuple of int
        Cards that chance may deal.
    num_deals : int
        Public cards still to come until the board is full.
    num_hole : int
        Private cards of one player.
    strengths : callable
        ``strengths(board, hands)`` ranks hands on a full board: higher wins, equal splits.
    folded : FoldedHands, optional
        What players who folded before may have held.
    """

    hands: tuple[NDArray[np.uint8], NDArray[np.uint8]]
    weights: tuple[NDArray[np.float64], NDArray[np.float64]]
    board: tuple[int, ...]
    deck: tuple[int, ...]
    num_deals: int
    num_hole: int
    strengths: Strengths
    folded: FoldedHands | None = None


class StrengthCache:
    """Strengths of all root hands of both players on a full board."""

    def __init__(self, game: CardGame) -> None:
        self.game = game
        self.known: dict[frozenset[int], tuple[NDArray[np.integer], NDArray[np.integer]]] = {}

    def __call__(self, board: tuple[int, ...], player: int) -> NDArray[np.integer]:
        key = frozenset(board)
        if key not in self.known:
            first, second = (self.game.strengths(board, hands) for hands in self.game.hands)
            self.known[key] = (first, second)
        return self.known[key][player]


def num_runouts(game: CardGame, dealt: int) -> int:
    """Run-outs that any two compatible hands can see after `dealt` of the game's cards."""
    unseen = len(game.deck) - dealt - 2 * game.num_hole
    return comb(unseen, game.num_deals - dealt)
