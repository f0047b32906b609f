"""Whatever plays: a strategy says how likely each combo takes each action, and reach follows from that.

A trained blueprint, an exported bundle, a subgame's solution and a preflop solve all answer the same questions, so
ranges, evaluations and charts take any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_OF_COMBO, NUM_CLASSES, live_combos

Floats = NDArray[np.float64]


class Decision(Protocol):
    """A place where somebody acts."""

    @property
    def player(self) -> int:
        """Seat that acts."""

    @property
    def street(self) -> int:
        """0 before the flop .. 3 on the river."""


Place = TypeVar("Place", bound=Decision)


class Strategy(Protocol[Place]):
    """What a strategy must answer; `reach` needs no more."""

    def steps(self, line: str) -> Sequence[tuple[Place, int]]:
        """Decisions on the way along a line, each with the number of the action that the line takes there."""

    def probabilities(self, decision: Place, board: NDArray[np.uint8]) -> NDArray[Any]:
        """Probability of each action by combo, ``[action, 1326]``; anything for combos that the board blocks.

        The board holds the public cards of the decision's street, or more.
        """


@dataclass(frozen=True, eq=False)
class Play:
    """How a strategy plays a decision at a table.

    Attributes
    ----------
    actions
        Tokens of the actions that it may take, such as ``x`` and ``b300``.
    probabilities
        Probability of each by combo, ``[action, 1326]``; anything for combos that the board blocks.
    """

    actions: tuple[str, ...]
    probabilities: Floats


class TableStrategy(Protocol):
    """What a strategy must answer to sit at a table, where others may bet any legal size."""

    def play(self, line: str, board: NDArray[np.uint8]) -> Play:
        """How it plays at the end of a line; the board holds the public cards of the line's street."""


def reach(strategy: Strategy[Place], line: str, board: NDArray[np.uint8], player: int) -> Floats:
    """How likely each combo of a player plays its part of a line, [1326]; 0 where the board blocks it.

    Parameters
    ----------
    strategy
        What both players play.
    line
        Where to.
    board
        Public cards of the line's last street, flop first.
    player
        Seat whose actions count.
    """
    weights = live_combos(board).astype(np.float64)
    live = np.flatnonzero(weights)
    for decision, action in strategy.steps(line):
        if decision.player == player:
            weights[live] *= strategy.probabilities(decision, board)[action, live]
    return weights


def by_combo(weights: Floats) -> Floats:
    """A range by combo, whether it is written by class or by combo."""
    return weights[CLASS_OF_COMBO] if len(weights) == NUM_CLASSES else weights


#: A combo of each class: before the flop all combos of a class play alike.
_COMBO_OF_CLASS = np.unique(CLASS_OF_COMBO, return_index=True)[1]


def by_class(weights: Floats) -> Floats:
    """A range before the flop by class, [169], from one by combo."""
    return weights[_COMBO_OF_CLASS]
