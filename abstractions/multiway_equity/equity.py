"""Who wins how often among two to nine players: enumerated where that is affordable, otherwise sampled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_CARDS
from abstractions.equity import _sum_chunks
from abstractions.multiway_equity.boards import full_boards
from abstractions.multiway_equity.deal import Deal, listed_hands, read_deal
from abstractions.multiway_equity.kernels import MANY_COMBOS, _count_listed, _sweep_three, _sweep_two
from abstractions.multiway_equity.sampling import sampled_winners, shares_by_winners, standard_errors

#: An enumeration may take about so many nanoseconds of one core.
MAX_WORK = 4e10
#: Deals of hands that are listed at most; their boards come on top.
_MAX_LISTED = 2_000_000
_MAX_TRIES = 1 << 27
# Rough nanoseconds of one core: ranking one combo, or all of a board; comparing one hand of a listed deal.
_RANK, _RANK_ALL, _COMPARE = 8.0, 2500.0, 2.5
# Sweeps by number of players, with their nanoseconds for each board and for each hand of a player.
_SWEEPS: dict[int, tuple[Callable[..., None], float, float]] = {
    2: (_sweep_two, 200.0, 20.0),
    3: (_sweep_three, 3000.0, 60.0),
}


@dataclass(frozen=True, eq=False)
class MultiwayEquity:
    """Counts of deals by who wins.

    Attributes
    ----------
    winners
        By set of winners, ``[2^N]``: bit i of the index stands for player i. Whole numbers if all weights are 0 or 1,
        and if deals were sampled; otherwise sums of weights.
    exact
        Whether every deal was counted; otherwise `winners` counts random deals.
    standard_errors
        Of each player's equity, zero if exact.
    """

    winners: NDArray[Any]
    exact: bool
    standard_errors: NDArray[np.float64]

    @property
    def equity(self) -> NDArray[np.float64]:
        """Each player's mean part of the pot; they sum to 1."""
        return shares_by_winners(self._num_players) @ self._chances

    @property
    def win(self) -> NDArray[np.float64]:
        """How often each player wins alone."""
        return self._chances[1 << np.arange(self._num_players)]

    @property
    def tie(self) -> NDArray[np.float64]:
        """How often each player is one of several winners."""
        shares = shares_by_winners(self._num_players)
        return ((shares > 0) & (shares < 1)) @ self._chances

    @property
    def standard_error(self) -> float:
        """The largest of the standard errors."""
        return float(self.standard_errors.max())

    @property
    def _num_players(self) -> int:
        return self.winners.size.bit_length() - 1

    @property
    def _chances(self) -> NDArray[np.float64]:
        return self.winners / self.winners.sum()


def multiway_equity(
    hands: Sequence[str | NDArray],
    board: str | NDArray = "",
    dead: str = "",
    *,
    seed: int = 0,
    error: float = 2e-4,
    max_work: float = MAX_WORK,
) -> MultiwayEquity:
    """How often each set of players wins, over all ways to deal their hands and the rest of the board.

    Parameters
    ----------
    hands
        Two to nine hands (``AhKh``) or ranges (``QQ+,AKs:0.5``) as text, or 1,326 weights each.
    board
        None, three, four or five public cards.
    dead
        Cards that nobody holds and that do not come.
    seed, error
        Where an enumeration would take more than `max_work` nanoseconds of one core, deals are drawn from this seed
        until no player's standard error is above `error`.

    Examples
    --------
    >>> multiway_equity(["3d7d", "2h9h", "2c9c"], "5d5h5c", dead="3s3c").winners.tolist()
    [0, 183, 28, 0, 28, 0, 380, 201]
    """
    deal = read_deal(hands, board, dead)
    symmetric = deal.symmetrised()
    ways = _ways(deal) + (_ways(symmetric) if symmetric is not deal else [])
    way = min(ways, key=lambda way: way.work, default=None)
    # Two ranges are always counted: at worst they take a minute of one core.
    if way is None or (way.work > max_work and deal.num_players > 2):
        listed = listed_hands(deal, _MAX_LISTED)
        drawn = sampled_winners(deal, listed, seed=seed, error=error, max_tries=_MAX_TRIES)
        return MultiwayEquity(drawn, False, standard_errors(drawn))
    counts = _enumerated(way)
    if not counts.any():
        raise ValueError("no deal is possible: the hands cannot be dealt together, they need the same cards")
    if np.isin(deal.weights, (0.0, 1.0)).all() and counts.sum() * way.deal.copies < 2**53:
        return MultiwayEquity(counts.astype(np.int64), True, np.zeros(deal.num_players))
    counts[counts < 1e-12 * counts.sum()] = 0.0  # what rounding leaves of differences
    return MultiwayEquity(counts, True, np.zeros(deal.num_players))


@dataclass(frozen=True, eq=False)
class _Way:
    """A way to count winners: a kernel with its arguments, and the nanoseconds of one core that it may take."""

    deal: Deal
    kernel: Callable[..., None]
    arguments: tuple[Any, ...]
    work: float


def _ways(deal: Deal) -> list[_Way]:
    """The ways to count the winners of a deal."""
    combos = (deal.combos, deal.masks, deal.words)
    boards = comb(len(deal.deck()), deal.missing) / len(deal.renamings)
    rank = _RANK_ALL if deal.combos.size >= MANY_COMBOS else _RANK * deal.combos.size
    ways = []
    listed = listed_hands(deal, _MAX_LISTED)
    if listed is not None:
        hands, products = listed
        work = boards * (rank + _COMPARE * hands.size)
        ways.append(_Way(deal, _count_listed, (*combos, hands, products), work))
    if deal.num_players in _SWEEPS:
        kernel, by_board, by_hand = _SWEEPS[deal.num_players]
        weights = np.ascontiguousarray(deal.weights[:, deal.combos])
        arguments = (*combos, COMBO_CARDS[deal.combos].astype(np.int64), weights)
        work = boards * (rank + by_board + by_hand * deal.members.size)
        ways.append(_Way(deal, kernel, arguments, work))
    return ways


def _enumerated(way: _Way) -> NDArray[np.float64]:
    """Counts by set of winners over all full boards."""
    boards, weights = full_boards(way.deal)

    def work(start: int, stop: int) -> NDArray[np.float64]:
        counts = np.zeros(1 << way.deal.num_players)
        way.kernel(boards[start:stop], weights[start:stop], *way.arguments, counts)
        return counts

    counts = _sum_chunks(work, len(boards))
    counts[0] = 0.0  # listed hands that a board blocks
    return counts / way.deal.copies
