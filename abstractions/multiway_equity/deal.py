"""What is to be dealt: the ranges of the players, the board and the dead cards, checked and as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS, NUM_CARDS, format_card, parse_cards
from abstractions.equity import read_board, read_range
from abstractions.evaluator import _CARD_WORD
from abstractions.isomorphism import COMBO_PERMUTATION, SUIT_PERMUTATIONS, permute_cards

MIN_PLAYERS, MAX_PLAYERS = 2, 9
#: Bit mask over the 52 cards of every combo, int64 [1326].
COMBO_MASKS: NDArray[np.int64] = (np.int64(1) << COMBO_CARDS.astype(np.int64)).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Deal:
    """Players with their hands, and the cards that are gone.

    Attributes
    ----------
    weights : float64 [N, 1326], zero for combos that board or dead cards block
    board, dead : uint8, the public cards and those that nobody can get
    combos : int16 [U], the combos that anybody may hold
    members : int16, positions in `combos` of the hands of all players, one player after the other
    member_weights : float64, weights of `members`
    starts : int64 [N + 1], where each player's members begin
    copies : how often each deal is counted, see `symmetrised`
    """

    weights: NDArray[np.float64]
    board: NDArray[np.uint8]
    dead: NDArray[np.uint8]
    combos: NDArray[np.int16]
    members: NDArray[np.int16]
    member_weights: NDArray[np.float64]
    starts: NDArray[np.int64]
    copies: int = 1

    @classmethod
    def build(
        cls, weights: NDArray[np.float64], board: NDArray[np.uint8], dead: NDArray[np.uint8], copies: int = 1
    ) -> Deal:
        """A deal from the weights of its players."""
        combos = np.flatnonzero(weights.any(axis=0)).astype(np.int16)
        own = [np.flatnonzero(row) for row in weights[:, combos]]
        return cls(
            weights=weights,
            board=board,
            dead=dead,
            combos=combos,
            members=np.concatenate(own).astype(np.int16),
            member_weights=np.concatenate([row[combos[at]] for row, at in zip(weights, own)]),
            starts=np.concatenate([[0], np.cumsum([len(at) for at in own])]),
            copies=copies,
        )

    @property
    def num_players(self) -> int:
        """Number of players."""
        return len(self.weights)

    @cached_property
    def masks(self) -> NDArray[np.int64]:
        """Cards of `combos` as bit masks, int64 [U]."""
        return COMBO_MASKS[self.combos]

    @cached_property
    def words(self) -> NDArray[np.int64]:
        """Cards of `combos` as the evaluator adds them up, int64 [U]."""
        return _CARD_WORD[COMBO_CARDS[self.combos]].sum(axis=1)

    @cached_property
    def renamings(self) -> NDArray[np.uint8]:
        """Card that each card becomes under the renamings of suits that change nothing here, uint8 [G, 52]."""
        kept = self._kept_by_all_but(-1)
        return np.array([permute_cards(np.arange(NUM_CARDS), suits) for suits in SUIT_PERMUTATIONS[kept]])

    def _kept_by_all_but(self, player: int) -> list[int]:
        """Renamings of suits that change neither board nor dead cards nor the range of anybody else."""
        others = np.delete(self.weights, player, axis=0) if player >= 0 else self.weights
        return [
            number
            for number, (suits, combos) in enumerate(zip(SUIT_PERMUTATIONS, COMBO_PERMUTATION))
            if (others[:, combos] == others).all()
            and set(permute_cards(self.board, suits)) == set(self.board)
            and set(permute_cards(self.dead, suits)) == set(self.dead)
        ]

    def symmetrised(self) -> Deal:
        """A deal with the same counts of winners, up to the factor `copies`, and with as much symmetry as one can give.

        If a renaming of suits changes nothing but one player's range, all win as often against the renamed range. So
        they do against the sum of all such ranges, in which every deal is counted once for each renaming.
        """
        kept = [self._kept_by_all_but(player) for player in range(self.num_players)]
        player = max(range(self.num_players), key=lambda player: len(kept[player]))
        if len(kept[player]) == len(self.renamings):
            return self
        weights = self.weights.copy()
        weights[player] = self.weights[player][COMBO_PERMUTATION[kept[player]]].sum(axis=0)
        return Deal.build(weights, self.board, self.dead, copies=len(kept[player]))

    @property
    def missing(self) -> int:
        """Number of public cards still to come."""
        return 5 - self.board.size

    def certain_cards(self) -> NDArray[np.int64]:
        """Bit mask of the cards that each player holds in every hand of its range."""
        return np.array([np.bitwise_and.reduce(COMBO_MASKS[weights > 0]) for weights in self.weights])

    def deck(self) -> NDArray[np.uint8]:
        """Cards that may still come to the board."""
        gone = int(np.bitwise_or.reduce(self.certain_cards()))
        known = {*self.board.tolist(), *self.dead.tolist()}
        return np.array([c for c in range(NUM_CARDS) if c not in known and not gone >> c & 1], dtype=np.uint8)


def read_deal(hands: Sequence[str | NDArray], board: str | NDArray = "", dead: str = "") -> Deal:
    """The deal that hands or ranges, board and dead cards describe; what cannot be dealt is refused."""
    if not MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
        count = f"{len(hands)} hand{'s' * (len(hands) != 1)}"
        raise ValueError(f"{count} given: expected {MIN_PLAYERS} to {MAX_PLAYERS} hands or ranges")
    cards = read_board(board)
    gone = parse_cards(dead)
    for card in gone:
        if card in cards:
            raise ValueError(f"dead card {format_card(int(card))!r} is on the board")
    weights = np.stack([read_range(hand, cards, gone) for hand in hands])
    deal = Deal.build(weights, cards, gone)
    _refuse_collisions(deal)
    return deal


def _refuse_collisions(deal: Deal) -> None:
    """Refuse players who need the same card, or who together have fewer cards to hold than they need."""
    certain = deal.certain_cards().tolist()
    for first, second in combinations(range(deal.num_players), 2):
        shared = certain[first] & certain[second]
        if shared:
            card = format_card(shared.bit_length() - 1)
            raise ValueError(f"no deal is possible: hands {first + 1} and {second + 1} both hold {card}")
    held = [int(np.bitwise_or.reduce(COMBO_MASKS[weights > 0])) for weights in deal.weights]
    for size in range(2, deal.num_players + 1):
        for some in combinations(range(deal.num_players), size):
            cards = 0
            for player in some:
                cards |= held[player]
            if cards.bit_count() < 2 * size:
                raise ValueError(
                    f"no deal is possible: {size} players have {cards.bit_count()} cards to hold"
                )
    if NUM_CARDS - deal.dead.size - 2 * deal.num_players < 5:
        raise ValueError(f"no deal is possible: {deal.dead.size} dead cards leave too few for a board")


@njit(cache=True, nogil=True)
def _list_hands(
    masks: Any, members: Any, weights: Any, starts: Any, visits: int, out: Any, products: Any
) -> int:
    """Write every choice of disjoint hands, one per player, with the product of its weights; how many there are.

    The search gives up, with -1, after so many visits or when `out` is full.
    """
    players = starts.shape[0] - 1
    at = np.empty(players, np.int64)
    used = np.zeros(players + 1, np.int64)
    product = np.ones(players + 1, np.float64)
    count = 0
    player = 0
    at[0] = starts[0]
    while player >= 0:
        if at[player] == starts[player + 1]:
            player -= 1
            if player >= 0:
                at[player] += 1
            continue
        visits -= 1
        if visits < 0:
            return -1
        mask = masks[members[at[player]]]
        if used[player] & mask:
            at[player] += 1
            continue
        if player + 1 < players:
            used[player + 1] = used[player] | mask
            product[player + 1] = product[player] * weights[at[player]]
            player += 1
            at[player] = starts[player]
            continue
        if count == out.shape[0]:
            return -1
        for other in range(players):
            out[count, other] = members[at[other]]
        products[count] = product[player] * weights[at[player]]
        count += 1
        at[player] += 1
    return count


def listed_hands(deal: Deal, limit: int) -> tuple[NDArray[np.int16], NDArray[np.float64]] | None:
    """All choices of disjoint hands with their weights, or None where there are more than `limit`.

    The hands are positions in ``deal.combos``, int16 [T, N].
    """
    room = min(limit, prod(map(int, np.diff(deal.starts))))
    out = np.empty((room, deal.num_players), dtype=np.int16)
    products = np.empty(room)
    count = _list_hands(deal.masks, deal.members, deal.member_weights, deal.starts, 20 * limit, out, products)
    return None if count < 0 else (out[:count], products[:count])
