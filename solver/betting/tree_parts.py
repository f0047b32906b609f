"""Parts of a public tree: its first streets, or what follows some of its nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import PublicTree


def child_links(
    parent: NDArray[np.integer],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """`child_start`, `num_children` and `children` of a tree in depth-first order; roots have parent -1.

    Examples
    --------
    >>> start, count, children = child_links(np.array([-1, 0, 1, 0]))
    >>> count.tolist(), children.tolist()
    ([2, 1, 0, 0], [1, 3, 2])
    """
    nodes = np.flatnonzero(parent >= 0)
    num_children = np.bincount(parent[nodes], minlength=len(parent)).astype(np.int32)
    # Depth-first order lists the children of a node in ascending order already.
    children = nodes[np.argsort(parent[nodes], kind="stable")].astype(np.int32)
    return (np.cumsum(num_children) - num_children).astype(np.int32), num_children, children


def upper_part(tree: PublicTree, last_street: int) -> tuple[PublicTree, NDArray[np.int64]]:
    """The tree up to the end of a street; lines that go on end there at a chance node without children.

    Returns
    -------
    part : PublicTree
    nodes : int64 array
        Node of `tree` for each node of the part.
    """
    nodes = np.flatnonzero(tree.street <= last_street)
    return _part(tree, nodes), nodes


def lower_part(tree: PublicTree, roots: NDArray[np.integer]) -> tuple[PublicTree, NDArray[np.int64]]:
    """What follows some nodes of one street, as one tree with several roots, in the order given.

    Chips count since the start of the hand, so payoffs are those of the whole tree.

    Returns
    -------
    part : PublicTree
    nodes : int64 array
        Node of `tree` for each node of the part.

    Raises
    ------
    ValueError
        If the roots do not lie on one street.
    """
    if len(np.unique(tree.street[roots])) != 1:
        raise ValueError("lower_part: the roots do not lie on one street")
    nodes = np.concatenate([np.arange(root, tree.subtree_end[root]) for root in roots])
    return _part(tree, nodes), nodes


def _part(tree: PublicTree, nodes: NDArray[np.int64]) -> PublicTree:
    number = np.full(len(tree) + 1, -1, dtype=np.int32)
    number[nodes] = np.arange(len(nodes))
    # The last entry serves roots, whose parent is -1.
    parent = number[tree.parent[nodes]]
    child_start, num_children, children = child_links(parent)
    return replace(
        tree,
        kind=tree.kind[nodes],
        player=tree.player[nodes],
        street=tree.street[nodes],
        parent=parent,
        action=tree.action[nodes],
        amount=tree.amount[nodes],
        child_start=child_start,
        num_children=num_children,
        children=children,
        committed=tree.committed[nodes],
        folded=tree.folded[nodes],
        pot=tree.pot[nodes],
    )
