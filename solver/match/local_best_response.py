"""Local best response (Lisy & Bowling 2017): a lower bound of how exploitable a strategy is.

The responder knows the strategy and keeps its range. At each of its decisions it assumes that both check or call from
there on, and takes the best action under that assumption. With wp the probability to win against the range,

    call      wp pot - (1 - wp) asked
    raise s   fp pot + (1 - fp) [wp' (pot + s) - (1 - wp') (asked + s)]

where fp is how often the strategy folds to the raise and wp' the probability to win against what does not fold. The
responder folds where nothing has a positive value. On streets that are not its own it checks and calls.

The published settings: ``fc`` folds and calls on all streets. ``fcpa`` may also bet the pot or all-in. ``56`` has 56
bets: 55 from .05 to 94.8 pots, each 1.15 times the one before, and all-in. Both choose on turn and river only, and
check and call before.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, COMBO_CARDS, NUM_CARDS, NUM_COMBOS, live_combos
from abstractions.equity import class_pairs
from abstractions.evaluator import _board_strengths
from solver.betting.lines import PREFLOP, PUBLIC_CARDS, RIVER, TURN, Letter
from solver.match.play import Deal
from solver.match.table import Table
from solver.preflop.game import PreflopGame
from solver.strategy import TableStrategy

Floats = NDArray[np.float64]
_ALL_IN = float("inf")
#: Sizes of each setting, as shares of the pot after a call.
SIZES: dict[str, tuple[float, ...]] = {
    "fc": (),
    "fcpa": (1.0, _ALL_IN),
    "56": (*(0.05 * 1.15**k for k in range(55)), _ALL_IN),
}
#: Streets on which the responder of each published setting chooses; elsewhere it checks and calls.
STREETS_OF = {"fc": tuple(range(PREFLOP, RIVER + 1)), "fcpa": (TURN, RIVER), "56": (TURN, RIVER)}


@dataclass(frozen=True)
class Setting:
    """What a responder may do: a name of `SIZES`, and the streets on which it chooses."""

    actions: str
    streets: tuple[int, ...]

    @classmethod
    def published(cls, actions: str) -> Setting:
        """A setting of the paper."""
        return cls(actions, STREETS_OF[actions])


@njit(cache=True, nogil=True)
def _add_showdowns(boards: Any, combo: int, strengths: Any, won: Any, met: Any) -> None:
    """Add to each opponent combo the share of the pot that a combo wins on each board, and 1 where both are live."""
    for b in range(len(boards)):
        _board_strengths(boards[b], strengths)
        mine = strengths[combo]
        for other in range(len(strengths)):
            if strengths[other] >= 0:
                met[other] += 1.0
                if strengths[other] < mine:
                    won[other] += 1.0
                elif strengths[other] == mine:
                    won[other] += 0.5


def hand_equities(combo: int, board: NDArray[np.uint8]) -> Floats:
    """Equity of a combo against every other on a flop, turn or river, exact over the run-outs, [1326].

    0 for combos that share a card with the combo or the board.

    >>> from abstractions.cards import parse_board, parse_combo
    >>> equities = hand_equities(parse_combo("AhKh"), parse_board("Kc7d2s5h"))
    >>> round(float(equities[parse_combo("QsQd")]), 4)
    0.9545
    """
    mine = COMBO_CARDS[combo]
    rest = np.setdiff1d(np.arange(NUM_CARDS), np.concatenate([board, mine]))
    tails = np.array(list(combinations(rest.tolist(), 5 - len(board))), dtype=np.uint8)
    boards = np.concatenate([np.repeat(board[None], len(tails), axis=0), tails], axis=1)
    won, met = np.zeros(NUM_COMBOS), np.zeros(NUM_COMBOS)
    _add_showdowns(np.ascontiguousarray(boards), combo, np.empty(NUM_COMBOS, dtype=np.int32), won, met)
    live = live_combos(np.concatenate([board, mine]))
    return np.divide(won, met, out=np.zeros(NUM_COMBOS), where=live & (met > 0))


class LocalBestResponse:
    """The responder to a strategy.

    Parameters
    ----------
    game
        For equities before the flop, by class.
    """

    def __init__(self, table: Table, strategy: TableStrategy, game: PreflopGame, setting: Setting) -> None:
        self.table, self.strategy, self.setting = table, strategy, setting
        self._by_class = game.equity.T / class_pairs()
        self._equities: dict[tuple[int, bytes], Floats] = {}

    def hand(self, deal: Deal, own: int, rng: np.random.Generator) -> float:
        """Mean net chips of the responder in seat `own` with its combo of a deal.

        The opponent's hand is never looked at: its actions are drawn from its range, and the end of the hand is a mean
        over what is left of it. A hand that is all-in is a mean over the run-outs.
        """
        table, combo = self.table, deal.combos[own]
        self._equities.clear()
        held = live_combos(COMBO_CARDS[combo])
        weights = held.astype(np.float64)
        # What the whole board leaves of the range decides how likely an action is; the responder does not see it.
        possible = live_combos(deal.board) & held
        line = ""
        while (seat := table.actor(line)) >= 0:
            board = self._board(deal, line)
            if seat == own:
                token = self._choice(line, combo, weights * live_combos(board), board)
            else:
                play = self.strategy.play(line, board)
                likely = play.probabilities @ (weights * possible)
                action = int(np.searchsorted(np.cumsum(likely), rng.random() * likely.sum(), side="right"))
                action = min(action, int(np.flatnonzero(likely)[-1]))
                weights = weights * play.probabilities[action]
                token = play.actions[action]
            line = table.follow(line, token)
        outcome = table.outcome(line)
        if not outcome.showdown:
            return float(outcome.chips[0, own])
        board = self._board(deal, line)
        final = weights * (possible if len(board) == 5 else live_combos(board))
        equity = self._win_probability(combo, final, board)
        win, lose = outcome.chips[own, own], outcome.chips[1 - own, own]
        return float(lose + (win - lose) * equity)

    def _board(self, deal: Deal, line: str) -> NDArray[np.uint8]:
        return deal.board[: PUBLIC_CARDS[self.table.state(line).street]]

    def _choice(self, line: str, combo: int, weights: Floats, board: NDArray[np.uint8]) -> str:
        """The action that is best if both check or call from there on."""
        table, passive = self.table, self.table.passive(line)
        if table.state(line).street not in self.setting.streets:
            return passive
        pot, asked = table.pot(line), table.to_call(line)
        equity = self._win_probability(combo, weights, board)
        best, chosen = equity * pot - (1 - equity) * asked, passive
        for token in self._raises(line):
            after = table.follow(line, token)
            play = self.strategy.play(after, board)
            folds = (
                play.probabilities[play.actions.index(Letter.FOLD)]
                if Letter.FOLD in play.actions
                else np.zeros(NUM_COMBOS)
            )
            folding = float(weights @ folds / weights.sum())
            kept = weights * (1 - folds)
            size = table.pot(after) - pot - asked
            worth = pot * folding
            if kept.any():
                equity = self._win_probability(combo, kept, board)
                worth += (1 - folding) * (equity * (pot + size) - (1 - equity) * (asked + size))
            if worth > best:
                best, chosen = worth, token
        return Letter.FOLD.value if asked > 0 and best <= 0 else chosen

    def _raises(self, line: str) -> list[str]:
        """The bets and raises that the responder considers, each once."""
        tokens = [self.table.raise_token(line, min(size, 1e9)) for size in SIZES[self.setting.actions]]
        return list(dict.fromkeys(token for token in tokens if token is not None))

    def _win_probability(self, combo: int, weights: Floats, board: NDArray[np.uint8]) -> float:
        """Share of the pot that a combo wins on average against a range, when all cards are dealt."""
        key = combo, board.tobytes()
        if key not in self._equities:
            self._equities[key] = (
                self._by_class[CLASS_OF_COMBO[combo], CLASS_OF_COMBO]
                if len(board) == 0
                else hand_equities(combo, board)
            )
        return float(weights @ self._equities[key] / weights.sum())
