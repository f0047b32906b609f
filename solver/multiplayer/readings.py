"""How a blueprint of three or more seats plays a line with sizes that it does not know.

As in `solver.subgame.translation`, a size between two known ones is taken for either with some probability. A line is
then a few places of the blueprint, each with a weight. Folds, checks and calls are taken for what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import live_combos
from solver.betting.lines import PREFLOP
from solver.betting.played_lines import PlayedStreet, token_action
from solver.betting.rules import Action, BettingRules, BettingState, act
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.later_lines import LaterLines, Place
from solver.subgame.translation import MIN_WEIGHT, Choice, readings, state_choice

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """A place that a line is taken for, and how likely: a line before the flop with its state, or a place after it."""

    weight: float
    line: str = ""
    state: BettingState | None = None
    place: Place | None = None


class ReadLines:
    """A blueprint that understands lines of any size."""

    def __init__(self, blueprint: MultiwayBlueprint, rules: BettingRules) -> None:
        self.blueprint, self.rules = blueprint, rules
        self.later = blueprint.later
        self._base = _street_bases(self.later)

    def ranges(
        self, streets: Sequence[PlayedStreet], board: NDArray[np.uint8]
    ) -> tuple[list[Floats], tuple[Reading, ...]]:
        """How likely each combo of every seat plays its part of some streets, [1326] each, and where they lead.

        An action that the blueprint takes with no hand at all says nothing about the hand.
        """
        live = live_combos(board)
        found = [live.astype(np.float64) for _ in self.rules.stacks]
        here: tuple[Reading, ...] = (Reading(1.0, state=streets[0].start),)
        for number, street in enumerate(streets):
            if number > 0:
                here = self.deal(here, street.start.street)
            state = street.start
            for action, to in street.actions:
                choice = state_choice(self.rules, state, action, to)
                likely = found[state.actor] * self._likelihood(here, state, choice, board)
                if likely.any():
                    found[state.actor] = likely
                here = self.follow(here, state, choice)
                state = act(self.rules, state, action, to)
        return found, here

    def follow(self, here: Sequence[Reading], state: BettingState, choice: Choice) -> tuple[Reading, ...]:
        """Where an action leads."""
        found: list[Reading] = []
        for reading in here:
            offered = self._offered(reading, state)
            if not offered:
                found.append(reading)
                continue
            for action, share in readings(choice, offered, ends_hand=False):
                found.append(self._after(reading, action, reading.weight * share))
        return _likely(found)

    def deal(self, here: Sequence[Reading], street: int) -> tuple[Reading, ...]:
        """The same lines on the next street."""
        return _likely([self._dealt(reading, street) for reading in here])

    def _likelihood(
        self, here: Sequence[Reading], state: BettingState, choice: Choice, board: NDArray[np.uint8]
    ) -> Floats:
        """How likely each combo takes an action, up to a factor that all share; 1 where the blueprint is silent."""
        total = np.zeros(1326)
        for reading in here:
            offered = self._offered(reading, state)
            if not offered:
                total += reading.weight
                continue
            probabilities = self._probabilities(reading, board)
            for action, share in readings(choice, offered, ends_hand=False):
                total += reading.weight * share * probabilities[action]
        return total

    def _probabilities(self, reading: Reading, board: NDArray[np.uint8]) -> Floats:
        if reading.place is not None:
            return self.blueprint.probabilities(reading.place, board)
        play = self.blueprint.preflop(reading.line)
        assert play is not None
        return self.blueprint.preflop_probabilities(play)

    def _offered(self, reading: Reading, state: BettingState) -> list[Choice]:
        """Actions at a reading where the same seat acts on the same street; none where the blueprint is silent."""
        place = reading.place
        if place is not None:
            acts = not self.later.is_end(place) and self.later.street(place) == state.street
            return self._choices(place) if acts and self.later.seat(place) == state.actor else []
        play = self.blueprint.preflop(reading.line) if state.street == PREFLOP else None
        if play is None or reading.state is None or reading.state.actor != state.actor:
            return []
        actions = [token_action(self.rules, reading.state, token) for token in play.tokens]
        return [state_choice(self.rules, reading.state, action, to) for action, to in actions]

    def _choices(self, place: Place) -> list[Choice]:
        """Actions after the flop, with what each adds to the bet level as a share of the pot after a call."""
        nodes, rows = self.later.nodes, self.later.rows
        node = place.node
        totals = nodes.stake[node] - self._base[node]
        level = float(totals.max())
        pot = 1.0 + float(nodes.stake[node].sum()) + level - float(totals[nodes.player[node]])
        first = int(nodes.row[node])
        found = []
        for row in range(first, first + int(nodes.actions[node])):
            action = Action(int(rows.action[row]))
            size = (float(rows.amount[row]) - level) / pot if action >= Action.BET else 0.0
            found.append(Choice(action, size))
        return found

    def _after(self, reading: Reading, action: int, weight: float) -> Reading:
        if reading.place is not None:
            return Reading(weight, place=self.later.children(reading.place)[action])
        play = self.blueprint.preflop(reading.line)
        assert play is not None
        assert reading.state is not None
        token = play.tokens[action]
        state = act(self.rules, reading.state, *token_action(self.rules, reading.state, token))
        return Reading(weight, reading.line + token, state)

    def _dealt(self, reading: Reading, street: int) -> Reading:
        place = reading.place
        if place is None:
            leaf = self.later.leaf(reading.line)
            return reading if leaf is None else Reading(reading.weight, place=self.later.root(leaf))
        # Where the blueprint still bets on the street that is over, everybody checks or calls.
        while not self.later.is_end(place) and self.later.street(place) < street:
            kinds = [action for action, _ in self.later.actions(place)]
            passive = [k for k, kind in enumerate(kinds) if kind in (Action.CHECK, Action.CALL)]
            place = self.later.children(place)[passive[0]]
        return replace(reading, place=place)


def _street_bases(later: LaterLines) -> NDArray[np.float64]:
    """What each position had put in at the start of the street, by node."""
    nodes, rows = later.nodes, later.rows
    base = np.zeros_like(nodes.stake)
    for node in range(len(nodes.player)):
        first = int(nodes.row[node])
        for child in rows.child[first : first + int(nodes.actions[node])].tolist():
            same = nodes.street[child] == nodes.street[node]
            base[child] = base[node] if same else nodes.stake[child]
    return base


def _likely(found: Sequence[Reading]) -> tuple[Reading, ...]:
    """Readings of the same place together, without those that are hardly likely."""
    merged: dict[tuple[str, Place | None], Reading] = {}
    for reading in found:
        key = reading.line, reading.place
        weight = reading.weight + (merged[key].weight if key in merged else 0.0)
        merged[key] = replace(reading, weight=weight)
    kept = [reading for reading in merged.values() if reading.weight >= MIN_WEIGHT]
    total = sum(reading.weight for reading in kept)
    return tuple(replace(reading, weight=reading.weight / total) for reading in kept)
