"""Duplicate hands between two strategies, and an estimate of what they win that leaves most of the luck out.

The estimator is AIVAT (Burch, Schmid, Moravcik, Morrill & Bowling 2018) for two known strategies. The board z is dealt
in full before the hand. Both hands are never looked at: given the actions so far, each player has a range. With U the
mean payoff of both ranges at the end, V any guess of the value of a line, and P(a) the probability of action a,

    estimate = U(end) - sum over decisions of [V(line a taken) - sum over a of P(a) V(line a)]

Each bracket has mean zero, so the estimate is unbiased whatever V is. With the true V it is the same for every hand on
a board. Then only the luck of the board is left, and playing the same cards in both seats takes most of that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import COMBO_INDEX, NUM_CARDS, disjoint_weight, live_combos
from abstractions.evaluator import evaluate_board
from solver.betting.lines import PUBLIC_CARDS
from solver.match.board_values import BoardValues, settled
from solver.match.table import Table
from solver.strategy import TableStrategy

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Deal:
    """The cards of a hand: a full board, and the combos of seat 0 and seat 1."""

    board: NDArray[np.uint8]
    combos: tuple[int, int]


def draw_deal(rng: np.random.Generator, board: NDArray[np.uint8] | None = None) -> Deal:
    """Deal a hand; the board may be given."""
    if board is None:
        board = rng.choice(NUM_CARDS, 5, replace=False).astype(np.uint8)
    rest = np.setdiff1d(np.arange(NUM_CARDS), board)
    first, second = np.sort(rng.choice(rest, 4, replace=False).reshape(2, 2), axis=1)
    return Deal(board, (int(COMBO_INDEX[tuple(first)]), int(COMBO_INDEX[tuple(second)])))


def hand_rng(seed: int, number: int) -> np.random.Generator:
    """The randomness of a hand: the same whoever plays it, and whenever."""
    return np.random.default_rng([seed, number])


@dataclass(frozen=True)
class HandResult:
    """A hand in the eyes of one seat: the line that was played, its net chips, and their estimate."""

    line: str
    chips: float
    estimate: float


def play_hand(
    table: Table,
    seats: tuple[TableStrategy, TableStrategy],
    deal: Deal,
    own: int,
    rng: np.random.Generator,
    values: BoardValues | None = None,
) -> HandResult:
    """Play a hand, with chips and estimate of seat `own`.

    Parameters
    ----------
    values
        The guess V; without it nothing but the hands themselves is averaged out.
    """
    live = live_combos(deal.board).astype(np.float64)
    ranges = [live, live.copy()]
    if values is not None:
        values.deal(deal.board)
    line, corrections = "", 0.0
    while (seat := table.actor(line)) >= 0:
        play = seats[seat].play(line, deal.board[: PUBLIC_CARDS[table.state(line).street]])
        shares = play.probabilities[:, deal.combos[seat]]
        taken = int(np.searchsorted(np.cumsum(shares), rng.random() * shares.sum(), side="right"))
        taken = min(taken, int(np.flatnonzero(shares)[-1]))
        if len(play.actions) > 1:
            met = disjoint_weight(ranges[1 - seat]) * ranges[seat]
            likely = play.probabilities @ met / met.sum()
            guesses = np.zeros(len(likely))
            for action in np.flatnonzero(likely > 0.0).tolist() if values is not None else ():
                after = list(ranges)
                after[seat] = ranges[seat] * play.probabilities[action]
                pairs = float(after[0] @ disjoint_weight(after[1]))
                assert values is not None
                guess = values.value(table.follow(line, play.actions[action]), own, (after[0], after[1]))
                guesses[action] = guess / pairs
            corrections += guesses[taken] - float(likely @ guesses)
            ranges[seat] = ranges[seat] * play.probabilities[taken]
        line = table.follow(line, play.actions[taken])
    outcome = table.outcome(line)
    pairs = float(ranges[0] @ disjoint_weight(ranges[1]))
    mean = settled(outcome, own, (ranges[0], ranges[1]), deal.board) / pairs
    strengths = evaluate_board(deal.board)[list(deal.combos)]
    winner = 2 if strengths[0] == strengths[1] else int(strengths[1] > strengths[0])
    return HandResult(line, float(outcome.chips[winner, own]), mean - corrections)


@dataclass(frozen=True)
class Interval:
    """A mean with the half width of its 95 % interval, over so many independent figures."""

    mean: float
    half_width: float
    count: int

    @classmethod
    def of(cls, figures: Floats) -> Interval:
        """Of independent figures; the width is nan for fewer than two."""
        count = len(figures)
        spread = float(np.std(figures, ddof=1)) if count > 1 else float("nan")
        return cls(float(np.mean(figures)), 1.96 * spread / np.sqrt(count), count)

    @property
    def text(self) -> str:
        """For people, in mbb/hand."""
        # Adding 0.0 turns a rounded -0.0 into 0.0.
        mean, low, high = (
            round(figure, 1) + 0.0
            for figure in (self.mean, self.mean - self.half_width, self.mean + self.half_width)
        )
        return f"{mean:.1f} mbb/hand, 95 % interval {low:.1f} to {high:.1f}"


class Match:
    """Duplicate hands between two strategies, in the eyes of the first.

    Parameters
    ----------
    players
        The two strategies.
    values
        The guess V with the first in seat 0, and with the first in seat 1; None for no corrections.
    exact
        Whether V is what both strategies really win, as for two blueprints of one tree. Then the value of the first
        decision is the estimate, and no correction is worked out.
    """

    def __init__(
        self,
        table: Table,
        players: tuple[TableStrategy, TableStrategy],
        values: tuple[BoardValues, BoardValues] | None = None,
        *,
        exact: bool = False,
    ) -> None:
        self.table, self.players, self.values, self.exact = table, players, values, exact

    def duplicate(self, deal: Deal, rng: np.random.Generator) -> tuple[float, float]:
        """Chips of the first strategy and their estimate, means of both seatings of the same cards."""
        chips = estimate = 0.0
        for own in range(2):
            seats = self.players if own == 0 else self.players[::-1]
            values = None if self.values is None else self.values[own]
            result = play_hand(self.table, seats, deal, own, rng, None if self.exact else values)
            chips += result.chips / 2
            if self.exact and values is not None:
                values.deal(deal.board)
                estimate += values.root(own) / 2
            else:
                estimate += result.estimate / 2
        return chips, estimate
