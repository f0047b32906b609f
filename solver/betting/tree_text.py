"""A public tree as text: the printed tree, its counts, and the names of lines and actions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from solver.betting.lines import PREFLOP, STREETS, with_prefix
from solver.betting.public_tree import LETTER_OF, NodeKind, PublicTree
from solver.betting.rules import Action


def printed_action(tree: PublicTree, node: int) -> str:
    """Action that led to a node as printed in a tree: ``F X C B100 R250 A900``."""
    action = Action(int(tree.action[node]))
    amount = str(tree.amount[node]) if action in (Action.BET, Action.RAISE, Action.ALLIN) else ""
    return LETTER_OF[action].upper() + amount


def tree_lines(tree: PublicTree) -> Iterator[str]:
    """Printed tree: for every decision the line so far and the actions, ``.X.B100: F C R250``.

    A ``/`` ends a street. Nodes come in depth-first order.
    """
    paths = [""] * len(tree)
    for node in range(len(tree)):
        if node:
            path = paths[tree.parent[node]]
            dealt = tree.action[node] == Action.DEAL
            paths[node] = f"{path}/" if dealt else f"{path}.{printed_action(tree, node)}"
        if tree.kind[node] == NodeKind.DECISION:
            actions = " ".join(printed_action(tree, int(child)) for child in tree.children_of(node))
            yield f"{paths[node]}: {actions}"


def tree_decisions(tree: PublicTree) -> Iterator[tuple[str, list[str]]]:
    """The line of every decision, without prefix, and the tokens of its actions."""
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        yield tree.line(node), [tree.token(int(child)) for child in tree.children_of(node)]


def format_tree(tree: PublicTree) -> str:
    """The whole printed tree, one decision a line.

    Examples
    --------
    >>> from solver.betting.tree import spot_tree
    >>> print(format_tree(spot_tree(3, 200, 100, {"river": {"bet": "50%"}})))
    : X A100
    .X: X A100
    .X.A100: F C
    .A100: F C
    """
    return "\n".join(tree_lines(tree))


def tree_counts(tree: PublicTree) -> dict[str, dict[str, int]]:
    """Nodes of each kind and actions offered, by street and in total.

    Examples
    --------
    >>> from solver.betting.tree import spot_tree
    >>> tree_counts(spot_tree(3, 200, 100, {"river": {"bet": "50%"}}))["river"]
    {'nodes': 9, 'decision': 4, 'chance': 0, 'fold': 2, 'showdown': 3, 'actions': 8}
    """
    counts = {}
    for name in (*STREETS, "total"):
        here = np.ones(len(tree), dtype=bool) if name == "total" else tree.street == STREETS.index(name)
        if not here.any():
            continue
        row = {"nodes": int(here.sum())}
        for kind in NodeKind:
            row[kind.name.lower()] = int((here & (tree.kind == kind)).sum())
        row["actions"] = int(tree.num_children[here & (tree.kind == NodeKind.DECISION)].sum())
        counts[name] = row
    return counts


def format_counts(tree: PublicTree) -> str:
    """`tree_counts` as an aligned table."""
    counts = tree_counts(tree)
    columns = list(counts["total"])
    lines = [f"{'':8}" + "".join(f"{column:>11}" for column in columns)]
    for name, row in counts.items():
        lines.append(f"{name:8}" + "".join(f"{row[column]:>11,}" for column in columns))
    return "\n".join(lines)


def action_label(tree: PublicTree, node: int) -> str:
    """Strategy label of the action that led to a node.

    ``fold``, ``check``, ``call``, ``open_<to>`` for the first raise before the flop, ``bet_<to>``
    for a bet after it, ``raise_<to>`` and ``all_in``.
    """
    action = Action(int(tree.action[node]))
    if action == Action.ALLIN:
        return "all_in"
    if action == Action.BET:
        return f"{'open' if tree.street[tree.parent[node]] == PREFLOP else 'bet'}_{tree.amount[node]}"
    if action == Action.RAISE:
        return f"raise_{tree.amount[node]}"
    return action.name.lower()


def action_labels(tree: PublicTree, node: int) -> list[str]:
    """Labels of the actions at a decision node, in child order."""
    return [action_label(tree, int(child)) for child in tree.children_of(node)]


def preflop_key(tree: PublicTree, node: int) -> str:
    """Key of a preflop line, such as ``||p|b300r900``."""
    return with_prefix(tree.line(node))
