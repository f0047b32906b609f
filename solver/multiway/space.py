"""Work space of the kernels: the hands of a deal, the places that a traversal visits, and the buckets of a board."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.multiway.deals import WIDTH, Deal, work_space
from solver.multiway.game import MultiwayGame
from solver.multiway.payoffs import Scratch, scratch

STREETS_AFTER_FLOP = 3
#: What a call counts: draws before the flop, own decisions before it, ends before it, nodes after it, own ones there.
COUNTERS = ("draws", "decisions", "ends", "later_nodes", "later_decisions")


class Hands(NamedTuple):
    """All hands that nobody blocks, from weakest to strongest, for play after the flop.

    ``lower[s]`` hands are weaker than the hand of seat s and ``upper[s]`` are not stronger. ``bucket[k, m]`` is the
    column of hand m on street k, ``drawn[s, k]`` that of the hand dealt to seat s. ``number[0]`` hands there are.
    """

    number: NDArray[np.int64]
    board: NDArray[np.uint8]
    strengths: NDArray[np.int16]
    order: NDArray[np.int16]
    strength: NDArray[np.int64]
    group: NDArray[np.int32]
    bucket: NDArray[np.int32]
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    drawn: NDArray[np.int64]


class Walk(NamedTuple):
    """Work space of a traversal: places visited, their actions, values by place, strategies, places to visit.

    Values of a place are by class or hand, where there are several continuations by continuation first.
    """

    node: NDArray[np.int64]
    action: NDArray[np.int64]
    value: NDArray[np.float32]
    share: NDArray[np.float32]
    total: NDArray[np.float32]
    pending: NDArray[np.int64]


class Space(NamedTuple):
    """Everything that `_play_deals` writes to while it works."""

    deal: Deal
    work: Scratch
    hands: Hands
    walk: Walk
    later: Walk


class Columns(NamedTuple):
    """Columns of the tables after the flop: ``size[k]`` buckets of a texture on street k, and by deal the buckets.

    ``bucket[d, k, combo]`` is within the texture ``texture[d]``. Both are empty where flops are checked down.
    """

    size: NDArray[np.int64]
    bucket: NDArray[np.uint16]
    texture: NDArray[np.int64]


NO_COLUMNS = Columns(
    np.zeros(STREETS_AFTER_FLOP, np.int64),
    np.zeros((0, STREETS_AFTER_FLOP, NUM_COMBOS), np.uint16),
    np.zeros(0, np.int64),
)


def new_walk(places: int, actions: int, values: tuple[int, ...], columns: int) -> Walk:
    """An empty work space; `values` is the shape of a place's values, `columns` the width of strategies."""
    return Walk(
        node=np.zeros(places, np.int64),
        action=np.zeros((places, actions), np.int64),
        value=np.zeros((places, *values), np.float32),
        share=np.zeros((actions, columns), np.float32),
        total=np.zeros(columns, np.float32),
        pending=np.zeros((places * actions + 1, 3), np.int64),
    )


def space_for(game: MultiwayGame, columns: int = 1) -> Space:
    """Work space for a game; `columns` is the largest number of buckets of a texture."""
    seats = game.seats
    whole = np.zeros
    hands = Hands(
        number=whole(1, np.int64),
        board=whole(5, np.uint8),
        strengths=whole(NUM_COMBOS, np.int16),
        order=whole(NUM_COMBOS, np.int16),
        strength=whole(NUM_COMBOS, np.int64),
        group=whole(NUM_COMBOS, np.int32),
        bucket=whole((STREETS_AFTER_FLOP, NUM_COMBOS), np.int32),
        lower=whole(seats, np.int64),
        upper=whole(seats, np.int64),
        drawn=whole((seats, STREETS_AFTER_FLOP), np.int64),
    )
    places, actions = (1, 1) if game.postflop is None else game.postflop.largest
    return Space(
        work_space(seats),
        scratch(seats),
        hands,
        new_walk(game.records, game.most_actions, (WIDTH,), WIDTH),
        new_walk(places, actions, (NUM_COMBOS if game.postflop is not None else 1,), columns),
    )
