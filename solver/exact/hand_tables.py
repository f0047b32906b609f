"""Records of the hands that a player may hold on a board, as the kernels read them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_HAND_NUMBERS, hand_numbers
from solver.cfr.simd import WIDTH

#: A player's hands on a board: how many, the same rounded up to full vectors, and where its parts start in the
#: arrays of `Side` and in the player's tables. `allin` is the start of its all-in matrix, -1 for none.
HANDS = np.dtype(
    [
        ("count", np.int32),
        ("pad", np.int32),
        ("hands", np.int32),
        ("hands_end", np.int32),
        ("runs", np.int32),
        ("runs_end", np.int32),
        ("groups", np.int32),
        ("groups_end", np.int32),
        ("mirrors", np.int32),
        ("mirrors_end", np.int32),
        ("swaps", np.int64),
        ("allin", np.int64),
        ("table", np.int64),
        ("clock", np.int64),
    ],
    align=True,
)
#: A hand of a board, in order of strength (before the last street, as they come): its place in the rows, its
#: cards, and the opponent's hand of the same cards (or a row that is always zero).
HAND = np.dtype(
    [("place", np.int16), ("same", np.int16), ("card1", np.uint8), ("card2", np.uint8)], align=True
)
#: Own hands of equal strength up to `own_end`: they beat the opponent's hands up to `below`, tie up to `upto`.
GROUP = np.dtype([("own_end", np.int16), ("below", np.int16), ("upto", np.int16)], align=True)


def padded(count: int) -> int:
    """`count` rounded up to full vectors, and at least one."""
    return max(WIDTH, -(-count // WIDTH) * WIDTH)


def hand_places(hands: NDArray[np.uint8], nobody: int) -> NDArray[np.int16]:
    """Place of each hand by its number; `nobody` for a hand that is not there."""
    places = np.full(NUM_HAND_NUMBERS, nobody, dtype=np.int16)
    places[hand_numbers(hands)] = np.arange(len(hands))
    return places


def hand_table(
    own: NDArray[np.uint8], opp: NDArray[np.uint8], order: NDArray[np.integer], nobody: int
) -> NDArray[np.void]:
    """Hands in `order`, as `HAND`; `nobody` is the place of a hand that the opponent does not hold."""
    place = hand_places(opp, nobody)
    table = np.empty(len(own), dtype=HAND)
    table["place"], table["same"] = order, place[hand_numbers(own[order])]
    table["card1"], table["card2"] = own[order].T
    return table


def single_board(
    own: NDArray[np.uint8],
    opp: NDArray[np.uint8],
    own_strength: NDArray[np.integer],
    opp_strength: NDArray[np.integer],
    nobody: int,
) -> tuple[NDArray[np.void], NDArray[np.void], NDArray[np.void]]:
    """Hands of both players on one board: their sizes as `HANDS`, and each player's hands by strength."""
    sizes = np.zeros(2, dtype=HANDS)
    sizes["count"] = sizes["hands_end"] = len(own), len(opp)
    own_order = np.argsort(own_strength, kind="stable")
    opp_order = np.argsort(opp_strength, kind="stable")
    return sizes, hand_table(own, opp, own_order, nobody), hand_table(opp, own, opp_order, nobody)


def strength_groups(own: NDArray[np.integer], opp: NDArray[np.integer]) -> NDArray[np.void]:
    """Groups of equal strength, as `GROUP`, from the sorted strengths of both players."""
    values, firsts = np.unique(own, return_index=True)
    table = np.empty(len(values), dtype=GROUP)
    table["own_end"] = np.append(firsts[1:], len(own))
    table["below"] = np.searchsorted(opp, values, side="left")
    table["upto"] = np.searchsorted(opp, values, side="right")
    return table
