"""Where two blueprints of one game disagree: how far apart they play, times how often it comes up.

The distance of two strategies of a hand is their total variation, the probability that must move to make one
the other. Its weight is the probability that the line is played and the hand is held, the mean of both
blueprints. Both are read as trained, so that off-path hands weigh next to nothing by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from artifacts.blueprint.line_reach import LinePlay, line_plays
from artifacts.blueprint.preflop_bundle import PreflopBundle
from artifacts.errors import BundleError
from solver.betting.lines import STREETS, without_prefix


@dataclass(frozen=True)
class HandDifference:
    """One hand at one line.

    Attributes
    ----------
    line
        Without prefix.
    reach
        Probability per deal that the line is played and the hand is held by the player to act.
    distance
        Total variation of the two strategies, 0 to 1.
    first, second
        What each blueprint plays, by action label.
    """

    line: str
    hand: str
    reach: float
    distance: float
    first: dict[str, float]
    second: dict[str, float]

    @property
    def weighted(self) -> float:
        """Distance times reach."""
        return self.distance * self.reach


@dataclass(frozen=True)
class LineDifference:
    """One line: its reach, and the distance of the strategies averaged over the hands that get there."""

    line: str
    player: str
    reach: float
    distance: float
    hands: tuple[HandDifference, ...]

    @property
    def weighted(self) -> float:
        """Distance times reach."""
        return self.distance * self.reach


def strategy_distance(
    first_actions: Sequence[str],
    first: NDArray[np.float64],
    second_actions: Sequence[str],
    second: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Literal["action", "kind"]]:
    """Total variation of two strategies by hand, and what was compared.

    Where the actions differ, as those of a subgame with other sizes do, kinds are compared: fold, check or call, and
    everything that bets.

    >>> strategy_distance(["fold", "call"], np.array([[1.0, 0.0]]), ["fold", "call"], np.array([[0.75, 0.25]]))
    (array([0.25]), 'action')
    >>> strategy_distance(["check", "bet_50"], np.array([[0.5, 0.5]]), ["check", "bet_60"], np.array([[0.5, 0.5]]))
    (array([0.]), 'kind')
    """
    if list(first_actions) == list(second_actions):
        return 0.5 * np.abs(first - second).sum(axis=1), "action"
    kinds = [
        np.stack([shares[:, [_kind(label) == kind for label in labels]].sum(axis=1) for kind in range(3)])
        for labels, shares in ((first_actions, first), (second_actions, second))
    ]
    return 0.5 * np.abs(kinds[0] - kinds[1]).sum(axis=0), "kind"


def _kind(label: str) -> int:
    """0 for a fold, 1 for a check or a call, 2 for everything that bets."""
    return {"fold": 0, "check": 1, "call": 1}.get(label, 2)


def bundle_difference(
    first: PreflopBundle,
    second: PreflopBundle,
    *,
    board: NDArray[np.uint8] | None = None,
    prefix: str = "",
) -> list[LineDifference]:
    """Every line with its hands, each largest first.

    Parameters
    ----------
    board
        Compare the decisions of this board's street, by combo; without it those before the flop, by class.
    prefix
        Compare lines that begin with this only.

    Raises
    ------
    BundleError
        If the two do not offer the same actions at the same lines: they are of different games.
    """
    cards = np.empty(0, dtype=np.uint8) if board is None else board
    street = STREETS[max(len(cards) - 2, 0)]
    lines = first.lines(street)
    if lines != second.lines(street):
        raise BundleError(
            f"{first.path} and {second.path} are of different games: their {street} lines differ"
        )
    start = without_prefix(prefix)
    chosen = [line for line in lines if without_prefix(line).startswith(start)]
    if not chosen:
        raise ValueError(f"prefix {prefix!r}: no {street} line begins with it")
    found = [
        _line_difference(without_prefix(line), first.seats, one, two)
        for line, one, two in zip(chosen, line_plays(first, chosen, cards), line_plays(second, chosen, cards))
    ]
    return sorted(found, key=lambda line: -line.weighted)


def _line_difference(line: str, seats: tuple[str, ...], one: LinePlay, two: LinePlay) -> LineDifference:
    if one.actions != two.actions:
        raise BundleError(
            f"line {line!r}: the blueprints offer different actions ({', '.join(one.actions)} and "
            f"{', '.join(two.actions)}); they are of different games"
        )
    distance, _ = strategy_distance(one.actions, one.shares, two.actions, two.shares)
    reach = 0.5 * (one.reach + two.reach)
    weighted = distance * reach
    total = float(reach.sum())
    hands = tuple(
        HandDifference(
            line,
            one.hands[index],
            float(reach[index]),
            float(distance[index]),
            dict(zip(one.actions, one.shares[index].tolist())),
            dict(zip(one.actions, two.shares[index].tolist())),
        )
        for index in np.argsort(-weighted, kind="stable").tolist()
        if weighted[index] > 0
    )
    mean = float(weighted.sum()) / total if total > 0 else 0.0
    return LineDifference(line, seats[one.player], total, mean, hands)
