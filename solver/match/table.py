"""The table: real lines of a game with any legal sizes, who acts, and what the end of a hand pays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solver.betting.game import GameConfig
from solver.betting.lines import PREFLOP, RIVER, Letter, tokens
from solver.betting.played_lines import PlayedStreet, play_line
from solver.betting.public_tree import LETTER_OF
from solver.betting.rules import (
    Action,
    BettingRules,
    BettingState,
    all_in_to,
    betting_is_over,
    call_amount,
    num_live,
)
from solver.betting.tree import game_start

#: Lines whose streets are remembered; more than a match usually sees.
_MAX_LINES = 50_000


@dataclass(frozen=True)
class Outcome:
    """Net chips of each seat at the end of a hand, ``[outcome, seat]``: seat 0 wins, seat 1 wins, split."""

    chips: NDArray[np.float64]
    showdown: bool


class Table:
    """A two-seat game as it is played: no menu restricts the sizes."""

    def __init__(self, config: GameConfig) -> None:
        if config.num_seats != 2:
            raise ValueError(f"stacks: matches are played by 2 seats, not {config.num_seats}")
        self.config = config
        self._streets: dict[str, list[PlayedStreet]] = {}

    @cached_property
    def _start(self) -> tuple[BettingRules, BettingState]:
        return game_start(self.config)

    @property
    def rules(self) -> BettingRules:
        """What is legal; its menus play no part."""
        return self._start[0]

    def streets(self, line: str) -> list[PlayedStreet]:
        """A line, street by street."""
        if line not in self._streets:
            if len(self._streets) >= _MAX_LINES:
                self._streets.clear()
            self._streets[line] = play_line(*self._start, line)
        return self._streets[line]

    def state(self, line: str) -> BettingState:
        """The betting at the end of a line."""
        return self.streets(line)[-1].state

    def actor(self, line: str) -> int:
        """Seat that acts at the end of a line, -1 where the hand is over."""
        return self.state(line).actor

    def follow(self, line: str, token: str) -> str:
        """The line after an action; the next street is entered where the betting of one has ended."""
        line += token
        state = self.state(line)
        if state.actor < 0 and state.street < RIVER and num_live(state) > 1:
            if betting_is_over(self.rules, state):
                return line
            line += Letter.DEAL
        return line

    def pot(self, line: str) -> int:
        """Chips in the middle, bets of the current street included."""
        return self.rules.dead + sum(self.state(line).committed)

    def committed(self, line: str, seat: int) -> int:
        """Chips that a seat has put in since the start of the hand, its ante included."""
        return self.state(line).committed[seat] + self.config.antes[seat]

    def outcome(self, line: str) -> Outcome:
        """What the end of a hand pays; a hand that is not over is settled as if it were checked down."""
        state = self.state(line)
        paid = np.full(2, min(state.committed), dtype=np.float64)
        pot = float(self.rules.dead + paid.sum())
        folded = [bool(state.folded >> seat & 1) for seat in range(2)]
        rake = min(self.config.rake * pot, self.config.rake_cap)
        if self.config.no_flop_no_drop and any(folded) and state.street == PREFLOP:
            rake = 0.0
        net = pot - rake
        shares = np.array([[net, 0.0], [0.0, net], [net / 2, net / 2]])
        if any(folded):
            shares[:] = shares[folded.index(False)]
        return Outcome(shares - paid - np.array(self.config.antes, dtype=np.float64), not any(folded))

    def token(self, line: str, action: Action, to: int) -> str:
        """How an action at the end of a line is written."""
        if action == Action.ALLIN or (action in (Action.BET, Action.RAISE) and to >= self.all_in(line)):
            return Letter.ALLIN.value
        return f"{LETTER_OF[action]}{to}" if action in (Action.BET, Action.RAISE) else LETTER_OF[action]

    def passive(self, line: str) -> str:
        """Check, or call where there is a bet to answer."""
        return (Letter.CALL if self.to_call(line) > 0 else Letter.CHECK).value

    def to_call(self, line: str) -> int:
        """Chips that a call costs the seat to act."""
        state = self.state(line)
        return call_amount(self.rules, state) - (state.committed[state.actor] - state.base[state.actor])

    def all_in(self, line: str) -> int:
        """Street total of an all-in of the seat to act."""
        return all_in_to(self.rules, self.state(line))

    def raise_token(self, line: str, share: float) -> str | None:
        """A bet or raise of a share of the pot after a call, made legal; None where nobody can raise."""
        state, maximum = self.state(line), self.all_in(line)
        if maximum <= state.level:
            return None
        pot = self.pot(line) + self.to_call(line)
        smallest = min(state.level + state.increment, maximum)
        to = min(max(state.level + round(share * pot), smallest), maximum)
        return self.token(line, Action.RAISE if state.bets else Action.BET, to)


def last_token(line: str) -> tuple[str, str]:
    """A line without its last token, and that token."""
    last = tokens(line)[-1]
    return line.removesuffix(last), last
