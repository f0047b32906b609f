"""Strategies that look at no cards, as blueprints with a single bucket on each street."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_CLASSES, NUM_COMBOS
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action
from solver.blueprint.plan import LanePlan
from solver.blueprint.pot_types import PotTypes, pot_types
from solver.blueprint.strategy import Blueprint
from solver.blueprint.tables import TableLayout
from solver.blueprint.trunk import TrunkGame

#: What may sit at a table without a bundle. `always-fold` checks where checking is free.
SIMPLE = ("always-fold", "always-call", "uniform")
_PASSIVE = (Action.CHECK, Action.CALL)


class OneBucket:
    """The solver's `Bucketing` in which all hands are the same."""

    num_buckets = (1, 1, 1)

    def buckets(self, board: NDArray[np.uint8], texture: int) -> NDArray[np.integer]:  # noqa: ARG002
        """Bucket 0 for every combo."""
        return np.zeros(NUM_COMBOS, dtype=np.uint16)


def simple_blueprint(name: str, game: TrunkGame, pots: PotTypes | None = None) -> Blueprint:
    """A strategy of `SIMPLE` in a game; `pots` are by default those of every flop line on its own."""
    if name not in SIMPLE:
        raise ValueError(f"strategy {name!r} is unknown; accepted: {', '.join(SIMPLE)}")
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
    siblings = [Action(int(tree.action[k])) for k in tree.children_of(int(tree.parent[child]))]
    if name == "uniform":
        return 1 / len(siblings)
    if name == "always-fold" and Action.FOLD in siblings:
        wanted = Action.FOLD
    else:
        # Where limping is not allowed and nobody may fold for free, the first action stands in.
        wanted = next((action for action in siblings if action in _PASSIVE), siblings[0])
    return float(Action(int(tree.action[child])) == wanted)
