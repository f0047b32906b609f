"""Weights of pairs of hands where folded players change the deck, laid out for the sweeps.

The folded players' hands multiply the weight of a deal (two hands and a board) by a factor that depends on all of
its cards (`solver.exact.folded_hands`), relative to players who fold any hand. Relative to these the chances of the
cards to come are the plain ones, so the factor enters where a line ends and nowhere else.

The factor of a pair is nearly a product of a factor of each hand, d = u(h) v(h') + e. Terminals with the product cost
what plain ones do: the opponent's reach is multiplied by v, the values by u. The rest e is small, but its sums go over
all pairs. So a sweep that trains does not compute them. It adds to each value row what e came to when both players
followed their average strategies of some iterations before (`PairTables.corrections`). Every other sweep brings that up
to date on its way. So values, best responses and exploitability are exact, and the corrections that training uses
become exact as the average strategies settle.
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
    ) -> tuple[PairTables, PairTables]:
        """Weights of both players on all boards, in the sweeps' layout and number type.

        Parameters
        ----------
        allin_streets
            Streets on which betting can end all-in with cards to come.
        value_rows
            Of each player, the number of value rows of every street.

        Raises
        ------
        ValueError
            If the folded hands leave no deal of both ranges.
        """
        if self.game.folded is None:
            none, no_floats = np.full(len(deals.cards), -1, dtype=np.int64), np.zeros(0, kind)
            empty = PairTables(
                *(none, no_floats, no_floats, no_floats, np.empty(0, BOUND)),
                *(none, no_floats, none, no_floats),
            )
            return empty, empty
        streets = deals.boards["street"]
        has_allin = [
            bool(street < self.game.num_deals and allin_streets[street]) for street in streets.tolist()
        ]
        matrices = self._dense(deals, has_allin)
        if not matrices[0][0].first.any():
            raise ValueError("folded_ranges: with these hands folded no deal of both ranges is possible")
        first, second = (
            self._laid_out(deals, player, has_allin, matrices, value_rows[player], kind)
            for player in range(2)
        )
        return first, second

    def _dense(self, deals: Deals, has_allin: list[bool]) -> tuple[list[_BoardPairs], dict[int, Floats]]:
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
        pairs: dict[int, _BoardPairs] = {}
        ranks = StrengthCache(game)
        for known, (here, above) in of_cards.items():
            for board in here:
                first, second = deals.hands[0][board], deals.hands[1][board]
                pairs[board] = _split(
                    self.matrix(tuple(known), game.hands[0][first], game.hands[1][second]),
                    apart(game.hands[0][first], game.hands[1][second]),
                    (game.weights[0][first], game.weights[1][second]),
                )
            for board in above:
                self._add_wins(allins[board], known, 0, deals.hands[0][board], deals.hands[1][board], ranks)
        return [pairs[board] for board in range(len(deals.cards))], allins

    def _laid_out(
        self,
        deals: Deals,
        player: int,
        has_allin: list[bool],
        dense: tuple[list[_BoardPairs], dict[int, Floats]],
        value_rows: NDArray[np.integer],
        kind: type[np.floating],
    ) -> PairTables:
        own, opp = deals.sides[player], deals.sides[1 - player]
        starts, allin_starts = np.full((2, len(deals.cards)), -1, dtype=np.int64)
        rows = value_rows[deals.boards["street"]] * own.boards["pad"].astype(np.int64)
        own_factors: list[Floats] = []
        opp_factors: list[Floats] = []
        bounds = np.zeros(len(own.hands), dtype=BOUND)
        weights: list[NDArray[Any]] = []
        allins: list[NDArray[Any]] = []
        at = allin_at = 0
        for board, (mine, theirs) in enumerate(zip(own.boards, opp.boards)):
            pairs = dense[0][board] if player == 0 else dense[0][board].turned()
            own_hands = own.hands[mine["hands"] : mine["hands_end"]]
            opp_hands = opp.hands[theirs["hands"] : theirs["hands_end"]]
            count, others = len(own_hands), len(opp_hands)
            square = np.zeros((-(-count // ABREAST) * ABREAST, others), dtype=kind)
            square[:count] = pairs.rest[np.ix_(own_hands["place"], opp_hands["place"])]
            own_factors.append(pairs.first[own_hands["place"]])
            opp_factors.append(pairs.second[opp_hands["place"]])
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
        return PairTables(
            starts=starts,
            weights=np.concatenate(weights),
            own_factors=np.concatenate(own_factors).astype(kind),
            opp_factors=np.concatenate(opp_factors).astype(kind),
            bounds=bounds,
            correction_starts=np.cumsum(rows) - rows,
            # The last hands take what nobody reads.
            corrections=np.zeros(int(rows.sum()) + zero_row(self.game), dtype=kind),
            allin_starts=allin_starts,
            allin=np.concatenate(allins),
        )


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
