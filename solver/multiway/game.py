"""A game of two to nine seats as the kernels of this package read it.

Tables are flat arrays of float32. Before the flop every action of every decision has a row of `WIDTH` hand classes, in
the order of the tree's `children`; the tables of the play after the flop, if any, follow behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES
from solver.betting.game import GameConfig
from solver.betting.lines import PREFLOP, seat_names
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action
from solver.betting.tree import game_tree
from solver.multiway.deals import HOLDEM, WIDTH, Cards, Deck
from solver.multiway.payoffs import Ends, Stakes, Terminals
from solver.multiway.templates import NO_LEAVES, NO_TEMPLATES, Leaves, Postflop, Templates, _count_places


class Betting(NamedTuple):
    """The tree: ``player`` -1 at ends, ``end`` and ``leaf`` -1 elsewhere, rows ``row .. row + actions``.

    ``fold_value`` is what a row's seat wins by it in big blinds if it folds, and 1 for every other action.
    """

    player: NDArray[np.int32]
    actions: NDArray[np.int32]
    row: NDArray[np.int32]
    child: NDArray[np.int32]
    end: NDArray[np.int32]
    leaf: NDArray[np.int32]
    fold_value: NDArray[np.float32]


class Arrays(NamedTuple):
    """All that the kernels read of a game."""

    seats: int
    cards: Cards
    betting: Betting
    terminals: Terminals
    stakes: Stakes
    templates: Templates
    leaves: Leaves
    preflop_entries: int


@njit(cache=True)
def _own_rows(betting: Any, parent: Any, last: Any, own: Any) -> None:
    """Row by which the seat to act at each node got there: that of its decision before, -1 where there is none."""
    for node in range(betting.player.shape[0]):
        if node > 0:
            above = parent[node]
            last[node] = last[above]
            for k in range(betting.actions[above]):
                if betting.child[betting.row[above] + k] == node:
                    last[node, betting.player[above]] = betting.row[above] + k
        if betting.player[node] >= 0:
            own[node] = last[node, betting.player[node]]


@dataclass(frozen=True, eq=False)
class MultiwayGame:
    """A game ready for training.

    Attributes
    ----------
    config
        The game.
    tree
        Its betting before the flop; lines that see a flop end there.
    ends
        What the ends of lines pay.
    cards
        What is dealt.
    postflop
        The play after the flop in templates; None: flops are checked down.
    """

    config: GameConfig
    tree: PublicTree
    ends: Ends
    cards: Cards = HOLDEM
    postflop: Postflop | None = None

    @classmethod
    def build(
        cls,
        config: GameConfig,
        *,
        cards: Cards = HOLDEM,
        buckets: tuple[int, int, int] | None = None,
        **options: Any,
    ) -> MultiwayGame:
        """The game of a configuration.

        Parameters
        ----------
        buckets
            Hand buckets of flop, turn and river, all textures together, for play after the flop; None: flops are
            checked down. `options` go to `Postflop.build`.
        """
        tree = game_tree(config, last_street=PREFLOP)
        postflop = None if buckets is None else Postflop.build(config, tree, buckets, **options)
        return cls.of_tree(config, tree, cards, postflop)

    @classmethod
    def of_tree(
        cls, config: GameConfig, tree: PublicTree, cards: Cards = HOLDEM, postflop: Postflop | None = None
    ) -> MultiwayGame:
        """The game of a tree that was built otherwise, such as one of a toy game."""
        return cls(config, tree, Ends.of(tree, config), cards, postflop)

    @property
    def seats(self) -> int:
        """Number of seats."""
        return self.tree.num_seats

    @property
    def seat_names(self) -> tuple[str, ...]:
        """Names of the seats."""
        return seat_names(self.seats)

    @property
    def classes(self) -> int:
        """Hand classes before the flop."""
        return self.cards.ranks if self.cards.kind == Deck.ONE_CARD else NUM_CLASSES

    @property
    def rows(self) -> int:
        """Rows before the flop: actions of all decisions."""
        return len(self.tree.children)

    @property
    def entries(self) -> int:
        """Entries of a table."""
        return self.rows * WIDTH + (0 if self.postflop is None else self.postflop.entries)

    @cached_property
    def arrays(self) -> Arrays:
        """What the kernels read."""
        tree = self.tree
        decision = tree.kind == NodeKind.DECISION
        leaf = np.full(len(tree), -1, np.int32)
        templates, leaves = NO_TEMPLATES, NO_LEAVES
        if self.postflop is not None:
            templates, leaves = self.postflop.templates, self.postflop.leaves
            leaf[self.postflop.nodes] = np.arange(len(self.postflop.nodes))
        betting = Betting(
            player=np.where(decision, tree.player, -1).astype(np.int32),
            actions=np.where(decision, tree.num_children, 0).astype(np.int32),
            row=tree.child_start.astype(np.int32),
            child=tree.children.astype(np.int32),
            end=self.ends.number,
            leaf=leaf,
            fold_value=self._fold_values(),
        )
        return Arrays(
            self.seats,
            self.cards,
            betting,
            self.ends.terminals,
            self.ends.stakes,
            templates,
            leaves,
            self.rows * WIDTH,
        )

    def _fold_values(self) -> NDArray[np.float32]:
        tree = self.tree
        parents = tree.parent[tree.children]
        committed = tree.committed[parents, tree.player[parents]] / self.config.big_blind
        folds = tree.action[tree.children] == Action.FOLD
        return np.where(folds, -committed, 1.0).astype(np.float32)

    @cached_property
    def records(self) -> int:
        """Places that one traversal visits at most, before the flop."""
        records = np.zeros(len(self.tree), np.int64)
        most = 0
        for seat in range(self.seats):
            _count_places(self.arrays.betting, seat, records)
            most = max(most, int(records[0]))
        return most

    @cached_property
    def most_actions(self) -> int:
        """Actions that a decision before the flop offers at most."""
        return int(self.arrays.betting.actions.max())

    @cached_property
    def own_rows(self) -> NDArray[np.int32]:
        """By decision, the row of its seat's decision before; -1 where there is none."""
        own = np.full(len(self.tree), -1, np.int32)
        last = np.full((len(self.tree), self.seats), -1, np.int32)
        _own_rows(self.arrays.betting, self.tree.parent, last, own)
        return own

    @cached_property
    def row_owner(self) -> NDArray[np.int32]:
        """Seat of each row before the flop."""
        parents = self.tree.parent[self.tree.children]
        return self.arrays.betting.player[parents]
