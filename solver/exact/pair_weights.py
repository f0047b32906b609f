"""Weights of pairs of hands where folded players change the deck, laid out for the sweeps.

The folded players' hands multiply the weight of a deal (two hands and a board) by a factor that depends on all of
its cards (`solver.exact.folded_hands`), relative to players who fold any hand. Relative to these the chances of the
cards to come are the plain ones, so the factor enters where a line ends and nowhere else.

The factor of a pair is nearly a product of a factor of each hand, d = u(h) v(h') + e. Terminals with the product cost
what plain ones do: the opponent's reach is multiplied by v, the values by u. The rest e is small, but its sums go over
all pairs. So a sweep that trains does not compute them. It adds to each value row what e came to when both players
followed their average strategies of some iterations before (`PairTables.corrections`). Sweeps for values and best
responses bring that up to date on their way. So values, best responses and exploitability are exact, and the
corrections that training uses become exact as the average strategies settle.
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
from solver.exact.allin_matrices import allin_matrix
from solver.exact.allocation import refuse_over
from solver.exact.card_game import CardGame, StrengthCache
from solver.exact.deals import Deals, zero_row
from solver.exact.folded_hands import AvoidingWeights
from solver.exact.hand_tables import padded

Floats = NDArray[np.float64]
#: Own hands whose weights stand side by side: a sweep sums over the opponent's hands for so many at once.
ABREAST = 4
#: Rounds of the fit of a product to the weights of a board; it settles in two or three.
FIT_ROUNDS = 4
#: Opponent hands, in order of strength, that an own hand beats (up to `below`), and ties or beats (up to `upto`).
BOUND = np.dtype([("below", np.int16), ("upto", np.int16)], align=True)


class PairTables(NamedTuple):
    """One player's weights of pairs on every board; empty, with starts of -1, without folded players.

    Attributes
    ----------
    starts
        Where each board's part of `weights` starts.
    weights
        The rest e as ``[own hand / ABREAST, opponent hand, own hand % ABREAST]`` per board, hands in the order of
        `Side.hands`.
    own_factors, opp_factors
        u and v, one for each of `Side.hands` of the player and of the other.
    bounds
        As `BOUND`, one for each of `Side.hands`.
    correction_starts, corrections
        What e adds to each value row of a street, ``[row, own hand]`` per board, own hands padded.
    allin_starts, allin
        As in `Side`: wins minus losses over all run-outs, each with its weight.
    """

    starts: NDArray[np.int64]
    weights: NDArray[Any]
    own_factors: NDArray[Any]
    opp_factors: NDArray[Any]
    bounds: NDArray[np.void]
    correction_starts: NDArray[np.int64]
    corrections: NDArray[Any]
    allin_starts: NDArray[np.int64]
    allin: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the weights."""
        return self.weights.nbytes + self.corrections.nbytes + self.allin.nbytes


