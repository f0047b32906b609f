"""Where a flop line's regrets and strategies lie: the tables of the kernels, and the same by node and bucket.

The kernels keep ``[texture, street, block, node, bucket, action, lane]`` in one flat array. Everybody else
sees rows: the actions of a line's decisions on one street, in tree order, by bucket, with no trace of
lanes. So what is saved for a line does not depend on which lines were planned together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from solver.betting.lines import FLOP
from solver.betting.public_tree import NodeKind
from solver.blueprint.plan import LanePlan, street_nodes
from solver.blueprint.rows import action_nodes
from solver.cfr.simd import WIDTH


@dataclass(frozen=True, eq=False)
class TableLayout:
    """Layout of the tables of a plan.

    Attributes
    ----------
    plan
        Betting of the lines.
    num_buckets
        Buckets of flop, turn and river.
    num_textures
        Sets of buckets: 1 when all textures share theirs.
    """

    plan: LanePlan
    num_buckets: tuple[int, int, int]
    num_textures: int = 1

    @cached_property
    def street_sizes(self) -> tuple[int, int, int]:
        """Entries of each street of one texture."""
        flop, turn, river = (
            rows * buckets * WIDTH for rows, buckets in zip(self.plan.action_rows(), self.num_buckets)
        )
        return flop, turn, river

    @property
    def size(self) -> int:
        """Entries of a table."""
        return self.num_textures * sum(self.street_sizes)

    def starts(self, texture: int = 0) -> NDArray[np.int64]:
        """First entry of each street of a texture."""
        before = np.concatenate([[0], np.cumsum(self.street_sizes[:2])])
        return (before + texture * sum(self.street_sizes)).astype(np.int64)

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        """Per action (the node it leads to): its first entry on its street, and the step between buckets."""
        tree = self.plan.tree
        places = {}
        before = [0, 0, 0]
        for block in self.plan.blocks:
            buckets = self.num_buckets[block.street]
            for lane, root in enumerate(block.roots):
                if root < 0:
                    continue
                nodes = street_nodes(tree, root)
                row = before[block.street]
                for node in nodes[tree.kind[nodes] == NodeKind.DECISION].tolist():
                    children = tree.children_of(node).tolist()
                    for a, child in enumerate(children):
                        places[child] = ((row * buckets + a) * WIDTH + lane, len(children) * WIDTH)
                    row += len(children)
            before[block.street] += block.action_rows
        return places

    def entries(self, line: int, street: int, texture: int = 0) -> NDArray[np.int64]:
        """Entries of a line's rows on a street, ``[action, bucket]``."""
        root = self.plan.lines[line]
        places = np.array(
            [self._places[int(node)] for node in action_nodes(self.plan.tree, root, street)], dtype=np.int64
        ).reshape(-1, 2)
        buckets = np.arange(self.num_buckets[street])
        return int(self.starts(texture)[street]) + places[:, :1] + places[:, 1:] * buckets

    @property
    def actions(self) -> NDArray[np.int64]:
        """The nodes that the plan's actions lead to, in tree order."""
        return np.array(sorted(self._places), dtype=np.int64)

    def action_entries(self, node: int, texture: int = 0) -> NDArray[np.int64]:
        """Entries by bucket of the action that leads to a node."""
        street = int(self.plan.tree.street[self.plan.tree.parent[node]]) - FLOP
        first, step = self._places[node]
        return int(self.starts(texture)[street]) + first + step * np.arange(self.num_buckets[street])

    def rows(self, table: NDArray, line: int, street: int, texture: int = 0) -> NDArray:
        """A line's rows on a street, ``[action, bucket]``; the actions are those of `action_nodes`."""
        return table[self.entries(line, street, texture)]

    def fill(self, table: NDArray, line: int, street: int, rows: NDArray, texture: int = 0) -> None:
        """Write a line's rows on a street into a table."""
        where = self.entries(line, street, texture)
        if rows.shape != where.shape:
            raise ValueError(f"rows of shape {rows.shape}: expected {where.shape} (actions, buckets)")
        table[where] = rows
