"""Cards, combos and hand classes: their numbers, and their names as text.

A card is ``4 * rank + suit`` (rank 0 is the deuce, suits in the order c d h s). A combo, two hole cards, is
the lexicographic index 0..1325 of its ascending pair. A hand class is an index 0..168 into the 13 x 13 grid
in row-major order, ace first, suited hands above the diagonal and offsuit hands below it.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from abstractions.streets import PUBLIC_CARDS

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 52
NUM_COMBOS = 1326
NUM_CLASSES = 169


#: More numbers than there are cards, for hands in which some stand for no card.
_CODES = 64
#: More than any value of `hand_numbers`.
NUM_HAND_NUMBERS = _CODES * _CODES


def hand_class(first: int, second: int) -> int:
    """Grid index of the hand class of two cards.

    >>> CLASS_NAMES[hand_class(parse_card("Kh"), parse_card("Ah"))]
    'AKs'
    """
    high, low = 12 - max(first, second) // 4, 12 - min(first, second) // 4
    return 13 * high + low if first % 4 == second % 4 else 13 * low + high


def _class_name(index: int) -> str:
    row, column = divmod(index, 13)
    high, low = RANKS[12 - min(row, column)], RANKS[12 - max(row, column)]
    return high + low + ("" if row == column else "s" if row < column else "o")


def _frozen(array: NDArray) -> NDArray:
    array.setflags(write=False)
    return array


_PAIRS = list(combinations(range(NUM_CARDS), 2))


def _combo_index_table() -> NDArray[np.int16]:
    table = np.full((NUM_CARDS, NUM_CARDS), -1, dtype=np.int16)
    for index, (low, high) in enumerate(_PAIRS):
        table[low, high] = table[high, low] = index
    return table


#: Ascending card pair of every combo, uint8 [1326, 2].
COMBO_CARDS: NDArray[np.uint8] = _frozen(np.array(_PAIRS, dtype=np.uint8))
#: Combo of two cards in either order, int16 [52, 52], -1 on the diagonal.
COMBO_INDEX: NDArray[np.int16] = _frozen(_combo_index_table())
#: Hand class of every combo, int16 [1326].
CLASS_OF_COMBO: NDArray[np.int16] = _frozen(np.array([hand_class(*pair) for pair in _PAIRS], dtype=np.int16))
#: Names of the hand classes in grid order: AA, AKs, ..., 22.
CLASS_NAMES: tuple[str, ...] = tuple(_class_name(index) for index in range(NUM_CLASSES))
#: Number of combos of every hand class: 6 for a pair, 4 suited, 12 offsuit.
CLASS_COMBOS: NDArray[np.int64] = _frozen(np.bincount(CLASS_OF_COMBO, minlength=NUM_CLASSES).astype(np.int64))


def parse_card(text: str) -> int:
    """Card of a two-letter name.

    >>> parse_card("2c"), parse_card("As")
    (0, 51)
    """
    token = text.strip()
    if len(token) == 2:
        rank, suit = RANKS.find(token[0].upper()), SUITS.find(token[1].lower())
        if rank >= 0 and suit >= 0:
            return 4 * rank + suit
    raise ValueError(f"card {token!r}: expected a rank of {RANKS} and a suit of {SUITS}, such as 'Qs'")


def parse_cards(text: str) -> NDArray[np.uint8]:
    """Cards in the order written; spaces and commas between them are optional.

    >>> parse_cards("2c 3d,As").tolist()
    [0, 5, 51]
    """
    letters = "".join(text.replace(",", " ").split())
    cards: list[int] = []
    for start in range(0, len(letters), 2):
        card = parse_card(letters[start : start + 2])
        if card in cards:
            raise ValueError(f"card {format_card(card)!r} appears twice in {text.strip()!r}")
        cards.append(card)
    return np.array(cards, dtype=np.uint8)


def parse_board(text: str) -> NDArray[np.uint8]:
    """Community cards in the order written: none, three, four or five.

    >>> parse_board("QsJh2h").tolist()
    [43, 38, 2]
    """
    board = parse_cards(text)
    if board.size not in PUBLIC_CARDS:
        raise ValueError(f"board {text.strip()!r} has {board.size} cards: expected 0, 3, 4 or 5")
    return board


def check_board(board: NDArray) -> NDArray[np.uint8]:
    """Board array as uint8, refused unless it holds 0, 3, 4 or 5 different cards."""
    cards = np.asarray(board)
    if cards.ndim != 1 or cards.size not in PUBLIC_CARDS:
        raise ValueError(f"board of shape {cards.shape}: expected 0, 3, 4 or 5 cards")
    if cards.size and (cards.min() < 0 or cards.max() >= NUM_CARDS):
        raise ValueError(f"board {cards.tolist()}: cards are numbers from 0 to 51")
    if len(set(cards.tolist())) != cards.size:
        raise ValueError(f"board {cards.tolist()} holds a card twice")
    return cards.astype(np.uint8)


def format_card(card: int) -> str:
    """Two-letter name of a card.

    >>> format_card(51)
    'As'
    """
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card {card}: expected a number from 0 to 51")
    return RANKS[card // 4] + SUITS[card % 4]


def format_cards(cards: NDArray | list[int] | tuple[int, ...]) -> str:
    """Names of cards, one after the other, in the order given.

    >>> format_cards([43, 38, 2])
    'QsJh2h'
    """
    return "".join(format_card(int(card)) for card in cards)


def parse_combo(text: str) -> int:
    """Combo of two card names in either order.

    >>> parse_combo("KhAh") == parse_combo("AhKh")
    True
    """
    cards = parse_cards(text)
    if cards.size != 2:
        raise ValueError(f"hand {text.strip()!r} has {cards.size} cards: expected two, such as 'AhKh'")
    return int(COMBO_INDEX[cards[0], cards[1]])


def format_combo(index: int) -> str:
    """Name of a combo, higher card first.

    >>> format_combo(1325)
    'AsAh'
    """
    if not 0 <= index < NUM_COMBOS:
        raise ValueError(f"combo {index}: expected a number from 0 to 1325")
    low, high = COMBO_CARDS[index]
    return format_card(int(high)) + format_card(int(low))


@cache
def hole_names() -> tuple[str, ...]:
    """Name of every combo as the keys of off-path tables write it, lower card first.

    >>> hole_names()[1325]
    'AhAs'
    """
    return tuple(format_cards(pair) for pair in COMBO_CARDS)


def live_combos(board: NDArray) -> NDArray[np.bool_]:
    """Mask of the combos that share no card with the given cards, bool [1326].

    >>> int(live_combos(parse_board("QsJh2h8d3c")).sum())
    1081
    """
    dead = np.zeros(NUM_CARDS, dtype=np.bool_)
    dead[np.asarray(board, dtype=np.intp)] = True
    return ~(dead[COMBO_CARDS[:, 0]] | dead[COMBO_CARDS[:, 1]])


def disjoint_weight(
    weights: NDArray[np.floating],
    others: NDArray[np.uint8] = COMBO_CARDS,
    hands: NDArray[np.uint8] = COMBO_CARDS,
) -> NDArray[np.float64]:
    """Card removal: the weight of the other hands that share no card with each hand.

    All weight, less that of the hands with the first card, less that of the hands with the second card, plus that
    of the same hand, which was taken off twice.

    Parameters
    ----------
    weights
        Of each of the other hands.
    others, hands
        Cards of the other hands and of the hands that are asked for, ``[n, 2]``; by default all combos. A number
        from 52 on stands for no card.

    Examples
    --------
    >>> float(disjoint_weight(np.ones(NUM_COMBOS))[0])
    1225.0
    """
    by_card = np.zeros(_CODES)
    for side in range(2):
        np.add.at(by_card, others[:, side], weights)
    by_card[NUM_CARDS:] = 0.0
    same = np.zeros(NUM_HAND_NUMBERS)
    np.add.at(same, hand_numbers(others), weights)
    same.reshape(_CODES, _CODES)[:, NUM_CARDS:] = 0.0
    left = np.sum(weights) - by_card[hands[:, 0]] - by_card[hands[:, 1]] + same[hand_numbers(hands)]
    # A weight is never negative; a difference of sums may be, by rounding.
    return np.maximum(left, 0.0)


def hand_numbers(hands: NDArray[np.uint8]) -> NDArray[np.int64]:
    """A number for each pair of cards, whatever their order; cards may be numbers up to 63."""
    first, second = hands[:, 0], hands[:, 1]
    return _CODES * np.minimum(first, second).astype(np.int64) + np.maximum(first, second)
