"""Where an engine meets the provider of its leaf values.

The provider is asked before every sweep, for all leaves at once and the player whose values the sweep computes.

Reach, in
    ``[leaf, root hand]`` of each player, in the engine's precision, computed where the provider asks for it: the weight
    of the hand in its range times the probability of its own actions on the way, and no probability of cards. Training
    shows the current strategies, everything else the average ones. A best response shows the average reach of the
    responder, too.

Values, out
    ``[leaf, root hand]`` of the player asked: the sum over the opponent's hands that share no card with the hand, of
    their reach times the expected chips of the player since the start of the hand, less half of the tree's
    dead money. Chips put in before the leaf count. The expectation covers the cards after the leaf's board: each
    comes with probability one over the number of cards that neither the board nor the two hands hold. The engine
    itself multiplies by the same kind of probability for the cards between its root and the leaf's board.

A leaf that the opponent does not reach counts zero, whatever the provider says. A best response chooses within the
tree; what follows a leaf is up to the provider.

The sweeps themselves hold a board's leaves as rows of its hands, one behind the other, and their reach carries the
probability of the public cards since the root.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import PublicTree
from solver.cfr.leaves import LeafProvider, Leaves, ThreadedLeafProvider
from solver.exact.betting_plan import leaf_nodes
from solver.exact.deals import Deals

Floats = NDArray[np.float64]


class _SavedReach:
    """The reach of both players, each computed when it is first asked for."""

    def __init__(self, rows: LeafRows, save: Callable[[int], None]) -> None:
        self._rows, self._save = rows, save
        self._found: dict[int, NDArray[np.floating]] = {}

    def __getitem__(self, player: int, /) -> NDArray[np.floating]:
        if player not in self._found:
            self._save(player)
            self._found[player] = self._rows.saved_reach(player)
        return self._found[player]


class LeafRows:
    """The leaves of a tree on the boards of a game, board by board and in order of their nodes.

    Attributes
    ----------
    leaves : Leaves
        What the provider is asked about.
    reach, values : two arrays
        Rows of each player's hands, as the sweeps read and write them.
    starts : two int64 arrays
        Where the rows of each board start in them; of no meaning for boards of other streets.

    Raises
    ------
    ValueError
        If the tree has leaves on several streets.
    """

    def __init__(self, tree: PublicTree, deals: Deals, chance: Floats, kind: type[np.floating]) -> None:
        nodes = leaf_nodes(tree)
        streets = np.unique(tree.street[nodes] - tree.street[0])
        if len(streets) > 1:
            raise ValueError(
                "leaves: the tree stops on several streets; cut all of its lines after the same one"
            )
        here = np.isin(deals.boards["street"], streets)
        self.boards: list[int] = np.flatnonzero(here).tolist()
        self.chance = float(np.prod(chance[: streets[0] + 1])) if len(nodes) else 1.0
        cards = [deals.cards[board] for board in self.boards]
        public = np.array(cards, dtype=np.uint8).reshape(len(cards), len(cards[0]) if cards else 0)
        self.leaves = Leaves(np.tile(nodes, len(cards)), np.repeat(public, len(nodes), axis=0))
        self.deals, self.num_nodes = deals, len(nodes)
        sizes = [np.where(here, side.boards["pad"] * len(nodes), 0) for side in deals.sides]
        self.starts = tuple(np.cumsum(size, dtype=np.int64) - size for size in sizes)
        first, second = (np.zeros(size.sum(), dtype=kind) for size in sizes)
        self.reach = (first, second)
        self.values = (np.zeros_like(first), np.zeros_like(second))

    def __len__(self) -> int:
        return len(self.leaves)

    @property
    def are_at_root(self) -> bool:
        """Whether all leaves are on the root's board."""
        return self.boards == [0]

    @property
    def nbytes(self) -> int:
        """Bytes of the rows."""
        return sum(array.nbytes for array in (*self.reach, *self.values))

    def ask(self, provider: LeafProvider, player: int, save_reach: Callable[[int], None]) -> None:
        """Turn the reach of the leaves into the player's values there.

        Parameters
        ----------
        save_reach
            Lets the sweeps save a player's reach; called where the provider asks for it.

        Raises
        ------
        ValueError
            If the provider answers with an array of another shape.
        """
        self._take(provider.values(self.leaves, _SavedReach(self, save_reach), player), player)

    def ask_beside(self, provider: ThreadedLeafProvider, player: int, meanwhile: Callable[[], None]) -> None:
        """As `ask`, of leaves at the root: the sweeps have saved the opponent's reach, and go on with `meanwhile`."""
        arriving = self.saved_reach(1 - player)
        self._take(provider.values_beside(self.leaves, arriving, player, meanwhile), player)

    def _take(self, answer: NDArray[np.float64], player: int) -> None:
        """Write a provider's answer to where the sweeps find it."""
        values = np.asarray(answer)
        expected = len(self.leaves), self._num_hands(player)
        if values.shape != expected:
            raise ValueError(
                f"leaves: the values of player {player} have shape {values.shape}, expected {expected}"
            )
        for k, board in enumerate(self.boards):
            here = values[k * self.num_nodes : (k + 1) * self.num_nodes]
            if board != 0:  # the root's board has all its hands
                here = here[:, self.deals.hands[player][board]]
            np.multiply(
                here, self.chance, out=self._rows(self.values[player], player, board), casting="same_kind"
            )

    def saved_reach(self, player: int) -> NDArray[np.floating]:
        """The reach that the sweeps saved, as ``[leaf, root hand]`` without the probability of public cards."""
        dense = np.zeros((len(self.leaves), self._num_hands(player)), dtype=self.reach[player].dtype)
        for k, board in enumerate(self.boards):
            here = dense[k * self.num_nodes : (k + 1) * self.num_nodes]
            rows = self._rows(self.reach[player], player, board)
            if board == 0:
                np.divide(rows, self.chance, out=here, casting="same_kind")
            else:
                here[:, self.deals.hands[player][board]] = rows / self.chance
        return dense

    def _num_hands(self, player: int) -> int:
        return len(self.deals.hands[player][0])

    def _rows(self, flat: NDArray[np.floating], player: int, board: int) -> NDArray[np.floating]:
        """A board's rows in one of the flat arrays, ``[leaf of the board, hand of the board]``."""
        side = self.deals.sides[player].boards[board]
        start, pad = int(self.starts[player][board]), int(side["pad"])
        rows = flat[start : start + self.num_nodes * pad].reshape(self.num_nodes, pad)
        return rows[:, : int(side["count"])]
