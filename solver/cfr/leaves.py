"""The seam below a tree: leaves whose values come from somewhere else.

A tree may end before the hand does. The trunk of a blueprint ends where the flop is dealt, a depth-limited
subgame ends where its search depth does. What such a leaf is worth depends on who gets there, so a provider
is given the reach of both players and answers with counterfactual values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Reach(Protocol):
    """The reach of both players at all leaves, ``reach[player]``; it may be computed when it is first asked for."""

    def __getitem__(self, player: int, /) -> NDArray[Any]: ...


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves of a tree.

    Attributes
    ----------
    nodes
        Node of each leaf in the tree, int64 [leaf].
    boards
        Public cards at each leaf as dealt, uint8 [leaf, cards]; no columns before the flop.
    """

    nodes: NDArray[np.int64]
    boards: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.nodes)


class LeafProvider(Protocol):
    """Whoever values the leaves of a tree."""

    def values(self, leaves: Leaves, reach: Reach, player: int) -> NDArray[np.float64]:
        """Counterfactual values of a player's hands at every leaf, ``[leaf, hand of the player]``.

        The value of a hand is the sum over the opponent's hands of their reach times the payoff, so it is linear
        in the opponent's reach.

        Parameters
        ----------
        leaves
            All leaves of the tree, always in the same order.
        reach
            Of player 0 and player 1, ``[leaf, hand of that player]``: the weight of each hand times the probability
            that its own actions lead to the leaf, under the strategies that are played: the current ones in
            training, the average ones in evaluation. It contains no probability of cards. A hand that the board blocks
            has reach 0.
        player
            Whose values are asked for.
        """
        ...


@runtime_checkable
class ThreadedLeafProvider(LeafProvider, Protocol):
    """A provider with threads of its own, beside which the engine can go on with its own work."""

    def values_beside(
        self, leaves: Leaves, arriving: NDArray[Any], player: int, meanwhile: Callable[[], None]
    ) -> NDArray[np.float64]:
        """As `values`, of leaves on one board.

        Parameters
        ----------
        arriving
            The opponent's reach.
        meanwhile
            Called once, on the calling thread, while other threads value the leaves.
        """
        ...
