"""Public states that a blueprint comes to: random lines to a street, random boards, ranges with noise."""

from __future__ import annotations

import numpy as np

from abstractions.cards import live_combos
from artifacts.blueprint.bundle import BlueprintBundle
from solver.betting.lines import FLOP, PUBLIC_CARDS, action_order
from solver.betting.public_tree import NodeKind
from solver.betting.tree import game_tree
from solver.value_states.public_state import PublicState, random_board
from solver.value_states.random_ranges import with_noise

#: Draws of a line and a board before giving up: some lines are played by no hand.
MAX_TRIES = 1000


class BlueprintStates:
    """States at the start of a street of a blueprint.

    Parameters
    ----------
    bundle
        The exported blueprint.
    street
        1 flop .. 3 river.
    noise
        See `solver.value_states.random_ranges.with_noise`.
    """

    def __init__(self, bundle: BlueprintBundle, street: int, noise: float) -> None:
        self.bundle, self.street, self.noise = bundle, street, noise
        self.tree = game_tree(bundle.game)
        starts = (self.tree.street == street) & (self.tree.kind == NodeKind.DECISION)
        first = self.tree.street[np.maximum(self.tree.parent, 0)] != street
        self.nodes = np.flatnonzero(starts & first)
        self.seats = action_order(2, FLOP)

    def draw(self, rng: np.random.Generator) -> PublicState:
        """A line to the street and a board, all alike likely, with the ranges that play it, changed by noise.

        Raises
        ------
        ValueError
            If no line is found that both players play.
        """
        for _ in range(MAX_TRIES):
            node = int(rng.choice(self.nodes))
            board = random_board(PUBLIC_CARDS[self.street], rng)
            cards = np.array(board, dtype=np.uint8)
            line = self.tree.line(node)
            live = live_combos(cards)
            played = [self.bundle.range(line, seat, cards) * live for seat in self.seats]
            if all(weights.any() for weights in played):
                first, second = (with_noise(weights, live, self.noise, rng) for weights in played)
                committed = self.tree.committed[node]
                stack = min(self.bundle.game.stacks[seat] - int(committed[seat]) for seat in range(2))
                return PublicState(board, int(self.tree.pot[node]), stack, (first, second))
        raise ValueError(f"bundle: no line to the street that both players play, in {MAX_TRIES} draws")
