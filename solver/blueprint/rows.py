"""The rows of a blueprint after the flop, in the one order that trainer, files and readers share.

A row holds what one action is worth or how likely it is, by bucket. Shards hold and save the rows of a pot type, a
texture and a street together, actions in the order of the tree. An exported table holds a whole street: texture
by texture, pot type by pot type, decision by decision, action by action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.betting.lines import FLOP
from solver.betting.public_tree import NodeKind, PublicTree

#: Texture of rows that all textures share.
ALL_TEXTURES = -1


class RowKey(NamedTuple):
    """Rows that lie together: a pot type, a texture (`ALL_TEXTURES`: shared) and a street (0 flop .. 2 river)."""

    pot_type: int
    texture: int
    street: int

    def name(self, table: str) -> str:
        """Name of these rows of a table among saved arrays.

        >>> RowKey(3, ALL_TEXTURES, 2).name("average")
        'average/3/-1/2'
        """
        return f"{table}/{self.pot_type}/{self.texture}/{self.street}"


Rows = Mapping[RowKey, NDArray[Any]]


def named_rows(table: str, rows: Rows) -> dict[str, NDArray[Any]]:
    """Rows of a table by name, for saving."""
    return {key.name(table): array for key, array in rows.items()}


def rows_by_key(table: str, arrays: Mapping[str, NDArray[Any]]) -> dict[RowKey, NDArray[Any]]:
    """The rows of a table among saved arrays.

    >>> list(rows_by_key("average", {"average/3/-1/2": np.zeros(1), "preflop": np.zeros(1)}))
    [RowKey(pot_type=3, texture=-1, street=2)]
    """
    found = {}
    for name, array in arrays.items():
        owner, *numbers = name.split("/")
        if owner == table:
            found[RowKey(*map(int, numbers))] = array
    return found


def action_nodes(tree: PublicTree, root: int, street: int) -> NDArray[np.int64]:
    """The nodes that the actions below a flop node lead to on a street (0 flop .. 2 river), in tree order."""
    nodes = np.arange(root, int(tree.subtree_end[root]))
    parents = tree.parent[nodes]
    taken = (
        (tree.kind[parents] == NodeKind.DECISION)
        & (tree.street[parents] == FLOP + street)
        & (parents >= root)
    )
    return nodes[taken]


def normalised(tree: PublicTree, nodes: NDArray[np.int64], sums: NDArray) -> NDArray:
    """Strategy from its numerators, by decision and bucket; uniform where all are zero."""
    parents = tree.parent[nodes]
    result = np.empty_like(sums)
    for node in np.unique(parents):
        rows = np.flatnonzero(parents == node)
        weights = np.maximum(sums[rows], 0)
        total = weights.sum(axis=0)
        result[rows] = np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / len(rows))
    return result


@dataclass(frozen=True, eq=False)
class StreetRows:
    """The order of an exported street.

    Attributes
    ----------
    tree
        The game's tree.
    templates
        First flop node of each pot type.
    num_textures
        Sets of rows: 1 when all textures share theirs.
    street
        0 flop .. 2 river.
    """

    tree: PublicTree
    templates: Sequence[int]
    num_textures: int
    street: int

    def actions(self, pot_type: int) -> NDArray[np.int64]:
        """The nodes that a pot type's actions lead to, decision by decision."""
        nodes = action_nodes(self.tree, self.templates[pot_type], self.street)
        return nodes[np.argsort(self.tree.parent[nodes], kind="stable")]

    def groups(self) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
        """Texture, pot type and actions of each group of rows that lie together, first to last."""
        actions = [self.actions(pot_type) for pot_type in range(len(self.templates))]
        for texture in range(self.num_textures):
            for pot_type, nodes in enumerate(actions):
                yield texture, pot_type, nodes

    def first_rows(self) -> dict[int, int]:
        """Row of each decision's first action within the rows of a texture, by its node."""
        first: dict[int, int] = {}
        row = 0
        for pot_type in range(len(self.templates)):
            for node in self.tree.parent[self.actions(pot_type)].tolist():
                first.setdefault(node, row)
                row += 1
        return first

    def encode(self, rows: Callable[[int, int], NDArray]) -> NDArray[np.float32]:
        """Probabilities of the street, from the numerators of each texture and pot type in tree order."""
        parts = []
        for texture, pot_type, nodes in self.groups():
            sums = rows(texture, pot_type)[np.argsort(np.argsort(nodes))]
            parts.append(normalised(self.tree, nodes, sums).astype(np.float32))
        return np.concatenate(parts)

    def decode(self, table: NDArray) -> Iterator[tuple[RowKey, NDArray]]:
        """The rows of an exported street by key, in tree order."""
        start = 0
        for texture, pot_type, nodes in self.groups():
            here = table[start : start + len(nodes)]
            key = RowKey(pot_type, texture if self.num_textures > 1 else ALL_TEXTURES, self.street)
            yield key, here[np.argsort(nodes)]
            start += len(nodes)


def texture_row(row: int, texture: int, num_rows: int, num_textures: int) -> int:
    """Row of a texture in an exported street of so many rows, from its row among those of one texture."""
    return row + texture * (num_rows // num_textures)
