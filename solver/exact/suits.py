"""Suits that may be exchanged without changing a game, and what becomes of hands then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS, hand_numbers
from abstractions.isomorphism import permute_cards
from solver.exact.card_game import CardGame
from solver.exact.hand_tables import hand_places

#: A hand that equivalent suits turn into another one of its board: its place, and the place of the first such hand.
MIRROR = np.dtype([("target", np.int16), ("source", np.int16)], align=True)


def exchange_of(first: int, second: int) -> NDArray[np.uint8]:
    """The renaming of suits that exchanges two of them."""
    suits = np.arange(4, dtype=np.uint8)
    suits[[first, second]] = second, first
    return suits


def exchange(cards: NDArray[np.uint8], first: int, second: int) -> NDArray[np.uint8]:
    """Cards with two suits exchanged; what is no card stays."""
    return np.where(cards < NUM_CARDS, permute_cards(cards, exchange_of(first, second)), cards)


def equivalent_suits(game: CardGame) -> tuple[tuple[int, ...], ...]:
    """Classes of suits that may be exchanged without changing the root's board, deck and ranges."""
    classes: list[list[int]] = []
    for suit in range(4):
        for members in classes:
            if _is_symmetric(game, members[0], suit):
                members.append(suit)
                break
        else:
            classes.append([suit])
    return tuple(tuple(members) for members in classes)


def _is_symmetric(game: CardGame, first: int, second: int) -> bool:
    for cards in (game.board, game.deck):
        own = np.array(cards, dtype=np.uint8)
        if set(exchange(own, first, second).tolist()) != set(own.tolist()):
            return False
    for hands, weights in zip(game.hands, game.weights):
        numbers = hand_numbers(hands)
        swapped = hand_numbers(exchange(hands, first, second))
        order, swapped_order = np.argsort(numbers), np.argsort(swapped)
        if not np.array_equal(numbers[order], swapped[swapped_order]):
            return False
        if not np.array_equal(weights[order], weights[swapped_order]):
            return False
    renamed = exchange(np.arange(NUM_CARDS, dtype=np.uint8), first, second)
    return game.folded is None or game.folded.is_unchanged_by(renamed)


def suit_swaps(suits: tuple[tuple[int, ...], ...]) -> list[tuple[int, int]]:
    """The exchanges that turn each dealt suit into its equivalents."""
    return [(members[0], other) for members in suits for other in members[1:]]


def swapped_places(cards: NDArray[np.uint8], first: int, second: int) -> NDArray[np.int16]:
    found = hand_places(cards, -1)[hand_numbers(exchange(cards, first, second))]
    if (found < 0).any():
        raise ValueError("suits that are not alike: a hand has no image among the hands")
    return found


def mirrors_of(swaps: list[NDArray[np.int16]], count: int) -> NDArray[np.void]:
    """Hands that are not the first of those that the exchanges turn into one another, as `MIRROR`."""
    first = np.arange(count, dtype=np.int16)
    changed = True
    while changed:
        lower = np.minimum.reduce([first, *(first[swap] for swap in swaps)])
        changed = not np.array_equal(lower, first)
        first = lower
    target = np.flatnonzero(first != np.arange(count))
    table = np.empty(len(target), dtype=MIRROR)
    table["target"], table["source"] = target, first[target]
    return table
