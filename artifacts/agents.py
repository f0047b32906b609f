"""Agents on the lines of a blueprint, to compare with and to play against: simple strategies, and a locked one."""

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
from solver.betting.lines import parse_seat
from solver.simple_strategies import check_simple, simple_shares
from solver.strategy import by_class, by_combo, reach

Floats = NDArray[np.float64]


class Agent:
    """A strategy on the lines of a blueprint. It answers like the blueprint, without values.

    Parameters
    ----------
    lines
        The blueprint whose game is played.
    name
        For people.
    play
        Probability of each action by combo at a decision on a board, ``[action, 1326]``.
    """

    def __init__(
        self,
        lines: BlueprintBundle,
        name: str,
        play: Callable[[Decision, NDArray[np.uint8]], Floats],
    ) -> None:
        self.name, self.lines, self._play = name, lines, play
        self.seats, self.root_board = lines.seats, lines.root_board

    @property
    def game(self) -> GameConfig:
        """The game that is played."""
        return self.lines.game

    def dealt_range(self, player: int) -> Floats:
        """Weight of each combo of a player at the start, [1326]: every hand alike."""
        return self.lines.dealt_range(player)

    @property
    def has_class_equity(self) -> bool:
        """Whether the equities of class against class are known."""
        return self.lines.has_class_equity

    def class_equity(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Wins, ties and deals of class against class."""
        return self.lines.class_equity()

    def decision(self, line: str) -> Decision:
        """Who acts at a line, and what is on offer."""
        return self.lines.decision(line)

    def steps(self, line: str) -> tuple[tuple[Decision, int], ...]:
        """See `solver.strategy.Strategy.steps`."""
        return self.lines.steps(line)

    def probabilities(self, decision: Decision, board: NDArray[np.uint8]) -> Floats:
        """See `solver.strategy.Strategy.probabilities`."""
        return self._play(decision, board)

    def range(self, line: str, player: Player | None = None, board: BoardLike = "") -> Floats:
        """How likely each hand of a player plays its part of a line: by class without a board, else by combo."""
        cards = self.lines.public_cards(line, board)
        seat = self.decision(line).player if player is None else parse_seat(player)
        weights = reach(self, line, cards, seat)
        return weights if len(cards) else by_class(weights)

    def preflop(self, line: str) -> PreflopRows:
        """A decision before the flop by class; there are no values."""
        decision = self.decision(line)
        played = self.probabilities(decision, np.empty(0, dtype=np.uint8))
        shares = np.stack([by_class(row) for row in played], axis=1)
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
        decision, cards = self.decision(line), self.lines.public_cards(line, board)
        live = np.flatnonzero(live_combos(cards))
        return ComboRows(
            combos=live,
            actions=decision.actions,
            raw_probability=self.probabilities(decision, cards)[:, live].T,
            reasons=(None,) * len(live),
            reach=self.range(line, decision.player, cards)[live],
        )


def simple_agent(lines: BlueprintBundle, name: str) -> Agent:
    """A strategy of `SIMPLE` on the lines of a blueprint."""
    check_simple(name)

    def play(decision: Decision, board: NDArray[np.uint8]) -> Floats:
        del board  # it looks at no cards
        return np.repeat(simple_shares(name, decision.tokens)[:, None], NUM_COMBOS, axis=1)

    return Agent(lines, name, play)


def locked_agent(lines: BlueprintBundle, line: str, table: Floats) -> Agent:
    """A blueprint with one decision whose strategy is given.

    Parameters
    ----------
    lines
        The blueprint, which plays everywhere else.
    line
        The decision.
    table
        What is played there, ``[action, 1326]``; negative where a hand plays as the blueprint does.
    """
    locked = lines.decision(line)
    if table.shape != (len(locked.tokens), NUM_COMBOS):
        raise ValueError(f"lock: {len(table)} actions at {line!r}; expected {len(locked.tokens)}")
    alike = np.stack([by_combo(by_class(row)) for row in table])
    if locked.street == 0 and not np.array_equal(alike, table):
        raise ValueError(f"lock: {line!r} is before the flop, where whole hand classes are locked")

    def play(decision: Decision, board: NDArray[np.uint8]) -> Floats:
        shares = np.asarray(lines.probabilities(decision, board), dtype=np.float64)
        return np.where(table >= 0.0, table, shares) if decision.line == locked.line else shares

    return Agent(lines, "locked", play)
