"""The heads-up preflop game: its tree, what its folds and all-ins are worth, and its leaves.

A hand is one of the 169 classes. A leaf is a line that sees a flop; a leaf provider (`solver.cfr.leaves`) says
what it is worth. Values are counterfactual, in chips times deals, summed over the combos of a class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_COMBOS, NUM_CLASSES
from abstractions.equity import preflop_table
from solver.betting.game import GameConfig
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree import game_tree
from solver.cfr.leaves import Leaves
from solver.preflop.kernels import GameArrays, _node_values, _pairs
from solver.preflop.probabilities import Floats, seat_reach

#: Wins, ties and totals of class against class, as `preflop_table` returns them.
EquityTable = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

BOARDS_PER_PAIR = 1_712_304  # C(48, 5)
NUM_DEALS = 1_624_350  # ordered pairs of disjoint combos, 1326 * 1225


@dataclass(frozen=True, eq=False)
class PreflopGame:
    """A heads-up preflop tree with everything the kernels need.

    Attributes
    ----------
    leaves
        The lines that see a flop, in tree order.
    leaf_slot
        Per node, its place in `leaves` or -1.
    reach_node
        ``[seat, node]``: the node at or above whose arriving action last changed the seat's reach.
    constant, slope
        ``[seat, node]``: the end of a line is worth ``constant * pairs + slope * pots won`` to the seat. For
        folds and all-ins this is exact; for leaves it is the value when nobody bets after the flop.
    equity
        ``[opponent class, own class]``: disjoint combo pairs times own equity.
    combos, ranks
        Number of combos of each class, and the rows of its two ranks in the grid of classes.
    """

    config: GameConfig
    tree: PublicTree
    leaves: Leaves
    leaf_slot: NDArray[np.int32]
    reach_node: NDArray[np.int32]
    constant: Floats
    slope: Floats
    equity: Floats
    combos: Floats
    ranks: NDArray[np.int64]

    @classmethod
    def build(cls, config: GameConfig, table: EquityTable | None = None) -> PreflopGame:
        """Build the game of a two-seat config; `table` defaults to `preflop_table()`."""
        if config.num_seats != 2:
            raise ValueError(f"stacks: the preflop solver plays 2 seats, not {config.num_seats}")
        tree = game_tree(config, last_street=0)
        wins, ties, _ = preflop_table() if table is None else table
        leaves = np.flatnonzero(tree.kind == NodeKind.CHANCE)
        leaf_slot = np.full(len(tree), -1, dtype=np.int32)
        leaf_slot[leaves] = np.arange(len(leaves))
        reach_node = np.zeros((2, len(tree)), dtype=np.int32)
        for node in range(1, len(tree)):
            parent = tree.parent[node]
            reach_node[:, node] = reach_node[:, parent]
            reach_node[tree.player[parent], node] = node
        payoffs = tree.heads_up_payoffs
        won = np.stack([payoffs[:, 0, 0], payoffs[:, 1, 1]])
        lost = np.stack([payoffs[:, 1, 0], payoffs[:, 0, 1]])
        rows, columns = np.divmod(np.arange(NUM_CLASSES), 13)
        return cls(
            config=config,
            tree=tree,
            leaves=Leaves(leaves, np.empty((len(leaves), 0), dtype=np.uint8)),
            leaf_slot=leaf_slot,
            reach_node=reach_node,
            constant=lost,
            slope=won - lost,
            equity=np.ascontiguousarray(((wins + 0.5 * ties) / BOARDS_PER_PAIR).T),
            combos=CLASS_COMBOS.astype(np.float64),
            ranks=np.stack([rows, columns], axis=1).astype(np.int64),
        )

    @cached_property
    def arrays(self) -> GameArrays:
        """What the kernels read."""
        tree = self.tree
        return GameArrays(
            tree.player,
            tree.parent,
            tree.child_start,
            tree.num_children,
            tree.children,
            self.reach_node,
            self.leaf_slot,
            self.constant,
            self.slope,
            self.equity,
            self.combos,
            self.ranks,
        )

    def leaf_reach(self, probabilities: Floats) -> tuple[Floats, Floats]:
        """Reach of both seats at the leaves under a strategy, ``[leaf, class]`` each."""
        first, second = (seat_reach(self.tree, probabilities, seat)[self.leaves.nodes] for seat in range(2))
        return first, second

    def leaf_table(self, leaf_values: Floats) -> Floats:
        """Values of all leaves as the kernels need them; refused unless there is one row per leaf."""
        expected = (len(self.leaves), NUM_CLASSES)
        if leaf_values.shape != expected:
            raise ValueError(f"leaf values of shape {leaf_values.shape}: expected {expected}, [leaf, class]")
        return np.ascontiguousarray(leaf_values, dtype=np.float64)

    def node_values(
        self, probabilities: Floats, seat: int, leaf_values: Floats, *, best: bool = False
    ) -> Floats:
        """Counterfactual value of a seat by node and class.

        Parameters
        ----------
        probabilities
            ``[node, class]``: probability of the action that leads to the node.
        leaf_values
            Value of each leaf to the seat, ``[leaf, class]``.
        best
            Whether the seat takes its best action for each class.
        """
        shape = probabilities.shape
        values = np.empty(shape)
        _node_values(
            self.arrays, self.leaf_table(leaf_values), probabilities, seat, best, np.empty(shape), values
        )
        return values

    def pairs(self, reach: Floats) -> Floats:
        """Deals of each class against a range that reaches a node, by class."""
        pairs = np.empty(NUM_CLASSES)
        _pairs(reach, self.combos, self.ranks, pairs)
        return pairs
