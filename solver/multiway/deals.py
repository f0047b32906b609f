"""Deals by number: real cards for every seat, and how all other hands of a seat compare with them.

A deal is a function of a seed and a number, and so is every action that is drawn on it. So deals can be played in
any order and on any machine. Folded hands hold real cards too, so they remove them from the deck.

One deal serves every seat in turn. The seat that learns holds all hands that avoid every card dealt, its own drawn
hand included: that hand is uniform among the rest, so no hand is favoured. The hands are counted by class and by the
number of dealt hands that they beat, once for all seats.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS
from abstractions.evaluator import _flush_strength, _rank_strength

#: Columns of a row of hand classes: 169 and padding, so that rows fill whole vector registers.
WIDTH = 176
BOARD_CARDS = 5


class Deck(IntEnum):
    """What is dealt, and what wins.

    `HOLDEM` is the game. `HOLE_CARDS` has no board: pairs beat high cards, then the cards decide. `ONE_CARD` deals one
    card from a small deck of `ranks` times `suits` cards, as Kuhn poker does.
    """

    HOLDEM = 0
    HOLE_CARDS = 1
    ONE_CARD = 2


class Cards(NamedTuple):
    """The deck as the kernels read it.

    ``ranks`` and ``suits`` are those of a deck of which each seat gets one card. Where ``boards`` has rows, one of them
    is drawn before the hands, by the sums ``chance`` of their probabilities; otherwise any cards may come.
    """

    kind: int
    ranks: int
    suits: int
    boards: NDArray[np.uint8]
    chance: NDArray[np.float64]


_NO_BOARDS = np.zeros((0, BOARD_CARDS), np.uint8)


def cards_of(
    deck: Deck = Deck.HOLDEM,
    *,
    ranks: int = 13,
    suits: int = 4,
    boards: NDArray[np.uint8] = _NO_BOARDS,
    weights: NDArray[Any] | None = None,
) -> Cards:
    """A deck; `boards` and `weights` restrict hold'em to some boards."""
    chance = np.zeros(0)
    if weights is not None and len(boards):
        chance = np.cumsum(np.asarray(weights, np.float64))
        chance /= chance[-1]
    return Cards(int(deck), ranks, suits, np.ascontiguousarray(boards), chance)


HOLDEM = cards_of()


class Deal(NamedTuple):
    """Work space for one deal.

    ``cards`` holds the board, then the hand of each seat. ``hand`` is the class of each seat's hand and ``strength``
    its strength. Seats from weakest to strongest have ``position`` 1, 2, ..; seats that tie share the ``group``, the
    position of the first of them less one. ``live[c]`` counts the hands of class c that nobody blocks, ``better[p, c]``
    those that beat the p weakest seats, and ``tied[g, c]`` those that tie with group g.
    """

    cards: NDArray[np.int64]
    hand: NDArray[np.int64]
    strength: NDArray[np.int64]
    position: NDArray[np.int64]
    group: NDArray[np.int64]
    order: NDArray[np.int64]
    sorted_strength: NDArray[np.int64]
    pair_strength: NDArray[np.int64]
    live: NDArray[np.float32]
    better: NDArray[np.float32]
    tied: NDArray[np.float32]


_SUITS_HELD = np.array([bin(mask).count("1") for mask in range(16)], np.int64)


@njit(cache=True, inline="always")
def _mix(number: Any) -> Any:
    """The output function of splitmix64: one well mixed word for each number."""
    z = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, inline="always")
def _deal_key(seed: Any, number: Any) -> Any:
    """The word that all cards and actions of a deal come from."""
    start = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
    return _mix(_mix(start) + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15))


@njit(cache=True, inline="always")
def _uniform(key: Any, seat: Any, node: Any) -> Any:
    """A number in [0, 1) for the action at a node while `seat` learns."""
    place = np.uint64(seat + 1) * np.uint64(0xA0761D6478BD642F)
    step = np.uint64(node + 1) * np.uint64(0xE7037ED1A0B428DB)
    word = _mix(key + place + step)
    return np.float32(word >> np.uint64(40)) * np.float32(1.0 / 16777216.0)


