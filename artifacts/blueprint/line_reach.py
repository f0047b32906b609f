"""What a blueprint plays at a line and how often it comes up, by hand, with card removal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_NAMES,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_CLASSES,
    NUM_COMBOS,
    disjoint_weight,
    format_combo,
    live_combos,
)
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.blueprint.preflop_bundle import PreflopBundle
from solver.strategy import by_combo

if TYPE_CHECKING:
    from artifacts.agents import Agent
    from artifacts.spot_bundle import SpotBundle
    from artifacts.subgame_bundle import SubgameBundle

Floats = NDArray[np.float64]


def deal_weight(first: Floats, second: Floats) -> float:
    """Weight of the deals of two ranges, both by combo: pairs of hands without a card in common.

    >>> everything = np.ones(1326)
    >>> deal_weight(everything, everything)
    1624350.0
    """
    return float(first @ disjoint_weight(second))


def hand_reach(
    bundle: PreflopBundle | SpotBundle | SubgameBundle | Agent, line: str, board: NDArray[np.uint8]
) -> Floats:
    """Probability that a line is played and the player to act at its end holds each combo, [1326].

    Given the board, over all deals of two hands that it leaves.
    """
    from artifacts.spot_bundle import SpotBundle

    actor = bundle.decision(line).player
    own, other = (by_combo(bundle.range(line, seat, board)) for seat in (actor, 1 - actor))
    dealt = bundle.dealt_range(0), bundle.dealt_range(1)
    folded = bundle.folded if isinstance(bundle, SpotBundle) else None
    if folded is None:
        return own * disjoint_weight(other) / num_deals(board, dealt)
    # Folded players give every pair of hands a weight of its own.
    weights = folded.avoiding(board.tolist()).of_pairs(COMBO_CARDS, COMBO_CARDS)
    return np.asarray(own * (weights @ other) / (dealt[0] @ weights @ dealt[1]), dtype=np.float64)


def num_deals(board: NDArray[np.uint8], ranges: tuple[Floats, Floats] | None = None) -> float:
    """Ordered deals of two hands that a board leaves; weighted where `ranges` says which hands are dealt."""
    live = live_combos(board).astype(np.float64) if len(board) else np.ones(NUM_COMBOS)
    first, second = (live, live) if ranges is None else (live * ranges[0], live * ranges[1])
    return deal_weight(first, second)


@dataclass(frozen=True)
class LinePlay:
    """A decision as trained: classes before the flop, combos that the board leaves after it.

    Attributes
    ----------
    reach
        Probability by hand that the line is played and the player to act holds it.
    shares
        ``[hand, action]``.
    """

    line: str
    player: int
    actions: tuple[str, ...]
    hands: tuple[str, ...]
    reach: Floats
    shares: Floats

    @property
    def frequencies(self) -> Floats:
        """How often each action is taken when the line is played; nan where it never is.

        Hands count by how often they get there, so those that the opponent's range makes less likely count less.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.reach @ self.shares / self.reach.sum()


def line_plays(
    bundle: PreflopBundle | SpotBundle | SubgameBundle | Agent, lines: Iterable[str], board: NDArray[np.uint8]
) -> Iterator[LinePlay]:
    """Decisions of one street; `board` holds the cards of that street, none before the flop."""
    from artifacts.agents import Agent

    live = np.flatnonzero(live_combos(board))
    names = tuple(format_combo(int(combo)) for combo in live)
    for line in lines:
        decision = bundle.decision(line)
        if isinstance(bundle, MultiwayBundle) and decision.street == 0:
            rows, by_hand = bundle.preflop(line), bundle.line_reach(decision)
            yield LinePlay(line, decision.player, rows.actions, CLASS_NAMES, by_hand, rows.raw_probability)
            continue
        reach = (
            bundle.line_reach(decision, board)
            if isinstance(bundle, MultiwayBundle)
            else hand_reach(bundle, line, board)
        )
        if not len(board) and isinstance(bundle, PreflopBundle | Agent):
            rows = bundle.preflop(line)
            by_class = np.bincount(CLASS_OF_COMBO, weights=reach, minlength=NUM_CLASSES).astype(np.float64)
            yield LinePlay(line, decision.player, rows.actions, CLASS_NAMES, by_class, rows.raw_probability)
        else:
            shares = bundle.probabilities(decision, board)[:, live].T.astype(np.float64)
            yield LinePlay(line, decision.player, decision.actions, names, reach[live], shares)


def line_play(
    bundle: PreflopBundle | SpotBundle | SubgameBundle | Agent,
    line: str,
    board: NDArray[np.uint8] | None = None,
) -> LinePlay:
    """One decision; before the flop without a board."""
    cards = np.empty(0, dtype=np.uint8) if board is None else board
    return next(line_plays(bundle, [line], cards))
