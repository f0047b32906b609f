"""The lines after the flop of a game that was trained."""

from __future__ import annotations

import numpy as np

from solver.betting.public_tree import NodeKind
from solver.multiplayer.later_lines import FlopLines, LaterLines, TemplateNodes, TemplateRows
from solver.multiway.game import MultiwayGame


def trained_lines(game: MultiwayGame) -> LaterLines:
    """Templates and flop lines of a game that is played after the flop."""
    postflop, tree = game.postflop, game.tree
    if postflop is None:
        raise ValueError("postflop: flops of this game are checked down")
    betting, leaves = postflop.templates, postflop.leaves
    return LaterLines(
        TemplateNodes(
            betting.player, betting.street, betting.actions, betting.row, betting.stake, betting.folded
        ),
        _rows(game),
        FlopLines(
            line=tuple(tree.lines[node] for node in postflop.nodes.tolist()),
            root=leaves.root,
            table=leaves.table,
            seats=leaves.seat,
            pot=tree.pot[postflop.nodes],
            committed=tree.committed[postflop.nodes],
        ),
    )


def _rows(game: MultiwayGame) -> TemplateRows:
    assert game.postflop is not None
    betting = game.postflop.templates
    actions: list[int] = []
    amounts: list[float] = []
    # Templates hold the decisions and ends of the trees one after the other, so rows come in the same order.
    for tree in game.postflop.trees:
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
            children = tree.children_of(node)
            actions += tree.action[children].tolist()
            amounts += (tree.amount[children] / tree.dead).tolist()
    return TemplateRows(betting.child, betting.entry, np.array(actions, np.int8), np.array(amounts))
