"""A public state: what both players see, and what each believes of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CARDS
from abstractions.isomorphism import permute_cards, permute_combos
from solver.value_states.random_ranges import recursive_range, strength_order

Floats = NDArray[np.float64]
#: Chips in the pot of a state that no game gives; only the ratio to the stack matters.
POT = 1000


@dataclass(frozen=True)
class PublicState:
    """Board, pot, stack behind each player, and the ranges of the players out of and in position by combo.

    Ranges sum to 1.
    """

    board: tuple[int, ...]
    pot: int
    stack: int
    ranges: tuple[Floats, Floats]

    def renamed(self, suits: NDArray[np.integer]) -> PublicState:
        """The same state with its suits renamed; `suits` gives the new one of each."""
        order = inverse_combos(suits)
        board = permute_cards(np.array(self.board, dtype=np.uint8), suits)
        return PublicState(
            tuple(int(card) for card in board),
            self.pot,
            self.stack,
            (self.ranges[0][order], self.ranges[1][order]),
        )


def inverse_combos(suits: NDArray[np.integer]) -> NDArray[np.int64]:
    """Of each combo after suits are renamed, the combo that it was before."""
    return np.argsort(permute_combos(suits))


def random_board(num_cards: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Different cards, all boards alike likely."""
    return tuple(int(card) for card in rng.choice(NUM_CARDS, num_cards, replace=False))


def random_state(num_cards: int, stack_to_pot: tuple[float, float], rng: np.random.Generator) -> PublicState:
    """A random board with DeepStack's ranges.

    Parameters
    ----------
    num_cards
        Public cards: 3 to 5.
    stack_to_pot
        Least and largest stack in pots; in between its logarithm is uniform.
    """
    board = random_board(num_cards, rng)
    order = strength_order(board, rng)
    low, high = np.log(stack_to_pot)
    stack = max(1, round(POT * float(np.exp(rng.uniform(low, high)))))
    return PublicState(board, POT, stack, (recursive_range(order, rng), recursive_range(order, rng)))
