"""Weights of pairs of hands where folded players change the deck, laid out for the sweeps.

The folded players' hands multiply the weight of a deal (two hands and a board) by a factor that depends on all of
its cards (`solver.exact.folded_hands`), relative to players who fold any hand. Relative to these the chances of the cards to
come are the plain ones, so the factor enters where a line ends and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import disjoint_weight
from solver.exact.deals import CardGame, Deals, StrengthCache, allin_matrix, padded, zero_row
from solver.exact.folded_hands import AvoidingWeights

Floats = NDArray[np.float64]
#: Own hands whose weights stand side by side: a sweep sums over the opponent's hands for so many at once.
ABREAST = 4
#: Opponent hands, in order of strength, that an own hand beats (up to `below`), and ties or beats (up to `upto`).
BOUND = np.dtype([("below", np.int16), ("upto", np.int16)], align=True)


class PairTables(NamedTuple):
    """One player's weights of pairs on every board; empty, with starts of -1, without folded players.

    Attributes
    ----------
    starts
        Where each board's part of `weights` starts.
    weights
        ``[own hand / ABREAST, opponent hand, own hand % ABREAST]`` per board, hands in the order of `Side.hands`.
    bounds
        As `BOUND`, one for each of `Side.hands`.
    allin_starts, allin
        As in `Side`: wins minus losses over all run-outs, each with its weight.
    """

    starts: NDArray[np.int64]
    weights: NDArray[Any]
    bounds: NDArray[np.void]
    allin_starts: NDArray[np.int64]
    allin: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the weights."""
        return self.weights.nbytes + self.allin.nbytes


