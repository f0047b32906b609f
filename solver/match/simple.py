"""Strategies that look at no cards, as blueprints with a single bucket on each street."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from solver.betting.public_tree import NodeKind, PublicTree
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import PotTypes, pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame
from solver.simple_strategies import check_simple, simple_shares


class OneBucket:
    """The solver's `Bucketing` in which all hands are the same."""

    num_buckets = (1, 1, 1)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """Bucket 0 for every combo."""
        return np.zeros(NUM_COMBOS, dtype=np.uint16)


def simple_blueprint(name: str, game: TrunkGame, pots: PotTypes | None = None) -> Blueprint:
    """A strategy of `SIMPLE` in a game; `pots` are by default those of every flop line on its own."""
    check_simple(name)
    pots = pots or pot_types(game)
    layout = TableLayout(LanePlan.build(game.tree, pots.templates), OneBucket.num_buckets)
    table = np.zeros(layout.size, dtype=np.float32)
    for child in layout.actions.tolist():
        table[layout.action_entries(child)] = _share(name, game.tree, child)
    preflop, tree = game.uniform(), game.preflop.tree
    for child in np.flatnonzero(tree.parent >= 0).tolist():
        if tree.kind[tree.parent[child]] == NodeKind.DECISION:
            preflop[child] = np.full(NUM_CLASSES, _share(name, tree, child))
    return Blueprint(game, preflop, layout, table, OneBucket(), pots)


def _share(name: str, tree: PublicTree, child: int) -> float:
    """Probability of the action that leads to a node."""
    siblings = tree.children_of(int(tree.parent[child])).tolist()
    return float(simple_shares(name, [tree.token(k) for k in siblings])[siblings.index(child)])