class PairWeights:
    """Weights of the pairs of hands of a game, board by board."""

    def __init__(self, game: CardGame) -> None:
        self.game = game
        self._avoiding = lru_cache(maxsize=64)(self._of_board)

    def _of_board(self, board: frozenset[int]) -> AvoidingWeights:
        assert self.game.folded is not None
        return self.game.folded.avoiding(sorted(board))

    def matrix(self, board: Sequence[int], first: NDArray[np.uint8], second: NDArray[np.uint8]) -> Floats:
        """Weights ``[first, second]`` of hands on a board; zero for hands with a common card."""
        if self.game.folded is None:
            return apart(first, second).astype(np.float64)
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
        self,
        deals: Deals,
        allin_streets: Sequence[bool],
        value_rows: Sequence[NDArray[np.integer]],
        kind: type[np.floating],
        memory_limit: int | None = None,
    ) -> tuple[PairTables, PairTables]:
        """Weights of both players on all boards, in the sweeps' layout and number type.

        Parameters
        ----------
        allin_streets
            Streets on which betting can end all-in with cards to come.
        value_rows
            Of each player, the number of value rows of every street.
        memory_limit
            Bytes over which to refuse.

        Raises
        ------
        ValueError
            If they are too large, or the folded hands leave no deal of both ranges.
        """
        if self.game.folded is None:
            none, no_floats = np.full(len(deals.cards), -1, dtype=np.int64), np.zeros(0, kind)
            empty = PairTables(
                *(none, no_floats, no_floats, no_floats, np.empty(0, BOUND)),
                *(none, no_floats, none, no_floats),
            )
            return empty, empty
        streets = deals.boards["street"].tolist()
        has_allin = np.array([street < self.game.num_deals and allin_streets[street] for street in streets])
        sizes = [_Sizes.of(deals, player, has_allin, value_rows[player]) for player in range(2)]
        refuse_over(memory_limit, sum(size.total for size in sizes) * np.dtype(kind).itemsize)
        first, second = (
            _empty_tables(deals, player, size, zero_row(self.game), kind) for player, size in enumerate(sizes)
        )
        self._fill(deals, has_allin, (first, second))
        if not first.own_factors[: len(deals.hands[0][0])].any():
            raise ValueError("folded_ranges: with these hands folded no deal of both ranges is possible")
        return first, second

    def _fill(
        self, deals: Deals, has_allin: NDArray[np.bool_], tables: tuple[PairTables, PairTables]
    ) -> None:
        """Compute the weights of all boards.

        Boards of the same cards, and the run-outs of all-ins, share the table of their cards.
        """
        game = self.game
        of_cards: dict[frozenset[int], tuple[list[int], list[int]]] = {}
        wins: dict[int, Floats] = {}
        for board, cards in enumerate(deals.cards):
            of_cards.setdefault(frozenset(cards), ([], []))[0].append(board)
            if has_allin[board]:
                wins[board] = np.zeros((len(deals.hands[1][board]), padded(len(deals.hands[0][board]))))
                for full in run_outs(game, cards):
                    of_cards.setdefault(full, ([], []))[1].append(board)
        ranks = StrengthCache(game)
        for known, (here, above) in of_cards.items():
            for board in here:
                first, second = deals.hands[0][board], deals.hands[1][board]
                pairs = _split(
                    self.matrix(tuple(known), game.hands[0][first], game.hands[1][second]),
                    apart(game.hands[0][first], game.hands[1][second]),
                    (game.weights[0][first], game.weights[1][second]),
                )
                for player in range(2):
                    _put(tables[player], deals, player, board, pairs if player == 0 else pairs.turned())
            for board in above:
                self._add_wins(wins[board], known, 0, deals.hands[0][board], deals.hands[1][board], ranks)
        for board, matrix in wins.items():
            count = len(deals.hands[0][board])
            turned = np.zeros((count, padded(len(matrix))))
            turned[:, : len(matrix)] = -matrix[:, :count].T
            for own, seen in zip(tables, (matrix, turned)):
                own.allin[own.allin_starts[board] :][: seen.size] = seen.ravel()


