"""Rows of a postflop solve under the keys that off-path cleaning reads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import format_cards, hole_names
from solver.betting.lines import history_key
from solver.betting.public_tree import NodeKind, PublicTree
from solver.exact.engine import CfrEngine
from solver.postflop.node_report import real_combos


def per_history_strategy(engine: CfrEngine, root: int, dealt: tuple[int, ...]) -> dict[str, list[float]]:
    """Rows ``<hole>|<board>|<street>|<history>`` of every decision of a street from its root on.

    Parameters
    ----------
    root
        Root of the street in the engine's tree.
    dealt
        Cards dealt since the engine's own root.
    """
    tree = engine.tree
    number, suits = engine.deals.locate(dealt)
    board = format_cards(sorted([*engine.game.board, *dealt]))
    holes = []
    for player in range(2):
        cards = engine.game.hands[player][engine.deals.hands[player][number]]
        holes.append([hole_names()[combo] for combo in real_combos(cards, suits)])
    rows = {}
    for node in decisions(tree, root):
        player = int(tree.player[node])
        suffix = history_key(board, int(tree.street[root]), tree.line(node))
        for name, row in zip(holes[player], engine.strategy(node, number).T.tolist()):
            rows[name + suffix] = row
    return rows


def decisions(tree: PublicTree, root: int) -> list[int]:
    """Decisions of a street below its root."""
    nodes = np.arange(root, tree.subtree_end[root])
    here = (tree.kind[nodes] == NodeKind.DECISION) & (tree.street[nodes] == tree.street[root])
    return nodes[here].tolist()


def by_hole(weights: NDArray[np.float64]) -> dict[str, float]:
    """A range as off-path cleaning takes it, hands without weight left out."""
    return {hole_names()[combo]: float(weights[combo]) for combo in np.flatnonzero(weights)}
