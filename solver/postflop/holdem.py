"""Hold'em as a `CardGame`: ranges and a board become hands and a deck."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    COMBO_CARDS,
    COMBO_INDEX,
    NUM_CARDS,
    NUM_COMBOS,
    format_cards,
    live_combos,
    parse_board,
)
from abstractions.evaluator import _board_strengths
from abstractions.ranges import check_weights, parse_range
from solver.exact.card_game import CardGame
from solver.exact.folded_hands import MAX_FOLDED, FoldedHands

#: Public cards of a full board.
BOARD_CARDS = 5


def read_board(board: str | Sequence[int] | NDArray[np.integer]) -> tuple[int, ...]:
    """A postflop board from text or cards.

    Raises
    ------
    ValueError
        Unless it has three, four or five different cards.
    """
    try:
        cards = parse_board(board if isinstance(board, str) else format_cards([int(card) for card in board]))
    except ValueError as error:
        raise ValueError(f"board: {error}") from None
    if len(cards) < 3:
        raise ValueError(f"board: {len(cards)} cards; accepted: 3 (flop), 4 (turn) or 5 (river)")
    return tuple(int(card) for card in cards)


def read_range(name: str, value: str | NDArray[np.floating]) -> NDArray[np.float64]:
    """Weights of all 1,326 combos from range text or an array; `name` is what errors call it."""
    try:
        weights = parse_range(value) if isinstance(value, str) else check_weights(np.asarray(value))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return np.asarray(weights, dtype=np.float64)


def read_folded(ranges: Sequence[str | NDArray[np.floating]] | None) -> FoldedHands | None:
    """What folded players may have held, from their ranges; None without any.

    Raises
    ------
    ValueError
        If there are too many, or one is empty.
    """
    if not ranges:
        return None
    if len(ranges) > MAX_FOLDED:
        raise ValueError(f"folded_ranges: {len(ranges)} ranges; accepted: up to {MAX_FOLDED}")
    matrices = []
    for number, text in enumerate(ranges):
        weights = read_range(f"folded_ranges[{number}]", text)
        if not (weights > 0.0).any():
            raise ValueError(f"folded_ranges[{number}]: the range is empty")
        matrix = np.zeros((NUM_CARDS, NUM_CARDS))
        matrix[COMBO_CARDS[:, 0], COMBO_CARDS[:, 1]] = weights
        matrices.append(matrix + matrix.T)
    return FoldedHands(matrices)


def holdem_game(
    board: tuple[int, ...],
    oop_range: NDArray[np.float64],
    ip_range: NDArray[np.float64],
    folded: FoldedHands | None = None,
    *,
    every_hand: bool = False,
) -> CardGame:
    """Two ranges on a board, with the cards to come.

    Parameters
    ----------
    folded
        What players who folded may have held.
    every_hand
        Keep the hands of weight zero, too, so that they have values.

    Raises
    ------
    ValueError
        If a range is empty on the board, or no two hands can be dealt together.
    """
    live = live_combos(np.array(board, dtype=np.uint8))
    combos = []
    for name, weights in (("oop_range", oop_range), ("ip_range", ip_range)):
        if not (weights > 0.0).any():
            raise ValueError(f"{name}: the range is empty")
        held = np.flatnonzero((weights > 0.0) & live)
        if len(held) == 0:
            raise ValueError(f"{name}: every hand is blocked by the board {format_cards(list(board))}")
        combos.append(np.flatnonzero(live) if every_hand else held)
    hands = (COMBO_CARDS[combos[0]].copy(), COMBO_CARDS[combos[1]].copy())
    if all(set(first.tolist()) & set(second.tolist()) for first in hands[0] for second in hands[1]):
        raise ValueError("ranges: no hand of oop_range can be dealt together with one of ip_range")
    return CardGame(
        hands=hands,
        weights=(oop_range[combos[0]], ip_range[combos[1]]),
        board=board,
        deck=tuple(card for card in range(NUM_CARDS) if card not in board),
        num_deals=BOARD_CARDS - len(board),
        num_hole=2,
        strengths=_strengths,
        folded=folded,
    )


def _strengths(board: Sequence[int], hands: NDArray[np.uint8]) -> NDArray[np.int16]:
    strengths = np.empty(NUM_COMBOS, dtype=np.int16)
    _board_strengths(np.array(board, dtype=np.uint8), strengths)
    return strengths[COMBO_INDEX[hands[:, 0], hands[:, 1]]]