class _Sizes(NamedTuple):
    """Entries of a player's tables for each board: weights of pairs, corrections, and all-in matrix."""

    weights: NDArray[np.int64]
    corrections: NDArray[np.int64]
    allin: NDArray[np.int64]

    @classmethod
    def of(
        cls, deals: Deals, player: int, has_allin: NDArray[np.bool_], value_rows: NDArray[np.integer]
    ) -> _Sizes:
        """Sizes of a player's tables."""
        own = deals.sides[player].boards
        others = deals.sides[1 - player].boards["count"].astype(np.int64)
        pad = own["pad"].astype(np.int64)
        return cls(
            -(-own["count"].astype(np.int64) // ABREAST) * ABREAST * others,
            value_rows[deals.boards["street"]] * pad,
            np.where(has_allin, pad * others, 0),
        )

    @property
    def total(self) -> int:
        """All entries together."""
        return int(self.weights.sum() + self.corrections.sum() + self.allin.sum())


def _empty_tables(
    deals: Deals, player: int, sizes: _Sizes, spare: int, kind: type[np.floating]
) -> PairTables:
    """Tables of a player with all but the weights in place; `spare` entries follow what sweeps read or write."""
    own, opp = deals.sides[player], deals.sides[1 - player]
    bounds = np.zeros(len(own.hands), dtype=BOUND)
    for mine, theirs in zip(own.boards, opp.boards):
        groups = own.groups[mine["groups"] : mine["groups_end"]]
        bounds[mine["hands"] : mine["hands_end"]] = _bounds(groups, int(mine["count"]), int(theirs["count"]))
    return PairTables(
        starts=np.cumsum(sizes.weights) - sizes.weights,
        weights=np.zeros(int(sizes.weights.sum()), dtype=kind),
        own_factors=np.zeros(len(own.hands), dtype=kind),
        opp_factors=np.zeros(len(opp.hands), dtype=kind),
        bounds=bounds,
        correction_starts=np.cumsum(sizes.corrections) - sizes.corrections,
        # The last hands take what nobody reads.
        corrections=np.zeros(int(sizes.corrections.sum()) + spare, dtype=kind),
        allin_starts=np.cumsum(sizes.allin) - sizes.allin,
        # A sweep may read one row more than there are.
        allin=np.zeros(int(sizes.allin.sum()) + spare, dtype=kind),
    )


def _put(tables: PairTables, deals: Deals, player: int, board: int, pairs: _BoardPairs) -> None:
    """Lay out the weights of one board for a player."""
    own, opp = deals.sides[player], deals.sides[1 - player]
    mine, theirs = own.boards[board], opp.boards[board]
    rows = own.hands["place"][mine["hands"] : mine["hands_end"]]
    columns = opp.hands["place"][theirs["hands"] : theirs["hands_end"]]
    square = np.zeros((-(-len(rows) // ABREAST) * ABREAST, len(columns)), dtype=tables.weights.dtype)
    square[: len(rows)] = pairs.rest[np.ix_(rows, columns)]
    laid_out = square.reshape(-1, ABREAST, len(columns)).transpose(0, 2, 1).ravel()
    tables.weights[tables.starts[board] :][: laid_out.size] = laid_out
    tables.own_factors[mine["hands"] : mine["hands_end"]] = pairs.first[rows]
    tables.opp_factors[theirs["hands"] : theirs["hands_end"]] = pairs.second[columns]


class _BoardPairs(NamedTuple):
    """Weights of pairs on one board, ``first * second + rest`` for hands without a common card."""

    first: Floats
    second: Floats
    rest: Floats

    def turned(self) -> _BoardPairs:
        """The same with the players exchanged."""
        return _BoardPairs(self.second, self.first, self.rest.T)


def _split(weights: Floats, disjoint: NDArray[np.bool_], ranges: tuple[Floats, Floats]) -> _BoardPairs:
    """Split weights into the product that is nearest over the pairs of two ranges, and the rest."""
    first, second = np.ones(len(weights)), np.ones(weights.shape[1])
    mask = disjoint.astype(np.float64)
    for _ in range(FIT_ROUNDS):
        for own, opp, matrix, free, held in (
            (first, second, weights, mask, ranges[1]),
            (second, first, weights.T, mask.T, ranges[0]),
        ):
            square = free @ (held * opp**2)
            np.divide(matrix @ (held * opp), square, out=own, where=square > 0.0)
    return _BoardPairs(first, second, np.where(disjoint, weights - np.outer(first, second), 0.0))


def apart(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether two hands share no card, ``[first, second]``."""
    disjoint = np.ones((len(first), len(second)), dtype=np.bool_)
    for a in range(2):
        for b in range(2):
            disjoint &= first[:, a, None] != second[None, :, b]
    return disjoint


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
        table["below"], table["upto"] = (np.repeat(groups[name], sizes) for name in ("below", "upto"))
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