@njit(cache=True)
def _draw_cards(key: Any, drawn: Any, count: Any, mask: Any, deck: Any, cards: Any) -> Any:
    """Fill the cards from `drawn` up to `count` with others than those of `mask`; returns the mask of all."""
    step = key
    while drawn < count:
        step += np.uint64(0x9E3779B97F4A7C15)
        word = _mix(step)
        card = np.int64(((word >> np.uint64(32)) * np.uint64(deck)) >> np.uint64(32))
        if (mask >> card) & 1:
            continue
        mask |= np.int64(1) << card
        cards[drawn] = card
        drawn += 1
    return mask


@njit(cache=True)
def _draw_board(key: Any, cards: Any, drawn: Any) -> Any:
    """Draw the five cards of the board; returns their mask."""
    if cards.boards.shape[0] == 0:
        return _draw_cards(key, 0, BOARD_CARDS, np.int64(0), np.int64(NUM_CARDS), drawn)
    chance = np.float64(_mix(~key) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
    board = min(np.searchsorted(cards.chance, chance, side="right"), cards.boards.shape[0] - 1)
    mask = np.int64(0)
    for k in range(BOARD_CARDS):
        drawn[k] = cards.boards[board, k]
        mask |= np.int64(1) << drawn[k]
    return mask


@njit(cache=True, inline="always")
def _class_of(low: Any, high: Any) -> Any:
    """Hand class of two cards, ``low < high``: 13 x 13, ace first, suited above the diagonal."""
    first = 12 - (high >> 2)
    second = 12 - (low >> 2)
    return 13 * first + second if (low & 3) == (high & 3) else 13 * second + first


@njit(cache=True, inline="always")
def _rank_pair(low: Any, high: Any) -> Any:
    """Number of two ranks, ``low <= high``, among the 91 pairs of ranks."""
    return low * (27 - low) // 2 + high - low


@njit(cache=True)
def _strength_of(low: Any, high: Any, pair_strength: Any, suit: Any, held: Any, ranks: Any) -> Any:
    """Strength of two cards on a board that has `held` cards of `suit`, with these `ranks`."""
    if held >= 3:
        mask, count = ranks, held
        if (low & 3) == suit:
            mask |= np.int64(1) << (low >> 2)
            count += 1
        if (high & 3) == suit:
            mask |= np.int64(1) << (high >> 2)
            count += 1
        if count >= 5:
            return np.int64(_flush_strength(mask))
    return np.int64(pair_strength[_rank_pair(low >> 2, high >> 2)])


@njit(cache=True)
def _count_hand(strength: Any, seats: Any, deal: Any, hand: Any, count: Any) -> None:
    """Count `count` hands of a class by the seats that they beat, and whether they tie with one."""
    beaten = 0
    ties = False
    for k in range(seats):
        beaten += deal.sorted_strength[k] < strength
        ties |= deal.sorted_strength[k] == strength
    deal.better[beaten, hand] += count
    if ties:
        deal.tied[beaten, hand] += count


@njit(cache=True)
def _rank_seats(seats: Any, deal: Any) -> None:
    """Order the seats by strength, weakest first."""
    order, strength = deal.order, deal.strength
    for seat in range(seats):
        k = seat - 1
        while k >= 0 and strength[order[k]] > strength[seat]:
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = seat
    group = 0
    for k in range(seats):
        deal.sorted_strength[k] = strength[order[k]]
        if deal.sorted_strength[k] != deal.sorted_strength[group]:
            group = k
        deal.position[order[k]] = k + 1
        deal.group[order[k]] = group


@njit(cache=True)
def _count_up(seats: Any, deal: Any) -> None:
    """Turn counts of hands that beat exactly p seats into counts of those that beat p or more."""
    for k in range(seats - 1, -1, -1):
        deal.better[k] += deal.better[k + 1]
    deal.live[:] = deal.better[0]


@njit(cache=True)
def _deal_one_card(key: Any, seats: Any, cards: Any, deal: Any) -> None:
    """Deal one card to each seat; a card's class is its rank."""
    deck = cards.ranks * cards.suits
    mask = _draw_cards(key, 0, seats, np.int64(0), deck, deal.cards)
    for seat in range(seats):
        deal.hand[seat] = deal.cards[seat] // cards.suits
        deal.strength[seat] = deal.hand[seat]
    _rank_seats(seats, deal)
    for card in range(deck):
        if not (mask >> card) & 1:
            rank = card // cards.suits
            _count_hand(np.int64(rank), seats, deal, rank, np.float32(1))


@njit(cache=True)
def _fill_pair_strengths(board: Any, deal: Any) -> None:
    """Strength of the 91 pairs of ranks on a board, flushes apart; without a board a pair beats high cards."""
    ge1 = ge2 = ge3 = ge4 = np.int64(0)
    for k in range(board):
        bit = np.int64(1) << (deal.cards[k] >> 2)
        ge4 |= ge3 & bit
        ge3 |= ge2 & bit
        ge2 |= ge1 & bit
        ge1 |= bit
    pair = 0
    for low in range(13):
        bit = np.int64(1) << low
        h4 = ge4 | ge3 & bit
        h3 = ge3 | ge2 & bit
        h2 = ge2 | ge1 & bit
        h1 = ge1 | bit
        for high in range(low, 13):
            bit = np.int64(1) << high
            if board == 0:
                deal.pair_strength[pair] = 1000 + low if low == high else 13 * high + low
            else:
                deal.pair_strength[pair] = _rank_strength(
                    h1 | bit, h2 | h1 & bit, h3 | h2 & bit, h4 | h3 & bit
                )
            pair += 1


@njit(cache=True)
def _count_by_ranks(free: Any, seats: Any, deal: Any) -> None:
    """Count the hands that nobody blocks by their two ranks, flushes apart."""
    for low in range(13):
        low_suits = (free >> (4 * low)) & 15
        num_low = _SUITS_HELD[low_suits]
        if num_low == 0:
            continue
        for high in range(low, 13):
            high_suits = (free >> (4 * high)) & 15
            strength = np.int64(deal.pair_strength[_rank_pair(low, high)])
            beaten = 0
            ties = False
            for k in range(seats):
                beaten += deal.sorted_strength[k] < strength
                ties |= deal.sorted_strength[k] == strength
            if low == high:
                hand = 14 * (12 - low)
                count = np.float32(num_low * (num_low - 1) // 2)
                deal.better[beaten, hand] += count
                if ties:
                    deal.tied[beaten, hand] += count
                continue
            num_suited = _SUITS_HELD[low_suits & high_suits]
            suited_count = np.float32(num_suited)
            offsuit_count = np.float32(num_low * _SUITS_HELD[high_suits] - num_suited)
            suited = 13 * (12 - high) + 12 - low
            offsuit = 13 * (12 - low) + 12 - high
            deal.better[beaten, suited] += suited_count
            deal.better[beaten, offsuit] += offsuit_count
            if ties:
                deal.tied[beaten, suited] += suited_count
                deal.tied[beaten, offsuit] += offsuit_count


@njit(cache=True)
def _recount_flushes(free: Any, suit: Any, held: Any, ranks: Any, seats: Any, deal: Any) -> None:
    """Move the hands that make a flush from their ranks' strength to their own."""
    for rank in range(13):
        card = np.int64(4 * rank + suit)
        if not (free >> card) & 1:
            continue
        for other in range(NUM_CARDS):
            if other == card or not (free >> other) & 1:
                continue
            if (other & 3) == suit:
                if other < card:
                    continue
            elif held < 4:
                continue
            low: Any = min(card, other)
            high: Any = max(card, other)
            hand = _class_of(low, high)
            plain = np.int64(deal.pair_strength[_rank_pair(low >> 2, high >> 2)])
            _count_hand(plain, seats, deal, hand, np.float32(-1))
            flush = _strength_of(low, high, deal.pair_strength, suit, held, ranks)
            _count_hand(flush, seats, deal, hand, np.float32(1))


@njit(cache=True)
def _deal_hands(key: Any, seats: Any, board: Any, cards: Any, deal: Any) -> None:
    """Deal a board of so many cards and two cards to each seat."""
    mask = _draw_board(key, cards, deal.cards) if board else np.int64(0)
    mask = _draw_cards(_mix(key), board, board + 2 * seats, mask, np.int64(NUM_CARDS), deal.cards)
    _fill_pair_strengths(board, deal)
    suit_count = np.zeros(4, np.int64)
    suit_ranks = np.zeros(4, np.int64)
    for k in range(board):
        suit_count[deal.cards[k] & 3] += 1
        suit_ranks[deal.cards[k] & 3] |= np.int64(1) << (deal.cards[k] >> 2)
    suit = np.int64(np.argmax(suit_count))
    held, ranks = suit_count[suit], suit_ranks[suit]
    for seat in range(seats):
        one, two = deal.cards[board + 2 * seat], deal.cards[board + 2 * seat + 1]
        low: Any = min(one, two)
        high: Any = max(one, two)
        deal.strength[seat] = _strength_of(low, high, deal.pair_strength, suit, held, ranks)
        deal.hand[seat] = _class_of(low, high)
    _rank_seats(seats, deal)
    free = ~mask
    if held < 5:
        _count_by_ranks(free, seats, deal)
        if held >= 3:
            _recount_flushes(free, suit, held, ranks, seats, deal)
        return
    for low in range(NUM_CARDS):
        for high in range(low + 1, NUM_CARDS):
            if (free >> low) & 1 and (free >> high) & 1:
                strength = _strength_of(low, high, deal.pair_strength, suit, held, ranks)
                _count_hand(strength, seats, deal, _class_of(low, high), np.float32(1))


@njit(cache=True)
def _deal(key: Any, seats: Any, cards: Any, deal: Any) -> None:
    """Deal, and count the hands that nobody blocks."""
    deal.better[:] = 0
    deal.tied[:] = 0
    if cards.kind == 2:
        _deal_one_card(key, seats, cards, deal)
    else:
        _deal_hands(key, seats, 5 if cards.kind == 0 else 0, cards, deal)
    _count_up(seats, deal)


@njit(cache=True, nogil=True)
def _boards(seed: Any, first: Any, cards: Any, boards: Any) -> None:
    drawn = np.empty(BOARD_CARDS, np.int64)
    for k in range(boards.shape[0]):
        _draw_board(_deal_key(seed, first + k), cards, drawn)
        for position in range(BOARD_CARDS):
            boards[k, position] = drawn[position]


def boards_dealt(seed: int, first: int, count: int, cards: Cards = HOLDEM) -> NDArray[np.uint8]:
    """Boards of the hold'em deals `first`, `first` + 1, .., as dealt: uint8 [count, 5].

    >>> boards_dealt(1, 10, 4)[2].tolist() == boards_dealt(1, 12, 1)[0].tolist()
    True
    """
    found = np.empty((count, BOARD_CARDS), dtype=np.uint8)
    _boards(np.uint64(seed), np.int64(first), cards, found)
    return found


def work_space(seats: int) -> Deal:
    """Arrays for one deal of so many seats."""

    def whole(length: int) -> NDArray[np.int64]:
        return np.zeros(length, np.int64)

    return Deal(
        cards=whole(BOARD_CARDS + 2 * seats),
        hand=whole(seats),
        strength=whole(seats),
        position=whole(seats),
        group=whole(seats),
        order=whole(seats),
        sorted_strength=whole(seats),
        pair_strength=whole(91),
        live=np.zeros(WIDTH, np.float32),
        better=np.zeros((seats + 1, WIDTH), np.float32),
        tied=np.zeros((seats + 1, WIDTH), np.float32),
    )


def deal_cards(seed: int, number: int, seats: int, cards: Cards = HOLDEM) -> Deal:
    """One deal, for tests and for the curious.

    >>> dealt = deal_cards(1, 0, 3)
    >>> int(dealt.live.sum()) == (52 - 5 - 6) * (52 - 5 - 7) // 2
    True
    """
    deal = work_space(seats)
    _deal_number(np.uint64(seed), np.int64(number), np.int64(seats), cards, deal)
    return deal


@njit(cache=True, nogil=True)
def _deal_number(seed: Any, number: Any, seats: Any, cards: Any, deal: Any) -> None:
    _deal(_deal_key(seed, number), seats, cards, deal)
