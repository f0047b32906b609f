"""Work space of the kernels: the hands of a deal, the places that a traversal visits, and the deals themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.multiplayer.street_game import StreetGame
from solver.multiway.payoffs import Scratch, scratch
from solver.multiway.space import Walk, new_walk


class Hands(NamedTuple):
    """The own hands that nobody blocks, from weakest to strongest; see `solver.multiway.space.Hands`."""

    number: NDArray[np.int64]
    strengths: NDArray[np.int16]
    order: NDArray[np.int16]
    strength: NDArray[np.int64]
    combo: NDArray[np.int64]
    column: NDArray[np.int64]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    seat_strength: NDArray[np.int64]
    chosen: NDArray[np.int64]


class Space(NamedTuple):
    """Everything that the kernels write to while they work."""

    work: Scratch
    hands: Hands
    walk: Walk
    later: Walk


class Deals(NamedTuple):
    """Drawn deals: ``hand[d, s]`` is the combo of seat s, -1 for the player who holds all hands, ``board[d]`` the full
    board, and ``column[d, k]`` the columns of all combos on the street k after the flop (empty behind the river).
    """

    hand: NDArray[np.int64]
    board: NDArray[np.uint8]
    column: NDArray[np.int64]


def space_for(game: StreetGame) -> Space:
    """Work space for a street."""
    seats, whole = game.arrays.seats, np.zeros
    hands = Hands(
        number=whole(1, np.int64),
        strengths=whole(NUM_COMBOS, np.int16),
        order=whole(NUM_COMBOS, np.int16),
        strength=whole(NUM_COMBOS, np.int64),
        combo=whole(NUM_COMBOS, np.int64),
        column=whole((3, NUM_COMBOS), np.int64),
        lower=whole(seats, np.int64),
        upper=whole(seats, np.int64),
        seat_strength=whole(seats, np.int64),
        chosen=whole(seats, np.int64),
    )
    return Space(
        scratch(seats),
        hands,
        new_walk(game.places, game.most_actions, (1, NUM_COMBOS), NUM_COMBOS),
        new_walk(game.later_places, game.most_later_actions, (game.arrays.values, NUM_COMBOS), NUM_COMBOS),
    )
