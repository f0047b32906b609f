"""What a blueprint plays at a line and how often it comes up, by hand, with card removal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import (
    CLASS_NAMES,
    CLASS_OF_COMBO,
    COMBO_CARDS,
    NUM_CARDS,
    NUM_CLASSES,
    NUM_COMBOS,
    format_cards,
    format_combo,
    live_combos,
)
from artifacts.blueprint.bundle import BlueprintBundle
from solver.betting.lines import history_key, postflop_history, split_street

Floats = NDArray[np.float64]


def compatible(weights: Floats) -> Floats:
    """Weight of the hands that share no card with each combo, [1326]; `weights` by combo."""
    by_card = np.bincount(COMBO_CARDS.ravel(), np.repeat(weights, 2), minlength=NUM_CARDS)
    left = weights.sum() - by_card[COMBO_CARDS].sum(axis=1) + weights
    return np.maximum(left, 0.0)


def deal_weight(first: Floats, second: Floats) -> float:
    """Weight of the deals of two ranges, both by combo: pairs of hands without a card in common.

    >>> everything = np.ones(1326)
    >>> deal_weight(everything, everything)
    1624350.0
    """
    return float(first @ compatible(second))


def by_combo(weights: Floats) -> Floats:
    """A range by combo, whether it is written by class or by combo."""
    return weights[CLASS_OF_COMBO] if len(weights) == NUM_CLASSES else weights


def hand_reach(bundle: BlueprintBundle, line: str, board: NDArray[np.uint8]) -> Floats:
    """Probability that a line is played and the player to act at its end holds each combo, [1326].

    Given the board, over all deals of two hands that it leaves.
    """
    actor = bundle.decision(line).player
    own, other = (by_combo(bundle.range(line, seat, board)) for seat in (actor, 1 - actor))
    return own * compatible(other) / num_deals(board)


def num_deals(board: NDArray[np.uint8]) -> float:
    """Ordered deals of two hands that a board leaves."""
    live = live_combos(board).astype(np.float64) if len(board) else np.ones(NUM_COMBOS)
    return deal_weight(live, live)


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
        """How often each action is taken by the hands that get there; nan where none does."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.reach @ self.shares / self.reach.sum()


def line_plays(bundle: BlueprintBundle, lines: Iterable[str], board: NDArray[np.uint8]) -> Iterator[LinePlay]:
    """Decisions of one street; `board` holds the cards of that street, none before the flop."""
    views: dict[str, dict[str, list[float]]] = {}
    live = np.flatnonzero(live_combos(board))
    names = tuple(format_combo(int(combo)) for combo in live)
    holes = [format_cards(COMBO_CARDS[combo]) for combo in live]
    for line in lines:
        decision, reach = bundle.decision(line), hand_reach(bundle, line, board)
        if not len(board):
            rows = bundle.preflop(line)
            by_class = np.bincount(CLASS_OF_COMBO, weights=reach, minlength=NUM_CLASSES).astype(np.float64)
            yield LinePlay(line, decision.player, rows.actions, CLASS_NAMES, by_class, rows.raw_probability)
            continue
        # One view of a street holds all its decisions, and lines come street by street.
        root = split_street(line)[0]
        if root not in views:
            views = {root: bundle.per_history_strategy_view(board, root, clean=False)}
        suffix = history_key(format_cards(np.sort(board)), decision.street, postflop_history(line))
        shares = np.array([views[root][hole + suffix] for hole in holes])
        yield LinePlay(line, decision.player, decision.actions, names, reach[live], shares)
