"""How a blueprint plays a line with sizes that it does not know.

A bet of x times the pot between two known sizes A < B is taken for A with probability

    f(x) = (B - x) (1 + A) / ((B - A) (1 + x))

and for B otherwise (the pseudo-harmonic mapping: Ganzfried & Sandholm 2013). A line is then a few lines of the
blueprint, each with a weight, and a decision is played as the blueprint plays there, weighted alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import live_combos
from solver.betting.lines import PREFLOP
from solver.betting.played_lines import PlayedStreet
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action, BettingRules, BettingState, act, call_amount
from solver.blueprint.strategy import Blueprint, BlueprintNode

Floats = NDArray[np.float64]
#: Readings of a line that are less likely than this are dropped.
MIN_WEIGHT = 0.02
_PASSIVE = (Action.CHECK, Action.CALL)
_BETS = (Action.BET, Action.RAISE)


class Choice(NamedTuple):
    """An action and its size: what it adds to the bet level, as a share of the pot after a call."""

    action: Action
    size: float


def pseudo_harmonic(size: float, known: Sequence[float]) -> list[tuple[int, float]]:
    """Known sizes (ascending) that a size is taken for, by number, with their probabilities.

    Examples
    --------
    >>> pseudo_harmonic(0.75, [0.5, 1.0])
    [(0, 0.42857142857142855), (1, 0.5714285714285714)]
    >>> pseudo_harmonic(0.2, [0.5, 1.0]), pseudo_harmonic(1.0, [0.5, 1.0])
    ([(0, 1.0)], [(1, 1.0)])
    """
    above = int(np.searchsorted(known, size))
    if above == 0:
        return [(0, 1.0)]
    if above == len(known) or known[above] == size:
        return [(min(above, len(known) - 1), 1.0)]
    low, high = known[above - 1], known[above]
    share = (high - size) * (1.0 + low) / ((high - low) * (1.0 + size))
    return [(above - 1, share), (above, 1.0 - share)]


def readings(choice: Choice, offered: Sequence[Choice], *, ends_hand: bool = True) -> list[tuple[int, float]]:
    """Offered actions that an action is taken for, by number, with their probabilities.

    Parameters
    ----------
    ends_hand
        Whether a bet that leaves chips behind may be taken for an all-in where nothing else is left. Then the hand
        would be over.
    """
    kinds = [item.action for item in offered]
    if choice.action in kinds and choice.action not in _BETS:
        return [(kinds.index(choice.action), 1.0)]
    bets = [k for k, kind in enumerate(kinds) if kind in _BETS]
    all_in = [k for k, kind in enumerate(kinds) if kind == Action.ALLIN]
    if choice.action in (*_BETS, Action.ALLIN):
        if choice.action == Action.ALLIN and all_in:
            return [(all_in[0], 1.0)]
        usable = bets or (all_in if ends_hand or choice.action == Action.ALLIN else [])
        if usable:
            found = pseudo_harmonic(choice.size, [offered[k].size for k in usable])
            return [(usable[k], share) for k, share in found]
    passive = [k for k, kind in enumerate(kinds) if kind in _PASSIVE]
    # Without a check or a call, as where limping is not allowed, the smallest bet is nearest.
    return [((passive or bets or all_in or [0])[0], 1.0)]


def state_choice(rules: BettingRules, state: BettingState, action: Action, to: int) -> Choice:
    """An action in a betting state, with its size."""
    if action < Action.BET:
        return Choice(action, 0.0)
    to_call = call_amount(rules, state) - (state.committed[state.actor] - state.base[state.actor])
    return Choice(action, (to - state.level) / (rules.dead + sum(state.committed) + to_call))


def tree_choices(tree: PublicTree, node: int) -> list[Choice]:
    """The actions at a decision of a tree, with their sizes."""
    start = node
    while tree.parent[start] >= 0 and tree.street[tree.parent[start]] == tree.street[node]:
        start = int(tree.parent[start])
    base = np.array(tree.antes) if tree.street[node] == PREFLOP else tree.committed[start]
    totals = tree.committed[node].astype(np.int64) - base
    level = int(totals.max())
    pot = float(tree.pot[node]) + level - int(totals[tree.player[node]])
    return [
        Choice(
            Action(int(tree.action[child])),
            (int(tree.amount[child]) - level) / pot if tree.action[child] >= Action.BET else 0.0,
        )
        for child in tree.children_of(node).tolist()
    ]


@dataclass(frozen=True)
class Reading:
    """A place of the blueprint that a line is taken for, and how likely."""

    place: BlueprintNode
    weight: float


class TranslatedBlueprint:
    """A blueprint that understands lines of any size."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self._choices: dict[int, list[Choice]] = {}

    def start(self) -> tuple[Reading, ...]:
        """The first decision of a hand."""
        return (Reading(self.blueprint.walk(""), 1.0),)

    def reach(
        self, rules: BettingRules, streets: Sequence[PlayedStreet], board: NDArray[np.uint8], player: int
    ) -> Floats:
        """How likely each combo of a player plays its part of some streets, [1326]; 0 where the board blocks it.

        An action that the blueprint takes with no hand at all says nothing about the hand.
        """
        weights = live_combos(board).astype(np.float64)
        live = np.flatnonzero(weights)
        for here, seat, choice in self._steps(rules, streets):
            if seat == player:
                likely = weights[live] * self.likelihood(here, choice, board)[live]
                if likely.any():
                    weights[live] = likely
        return weights

    def readings_at(self, rules: BettingRules, streets: Sequence[PlayedStreet]) -> tuple[Reading, ...]:
        """Where some streets lead."""
        here = self.start()
        for before, _, choice in self._steps(rules, streets):
            here = self.follow(before, choice)
        return here

    def _steps(
        self, rules: BettingRules, streets: Sequence[PlayedStreet]
    ) -> Iterator[tuple[tuple[Reading, ...], int, Choice]]:
        """The actions of some streets: what the line before each is taken for, who takes it, and the action."""
        here = self.start()
        for number, street in enumerate(streets):
            if number > 0:
                here = self.deal(here)
            state = street.start
            for action, to in street.actions:
                choice = state_choice(rules, state, action, to)
                yield here, state.actor, choice
                here = self.follow(here, choice)
                state = act(rules, state, action, to)

    def likelihood(self, here: Sequence[Reading], choice: Choice, board: NDArray[np.uint8]) -> Floats:
        """How likely each combo takes an action, up to a factor that all share; 1 where the blueprint is silent."""
        total = np.zeros(1326)
        for reading in here:
            if not self._is_decision(reading.place):
                total += reading.weight
                continue
            probabilities = self.blueprint.probabilities(reading.place, board)
            for action, share in readings(choice, self.choices(reading.place), ends_hand=False):
                total += reading.weight * share * probabilities[action]
        return total

    def follow(self, here: Sequence[Reading], choice: Choice) -> tuple[Reading, ...]:
        """Where an action leads."""
        tree = self.blueprint.game.tree
        found: dict[BlueprintNode, float] = {}
        for reading in here:
            place = reading.place
            if not self._is_decision(place):
                # The betting of the street is over in the blueprint: wait for the next card.
                found[place] = found.get(place, 0.0) + reading.weight
                continue
            children = tree.children_of(place.node).tolist()
            for action, share in readings(choice, self.choices(place), ends_hand=False):
                child = self._place(children[action], place.line)
                found[child] = found.get(child, 0.0) + reading.weight * share
        return _likely(found)

    def deal(self, here: Sequence[Reading]) -> tuple[Reading, ...]:
        """The same lines once the next card is dealt."""
        blueprint = self.blueprint
        tree, lines = blueprint.game.tree, blueprint.game.lines
        found: dict[BlueprintNode, float] = {}
        for reading in here:
            place = reading.place
            if tree.kind[place.node] == NodeKind.CHANCE:
                child = int(tree.children_of(place.node)[0])
                if place.street == PREFLOP:
                    number = lines.index(child)
                    place = self._place(blueprint.pots.of_line(number)[0], number)
                else:
                    place = self._place(child, place.line)
            found[place] = found.get(place, 0.0) + reading.weight
        return _likely(found)

    def choices(self, place: BlueprintNode) -> list[Choice]:
        """The actions at a decision of the blueprint."""
        if place.node not in self._choices:
            self._choices[place.node] = tree_choices(self.blueprint.game.tree, place.node)
        return self._choices[place.node]

    def mixture(
        self, here: Sequence[Reading], offered: Sequence[Choice]
    ) -> list[tuple[BlueprintNode, float, NDArray[np.float64]]]:
        """How a decision with other actions is played: places, their weights, and which action stands for which.

        The last is ``[action of the blueprint, offered action]``. Empty where the blueprint is silent.
        """
        found = []
        for reading in here:
            if self._is_decision(reading.place):
                known = self.choices(reading.place)
                stands_for = np.zeros((len(known), len(offered)))
                for k, choice in enumerate(known):
                    for action, share in readings(choice, offered):
                        stands_for[k, action] += share
                found.append((reading.place, reading.weight, stands_for))
        total = sum(weight for _, weight, _ in found)
        return [(place, weight / total, stands_for) for place, weight, stands_for in found]

    def _place(self, node: int, line: int) -> BlueprintNode:
        tree = self.blueprint.game.tree
        player = int(tree.player[node]) if tree.kind[node] == NodeKind.DECISION else -1
        return BlueprintNode(node, player, int(tree.street[node]), line)

    def _is_decision(self, place: BlueprintNode) -> bool:
        return place.player >= 0


def _likely(found: dict[BlueprintNode, float]) -> tuple[Reading, ...]:
    kept = [Reading(place, weight) for place, weight in found.items() if weight >= MIN_WEIGHT]
    total = sum(reading.weight for reading in kept)
    return tuple(replace(reading, weight=reading.weight / total) for reading in kept)


def tree_readings(
    translated: TranslatedBlueprint, tree: PublicTree, root: Sequence[Reading]
) -> dict[int, tuple[Reading, ...]]:
    """What each node of a tree is taken for, given what its root is."""
    found: dict[int, tuple[Reading, ...]] = {0: tuple(root)}
    for node in range(len(tree)):
        here = found[node]
        children = tree.children_of(node).tolist()
        if tree.kind[node] == NodeKind.CHANCE and children:
            found[children[0]] = translated.deal(here)
        elif children:
            for child, choice in zip(children, tree_choices(tree, node)):
                found[child] = translated.follow(here, choice)
    return found
