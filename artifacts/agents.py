"""Simple strategies on the lines of a blueprint, to compare with and to play against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, NUM_CLASSES, NUM_COMBOS, live_combos
from artifacts.blueprint.betting_lines import Decision
from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.blueprint.combo_rows import ComboRows
from artifacts.blueprint.preflop_bundle import BoardLike, Player, PreflopRows
from solver.betting.game import GameConfig
from solver.betting.lines import Letter, parse_seat
from solver.strategy import by_class, reach

Floats = NDArray[np.float64]


def _first_of(*letters: Letter) -> Callable[[tuple[str, ...]], Floats]:
    """The first of some actions that is on offer, always."""

    def play(tokens: tuple[str, ...]) -> Floats:
        chosen = next(letter for letter in letters if letter in tokens)
        return np.array([float(token == chosen) for token in tokens])

    return play


def _uniform(tokens: tuple[str, ...]) -> Floats:
    return np.full(len(tokens), 1.0 / len(tokens))


#: What each agent does with any hand, given the tokens on offer.
AGENTS: dict[str, Callable[[tuple[str, ...]], Floats]] = {
    "always-call": _first_of(Letter.CALL, Letter.CHECK),
    "always-fold": _first_of(Letter.FOLD, Letter.CHECK),
    "uniform": _uniform,
}


class Agent:
    """A strategy that looks at no cards. It answers like the blueprint whose lines it plays, without values.

    Parameters
    ----------
    lines
        The blueprint whose game is played.
    name
        One of `AGENTS`.
    """

    def __init__(self, lines: BlueprintBundle, name: str) -> None:
        if name not in AGENTS:
            raise ValueError(f"agent {name!r}: accepted are {', '.join(AGENTS)}")
        self.name, self._lines, self._play = name, lines, AGENTS[name]
        self.seats, self.root_board = lines.seats, lines.root_board

    @property
    def game(self) -> GameConfig:
        """The game that is played."""
        return self._lines.game

    def dealt_range(self, player: int) -> Floats:
        """Weight of each combo of a player at the start, [1326]: every hand alike."""
        return self._lines.dealt_range(player)

    @property
    def has_class_equity(self) -> bool:
        """Whether the equities of class against class are known."""
        return self._lines.has_class_equity

    def class_equity(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Wins, ties and deals of class against class."""
        return self._lines.class_equity()

    def decision(self, line: str) -> Decision:
        """Who acts at a line, and what is on offer."""
        return self._lines.decision(line)

    def steps(self, line: str) -> tuple[tuple[Decision, int], ...]:
        """See `solver.strategy.Strategy.steps`."""
        return self._lines.steps(line)

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> Floats:
        """See `solver.strategy.Strategy.probabilities`."""
        del board
        return np.repeat(self._play(decision.tokens)[:, None], NUM_COMBOS, axis=1)

    def range(self, line: str, player: Player | None = None, board: BoardLike = "") -> Floats:
        """How likely each hand of a player plays its part of a line: by class without a board, else by combo."""
        cards = self._lines.public_cards(line, board)
        seat = self.decision(line).player if player is None else parse_seat(player)
        weights = reach(self, line, cards, seat)
        return weights if len(cards) else by_class(weights)

    def preflop(self, line: str) -> PreflopRows:
        """A decision before the flop by class; there are no values."""
        decision = self.decision(line)
        shares = np.repeat(self._play(decision.tokens)[None], NUM_CLASSES, axis=0)
        nothing = np.full_like(shares, np.nan)
        return PreflopRows(
            hands=CLASS_NAMES,
            actions=decision.actions,
            probability=shares,
            raw_probability=shares,
            ev=nothing,
            ev_se=nothing,
            reasons=(None,) * NUM_CLASSES,
            reach=self.range(line),
        )

    def postflop(self, line: str, board: BoardLike) -> ComboRows:
        """A decision after the flop by combo."""
        decision, cards = self.decision(line), self._lines.public_cards(line, board)
        live = np.flatnonzero(live_combos(cards))
        return ComboRows(
            combos=live,
            actions=decision.actions,
            raw_probability=np.repeat(self._play(decision.tokens)[None], len(live), axis=0),
            reasons=(None,) * len(live),
            reach=self.range(line, decision.player, cards)[live],
        )