class PairWeights:
    """Weights of the pairs of hands of a game, board by board."""

    def __init__(self, game: CardGame) -> None:
        self.game = game
        self._avoiding = lru_cache(maxsize=64)(self._of_board)

    def _of_board(self, board: frozenset[int]) -> AvoidingWeights:
        assert self.game.folded is not None
        return self.game.folded.avoiding(sorted(board))

    def matrix(
        self, board: Sequence[int], first: NDArray[np.uint8], second: NDArray[np.uint8]
    ) -> Floats:
        """Weights ``[first, second]`` of hands on a board; zero for hands with a common card."""
        if self.game.folded is None:
            return (first[:, None, :, None] != second[None, :, None, :]).all(axis=(2, 3)).astype(np.float64)
        return self._avoiding(frozenset(board)).of_pairs(first, second)

    def compatible(
        self, board: Sequence[int], reach: Floats, theirs: NDArray[np.uint8], own: NDArray[np.uint8]
    ) -> Floats:
        """For each own hand on a board, the sum of an opponent's reach times the weight of the pair."""
        if self.game.folded is None:
            return disjoint_weight(reach, theirs, own)
        return self.matrix(board, own, theirs) @ reach

    def wins(
        self, board: tuple[int, ...], own: int, mine: NDArray[np.int16], theirs: NDArray[np.int16]
    ) -> NDArray[Any]:
        """Wins minus losses over all run-outs times their weights, ``[opponent hand, own hand]``, own hands padded.

        `mine` and `theirs` are root hands of the player `own` and of the other.
        """
        if self.game.folded is None:
            return allin_matrix(self.game, board, own, mine, theirs)
        total = np.zeros((len(theirs), padded(len(mine))))
        ranks = StrengthCache(self.game)
        for full in run_outs(self.game, board):
            self._add_wins(total, full, own, mine, theirs, ranks)
        return total

    def _add_wins(
        self,
        total: Floats,
        full: frozenset[int],
        own: int,
        mine: NDArray[np.int16],
        theirs: NDArray[np.int16],
        ranks: StrengthCache,
    ) -> None:
        hands = self.game.hands
        weights = self.matrix(tuple(full), hands[1 - own][theirs], hands[own][mine])
        board = tuple(sorted(full))
        _add_weighted_wins(total, weights, ranks(board, own)[mine], ranks(board, 1 - own)[theirs])

    def tables(
        self, deals: Deals, allin_streets: Sequence[bool], kind: type[np.floating]
    ) -> tuple[PairTables, PairTables]:
        """Weights of both players on all boards, in the sweeps' layout and number type."""
        if self.game.folded is None:
            none = np.full(len(deals.cards), -1, dtype=np.int64)
            empty = PairTables(none, np.zeros(0, kind), np.empty(0, BOUND), none, np.zeros(0, kind))
            return empty, empty
        streets = deals.boards["street"]
        has_allin = [
            bool(street < self.game.num_deals and allin_streets[street]) for street in streets.tolist()
        ]
        matrices = self._dense(deals, has_allin)
        first, second = (
            self._laid_out(deals, player, has_allin, matrices, kind) for player in range(2)
        )
        return first, second

    def _dense(
        self, deals: Deals, has_allin: list[bool]
    ) -> tuple[list[Floats], dict[int, Floats]]:
        """Weights of pairs on every board, and the first player's all-in matrix where there is one.

        Boards of the same cards, and the run-outs of all-ins, share the table of their cards.
        """
        game = self.game
        of_cards: dict[frozenset[int], tuple[list[int], list[int]]] = {}
        allins: dict[int, Floats] = {}
        for board, cards in enumerate(deals.cards):
            of_cards.setdefault(frozenset(cards), ([], []))[0].append(board)
            if has_allin[board]:
                mine, theirs = deals.hands[0][board], deals.hands[1][board]
                allins[board] = np.zeros((len(theirs), padded(len(mine))))
                for full in run_outs(game, cards):
                    of_cards.setdefault(full, ([], []))[1].append(board)
        pairs: list[Floats] = [np.empty(0)] * len(deals.cards)
        ranks = StrengthCache(game)
        for cards, (here, above) in of_cards.items():
            for board in here:
                first, second = (game.hands[player][deals.hands[player][board]] for player in range(2))
                pairs[board] = self.matrix(tuple(cards), first, second)
            for board in above:
                self._add_wins(
                    allins[board], cards, 0, deals.hands[0][board], deals.hands[1][board], ranks
                )
        return pairs, allins

    def _laid_out(
        self,
        deals: Deals,
        player: int,
        has_allin: list[bool],
        dense: tuple[list[Floats], dict[int, Floats]],
        kind: type[np.floating],
    ) -> PairTables:
        own, opp = deals.sides[player], deals.sides[1 - player]
        starts, allin_starts = np.full((2, len(deals.cards)), -1, dtype=np.int64)
        bounds = np.zeros(len(own.hands), dtype=BOUND)
        weights: list[NDArray[Any]] = []
        allins: list[NDArray[Any]] = []
        at = allin_at = 0
        for board, (mine, theirs) in enumerate(zip(own.boards, opp.boards)):
            pairs = dense[0][board] if player == 0 else dense[0][board].T
            own_hands = own.hands[mine["hands"] : mine["hands_end"]]
            opp_hands = opp.hands[theirs["hands"] : theirs["hands_end"]]
            count, others = len(own_hands), len(opp_hands)
            square = np.zeros((-(-count // ABREAST) * ABREAST, others), dtype=kind)
            square[:count] = pairs[np.ix_(own_hands["place"], opp_hands["place"])]
            weights.append(square.reshape(-1, ABREAST, others).transpose(0, 2, 1).ravel())
            starts[board] = at
            at += square.size
            bounds[mine["hands"] : mine["hands_end"]] = _bounds(
                own.groups[mine["groups"] : mine["groups_end"]], count, others
            )
            if has_allin[board]:
                wins = dense[1][board]
                if player == 1:
                    wins = np.zeros((others, padded(count)))
                    wins[:, :count] = -dense[1][board][:count, :others].T
                allins.append(wins.astype(kind).ravel())
                allin_starts[board] = allin_at
                allin_at += wins.size
        # A sweep may read one row more than there are.
        allins.append(np.zeros(zero_row(self.game), dtype=kind))
        return PairTables(starts, np.concatenate(weights), bounds, allin_starts, np.concatenate(allins))


def run_outs(game: CardGame, board: tuple[int, ...]) -> list[frozenset[int]]:
    """All full boards that a board can become."""
    rest = [card for card in game.deck if card not in board]
    missing = len(game.board) + game.num_deals - len(board)
    return [frozenset((*board, *cards)) for cards in combinations(rest, missing)]


def _bounds(groups: NDArray[np.void], count: int, others: int) -> NDArray[np.void]:
    """Bounds of a board's own hands; before the last street, where nobody shows, all opponents are below."""
    table = np.empty(count, dtype=BOUND)
    if len(groups) == 0:
        table["below"] = table["upto"] = others
    else:
        sizes = np.diff(groups["own_end"], prepend=0)
        table["below"], table["upto"] = (np.repeat(groups[name], sizes) for name in BOUND.names)
    return table


@njit(cache=True)
def _add_weighted_wins(total: Any, weights: Any, own: Any, opp: Any) -> None:
    """Add one run-out: the weight of a pair where the own hand wins, less it where it loses."""
    for j in range(len(opp)):
        for i in range(len(own)):
            if own[i] > opp[j]:
                total[j, i] += weights[j, i]
            elif own[i] < opp[j]:
                total[j, i] -= weights[j, i]
