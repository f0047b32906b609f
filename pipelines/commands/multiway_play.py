"""Ranges that a blueprint of three or more seats carries to the flop: two players', and those that the others fold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from abstractions.cards import CLASS_NAMES, CLASS_OF_COMBO, COMBO_CARDS, NUM_COMBOS
from artifacts.blueprint.line_reach import deal_weight
from artifacts.blueprint.multiway_bundle import MultiwayBundle
from pipelines.commands.preflop_play import Floats, FlopArrival, Ranges
from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, PREFLOP, action_order, with_prefix, without_prefix
from solver.betting.played_lines import play_line
from solver.betting.rules import BettingState, betting_is_over
from solver.betting.tree import game_start
from solver.postflop.holdem import read_folded


@dataclass(frozen=True, eq=False)
class MultiwayPlay:
    """The preflop strategy of a bundle of three or more seats, on lines that two players take to the flop."""

    bundle: MultiwayBundle

    @cached_property
    def game(self) -> GameConfig:
        """The game."""
        return self.bundle.game

    @cached_property
    def source(self) -> dict[str, Any]:
        """What a report says about it."""
        return {"source": str(self.bundle.path), "gain_mean_mbb": self.bundle.metrics["gain_mean"]}

    def players(self, line: str | None) -> tuple[int, int]:
        """The two seats that see the flop, in ascending order."""
        first, second = sorted(self._positions(self._end(line)))
        return first, second

    def arrival(self, line: str | None, ranges: Ranges, *, clean: bool) -> FlopArrival:
        """Where a line leaves the ranges that its two players were dealt, in order of their seats."""
        state = self._end(line)
        text = without_prefix(line or "")
        seats = self._positions(state)
        dealt = dict(zip(sorted(seats), ranges))
        antes = self.game.posted_antes
        first, second = (dealt[seat] * self._reach(text, seat) for seat in seats)
        folds = {seat: self._reach(text, seat) for seat in range(self.game.num_seats) if seat not in seats}
        return FlopArrival(
            line=text,
            pot=sum(state.committed) + sum(antes),
            stack=min(self.game.stacks[seat] - antes[seat] - state.committed[seat] for seat in seats),
            seats=seats,
            ranges=(first, second),
            # A fold that the blueprint never makes says nothing about the hand.
            folded={seat: weights for seat, weights in folds.items() if weights.any()},
            probability=_played_share((first, second), list(folds.values()), ranges),
            strategy=self._strategy(text, dealt, clean=clean),
        )

    def _end(self, line: str | None) -> BettingState:
        """The state behind a preflop line that takes two players to the flop with chips behind."""
        example = "such as one of `poker-solver lines` with a call at its end"
        if not line:
            raise ValueError(f"line: give a preflop line that two players take to the flop, {example}")
        text = without_prefix(line)
        self.bundle.steps(text)  # a size that is not on the menu is refused
        rules, start = game_start(self.game)
        streets = play_line(rules, start, text)
        state = streets[-1].state
        left = self.game.num_seats - state.folded.bit_count()
        if state.street != PREFLOP or state.actor >= 0 or left < 2 or betting_is_over(rules, state):
            raise ValueError(f"line: {line!r} does not lead to a flop with chips behind, {example}")
        if left > 2:
            raise ValueError(f"line: {left} players see the flop after {line!r}; a chained solve is of two")
        return state

    def _positions(self, state: BettingState) -> tuple[int, int]:
        """The seats left, out of position first."""
        order = action_order(self.game.num_seats, FLOP)
        first, second = (seat for seat in order if not state.folded >> seat & 1)
        return first, second

    def _reach(self, line: str, seat: int) -> Floats:
        """How likely each combo of a seat plays its part of a line, its fold included, [1326]."""
        return np.asarray(self.bundle.range(line, seat), dtype=np.float64)[CLASS_OF_COMBO]

    def _strategy(
        self, line: str, dealt: dict[int, Floats], *, clean: bool
    ) -> dict[str, dict[str, dict[str, float]]]:
        """Rows of the decisions on the way: the two players' for the hands that they were dealt, others' for all."""
        found = {}
        for decision, _ in self.bundle.steps(line):
            rows = self.bundle.preflop(decision.line)
            table = rows.probability if clean else rows.raw_probability
            held = dealt.get(decision.player, np.ones(NUM_COMBOS)) > 0.0
            found[with_prefix(decision.line)] = {
                CLASS_NAMES[index]: dict(zip(rows.actions, table[index].tolist()))
                for index in np.unique(CLASS_OF_COMBO[held]).tolist()
            }
        return found


def _played_share(carried: Ranges, folds: list[Floats], dealt: Ranges) -> float:
    """Share of the deals of two ranges in which both play their part and all others fold, cards that meet counted.

    Exact for up to four folds, sampled beyond.
    """
    if not all(weights.any() for weights in (*carried, *folds)):
        return 0.0
    folded = read_folded(folds)
    assert folded is not None
    held = [np.flatnonzero(weights) for weights in carried]
    pairs = folded.avoiding(()).of_pairs(COMBO_CARDS[held[0]], COMBO_CARDS[held[1]])
    both = float(carried[0][held[0]] @ pairs @ carried[1][held[1]])
    # Weights of pairs are relative to folded players whose hands may be any.
    return both * float(np.prod([weights.mean() for weights in folds])) / deal_weight(*dealt)
