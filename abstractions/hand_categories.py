"""What a hand has made on a board, and what it draws to, in the words that players use.

A hand is named by what its own two cards add: on K 5 5 a queen and a jack have made nothing, although every hand
there holds the pair of the board.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_COMBOS, check_board, live_combos
from abstractions.evaluator import CATEGORIES, category_index, evaluate

#: From the strongest down.
MADE_HANDS = (
    "straight flush",
    "quads",
    "full house",
    "flush",
    "straight",
    "set",
    "trips",
    "two pair",
    "overpair",
    "top pair",
    "pocket pair",
    "second pair",
    "low pair",
    "ace high",
    "no pair",
)
#: From the best down. A combo draw is a flush draw with a straight draw.
DRAWS = ("combo draw", "flush draw", "open-ended", "gutshot", "backdoor flush", "no draw")
#: What stands in both lists for a combo that the board blocks.
BLOCKED = -1

_ACE = 12
_RANK = COMBO_CARDS // 4
_SUIT = COMBO_CARDS % 4
#: Ranks of each straight as bits; the ace also plays below the two.
_STRAIGHTS = [sum(1 << (rank % 13) for rank in range(low, low + 5)) for low in range(-1, 9)]


def made_hands(board: NDArray) -> NDArray[np.int64]:
    """What every combo has made on three to five cards, as positions in `MADE_HANDS`, [1326]; -1 if blocked.

    >>> from abstractions.cards import parse_board, parse_combo
    >>> made = made_hands(parse_board("Ks5h5d"))
    >>> [MADE_HANDS[made[parse_combo(hand)]] for hand in ("AhAd", "KhQh", "QhQd", "5c4c", "AcQc", "QcJc")]
    ['overpair', 'top pair', 'pocket pair', 'trips', 'ace high', 'no pair']
    """
    cards = _postflop(board)
    live = np.flatnonzero(live_combos(cards))
    full = np.column_stack([COMBO_CARDS[live], np.tile(cards, (len(live), 1))])
    best = category_index(evaluate(full))
    own = _by_ranks(lambda high, low: _own_part(high, low, cards // 4))[live]
    names = np.array([MADE_HANDS.index(name) if name in MADE_HANDS else -1 for name in CATEGORIES])
    strong = best >= CATEGORIES.index("straight")
    result = np.full(NUM_COMBOS, BLOCKED, dtype=np.int64)
    result[live] = np.where(strong, names[best], own)
    return result


def draws(board: NDArray) -> NDArray[np.int64]:
    """What every combo draws to on a flop or a turn, as positions in `DRAWS`, [1326]; -1 if blocked.

    On the river, and with a straight or better, there is nothing to draw to.

    >>> from abstractions.cards import parse_board, parse_combo
    >>> found = draws(parse_board("Qs9h2h"))
    >>> [DRAWS[found[parse_combo(hand)]] for hand in ("Ah7h", "JcTc", "KcJc", "ThJh", "As7s", "Ac7d")]
    ['flush draw', 'open-ended', 'gutshot', 'combo draw', 'backdoor flush', 'no draw']
    """
    cards = _postflop(board)
    live = np.flatnonzero(live_combos(cards))
    result = np.full(NUM_COMBOS, BLOCKED, dtype=np.int64)
    result[live] = DRAWS.index("no draw")
    if len(cards) == 5:
        return result
    drawing = live[made_hands(cards)[live] > MADE_HANDS.index("straight")]
    on_board = np.bincount(cards % 4, minlength=4)
    suited = (_SUIT[drawing][:, :, None] == np.arange(4)).sum(axis=1)
    reached = np.where(suited > 0, suited + on_board, 0).max(axis=1, initial=0)
    flush = reached == 4
    backdoor = (reached == 3) & (len(cards) == 3)
    outs = _by_ranks(lambda high, low: _straight_outs(high, low, cards // 4))[drawing]
    for chosen, name in (
        (backdoor, "backdoor flush"),
        (outs == 1, "gutshot"),
        (outs >= 2, "open-ended"),
        (flush, "flush draw"),
        (flush & (outs >= 1), "combo draw"),
    ):
        result[drawing[chosen]] = DRAWS.index(name)
    return result


def _postflop(board: NDArray) -> NDArray[np.uint8]:
    cards = check_board(np.asarray(board))
    if len(cards) < 3:
        raise ValueError(f"board of {len(cards)} cards: hands are named on three, four or five")
    return cards


def _by_ranks(measure: Callable[[int, int], int]) -> NDArray[np.int64]:
    """A measure of two ranks, the higher first, for every combo: it is taken once for each pair of ranks."""
    table = np.zeros((13, 13), dtype=np.int64)
    for high in range(13):
        for low in range(high + 1):
            table[high, low] = measure(high, low)
    return table[_RANK.max(axis=1), _RANK.min(axis=1)]


def _own_part(high: int, low: int, board: NDArray[np.uint8]) -> int:
    """What two ranks add to those of a board, below a straight."""
    there = np.bincount(board, minlength=13)
    ranks = np.unique(board)[::-1].tolist()
    if high == low:
        if there[high]:
            name = "set"
        else:
            name = "overpair" if high > ranks[0] else "pocket pair"
    elif there[high] == 2 or there[low] == 2:
        name = "trips"
    elif there[high] and there[low]:
        name = "two pair"
    elif there[high] or there[low]:
        place = ranks.index(high if there[high] else low)
        name = ("top pair", "second pair")[place] if place < 2 else "low pair"
    else:
        name = "ace high" if high == _ACE else "no pair"
    return MADE_HANDS.index(name)


def _straight_outs(high: int, low: int, board: NDArray[np.uint8]) -> int:
    """Number of ranks that make a straight which the board and that rank alone do not make."""
    public = sum(1 << rank for rank in set(board.tolist()))
    held = public | 1 << high | 1 << low
    outs = 0
    for rank in range(13):
        card = 1 << rank
        if held & card:
            continue
        outs += any(
            straight & (held | card) == straight and straight & (public | card) != straight
            for straight in _STRAIGHTS
        )
    return outs
