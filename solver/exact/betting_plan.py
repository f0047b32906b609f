"""The betting of every street as straight-line programs for the sweeps.

A sweep for one player (`own`) over one street on one board has three parts, all of them lists to walk:

    down       opponent nodes, parents first: split the opponent's reach over the actions
    terminals  every fold and showdown of the street at once, one lane each
    up         own nodes, children first: combine the action values, update the regrets

Reach and values live in rows of one number per hand. Only an opponent node makes new reach rows (one per
action; an own node passes its row on), and only an own node makes new value rows (one per action; the children of
an opponent node all add to its row). The first rows of a street are its roots, the lines by which it is entered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.betting.public_tree import NodeKind, PublicTree

_INT, _FLOAT = np.int32, np.float64

#: Parts of the lists that belong to a street, and the number of rows it needs.
STREET = np.dtype(
    [
        ("splits", _INT),
        ("splits_end", _INT),
        ("updates", _INT),
        ("updates_end", _INT),
        ("lanes", _INT),
        ("lanes_own", _INT),
        ("lanes_show", _INT),
        ("lanes_end", _INT),
        ("allins", _INT),
        ("allins_end", _INT),
        ("exits", _INT),
        ("exits_end", _INT),
        ("leaves", _INT),
        ("leaves_end", _INT),
        ("clear", _INT),
        ("clear_end", _INT),
        ("reach_rows", _INT),
        ("value_rows", _INT),
        ("shows", _INT),
    ],
    align=True,
)
#: An opponent node: reach row, first action row in the tables, and the reach row of each action in `children`.
SPLIT = np.dtype([("row", _INT), ("table", _INT), ("first", _INT), ("actions", _INT)], align=True)
#: An own node: reach row, value row (set, or added to), first action row, value row of each action in `children`.
UPDATE_NODE = np.dtype(
    [("reach", _INT), ("row", _INT), ("adds", _INT), ("table", _INT), ("first", _INT), ("actions", _INT)],
    align=True,
)
#: Terminals that see one reach row: the value rows of a showdown and a fold (-1 for none) and their payoffs in the
#: terms of `solver.exact.terminals`: half = (w - l) / 2, lose = l, tie = t, fold = f. No other lane than one that is
#: `alone` writes to its rows.
LANE = np.dtype(
    [
        ("reach", _INT),
        ("show", _INT),
        ("fold", _INT),
        ("alone", _INT),
        ("half", _FLOAT),
        ("lose", _FLOAT),
        ("tie", _FLOAT),
        ("folds", _FLOAT),
    ],
    align=True,
)
#: A showdown before the last street: reach row, value row (set, or added to) and half = (w - l) / 2.
ALLIN = np.dtype([("reach", _INT), ("row", _INT), ("adds", _INT), ("half", _FLOAT)], align=True)
#: A line that goes on to the next street, or a leaf that somebody else values: reach row and value row.
EXIT = np.dtype([("reach", _INT), ("row", _INT)], align=True)


class BettingPlan(NamedTuple):
    """Programs of all streets for one updating player; rows are numbered per street.

    The lanes of a street come in three sections: up to `lanes_own` those of own nodes, which set their value
    rows, then showdowns and folds below opponent nodes, which add to the node's row. `clear` lists the value rows
    that start at zero, because several children add to them.
    """

    streets: NDArray[np.void]
    splits: NDArray[np.void]
    updates: NDArray[np.void]
    children: NDArray[np.int32]
    lanes: NDArray[np.void]
    allins: NDArray[np.void]
    exits: NDArray[np.void]
    leaves: NDArray[np.void]
    clear: NDArray[np.int32]


@dataclass(frozen=True)
class TableRows:
    """Where decision nodes keep their numbers: action rows and clocks are numbered per street and player.

    `table` is a node's first action row and `slot` its number among the player's nodes of the street; both are -1
    for other nodes. `num_rows` and `num_slots` count them, ``[street, player]``.
    """

    table: NDArray[np.int32]
    slot: NDArray[np.int32]
    num_rows: NDArray[np.int64]
    num_slots: NDArray[np.int64]


def table_rows(tree: PublicTree) -> TableRows:
    """Number the decision nodes of a tree and their action rows."""
    first = int(tree.street[0])
    streets = int(tree.street.max()) - first + 1
    table = np.full(len(tree), -1, dtype=np.int32)
    slot = np.full(len(tree), -1, dtype=np.int32)
    num_rows = np.zeros((streets, 2), dtype=np.int64)
    num_slots = np.zeros((streets, 2), dtype=np.int64)
    for street in range(streets):
        for player in range(2):
            here = (tree.street == first + street) & (tree.player == player)
            nodes = np.flatnonzero(here & (tree.kind == NodeKind.DECISION))
            ends = np.cumsum(tree.num_children[nodes])
            slot[nodes] = np.arange(len(nodes))
            table[nodes] = ends - tree.num_children[nodes]
            num_rows[street, player] = ends[-1] if len(nodes) else 0
            num_slots[street, player] = len(nodes)
    return TableRows(table, slot, num_rows, num_slots)


def leaf_nodes(tree: PublicTree) -> NDArray[np.int64]:
    """Nodes where the tree stops although the hand goes on: chance nodes without children."""
    return np.flatnonzero((tree.kind == NodeKind.CHANCE) & (tree.num_children == 0))


def check_down(tree: PublicTree) -> PublicTree:
    """The tree with a showdown wherever it stops before a later street, as `PublicTree.payoffs` counts it."""
    leaves = leaf_nodes(tree)
    if len(leaves) == 0:
        return tree
    kind = tree.kind.copy()
    kind[leaves] = NodeKind.SHOWDOWN
    return replace(tree, kind=kind)


def allin_streets(tree: PublicTree, showdown_street: int) -> list[bool]:
    """Streets of the tree, from the root's on, where betting can end all-in with cards to come."""
    ends = tree.street[tree.kind == NodeKind.SHOWDOWN] - tree.street[0]
    num_streets = int(tree.street.max() - tree.street[0]) + 1
    return [bool((ends == k).any()) and k < showdown_street for k in range(num_streets)]


def betting_plan(
    tree: PublicTree, rows: TableRows, own: int, showdown_street: int
) -> tuple[BettingPlan, NDArray[np.int32]]:
    """Compile the betting of a two-seat tree for the updating player `own`.

    Parameters
    ----------
    showdown_street : int
        Street, counted from the root's, on which the board is full; earlier showdowns are all-ins.

    Returns
    -------
    plan : BettingPlan
    node_rows : int32 array [2, node]
        Reach row and value row of every node, numbered per street.
    """
    builder = _PlanBuilder(tree, rows, own)
    first = int(tree.street[0])
    for street in range(first, int(tree.street.max()) + 1):
        builder.add_street(street, full_board=street == first + showdown_street)
    return builder.plan(), np.array([builder.reach, builder.value], dtype=np.int32)


class _PlanBuilder:
    """The growing lists of a plan."""

    def __init__(self, tree: PublicTree, rows: TableRows, own: int) -> None:
        self.own = own
        self.kind, self.player, self.street = tree.kind.tolist(), tree.player.tolist(), tree.street
        self.table = rows.table.tolist()
        starts = [*tree.child_start.tolist(), len(tree.children)]
        children = tree.children.tolist()
        self.children_of = [children[a:b] for a, b in pairwise(starts)]
        parent = tree.parent.tolist()
        streets = tree.street.tolist()
        self.is_root = [p < 0 or streets[p] != s for p, s in zip(parent, streets)]
        self.below_opponent = [not root and self.player[p] != own for p, root in zip(parent, self.is_root)]
        # Payoffs over an even split of the dead money.
        pays = tree.heads_up_payoffs[:, :, own] - tree.dead / 2
        self.half = ((pays[:, own] - pays[:, 1 - own]) / 2).tolist()
        self.lose, self.tie = pays[:, 1 - own].tolist(), pays[:, 2].tolist()
        self.reach = [-1] * len(tree)
        self.value = [-1] * len(tree)
        self.streets: list[tuple[int, ...]] = []
        self.splits: list[tuple[int, ...]] = []
        self.updates: list[tuple[int, ...]] = []
        self.children: list[int] = []
        self.lanes: list[tuple[float, ...]] = []
        self.allins: list[tuple[float, ...]] = []
        self.exits: list[tuple[int, int]] = []
        self.leaves: list[tuple[int, int]] = []
        self.clear: list[int] = []

    def plan(self) -> BettingPlan:
        return BettingPlan(
            streets=np.array(self.streets, dtype=STREET),
            splits=np.array(self.splits, dtype=SPLIT),
            updates=np.array(self.updates, dtype=UPDATE_NODE),
            children=np.array(self.children, dtype=np.int32),
            lanes=np.array(self.lanes, dtype=LANE),
            allins=np.array(self.allins, dtype=ALLIN),
            exits=np.array(self.exits, dtype=EXIT),
            leaves=np.array(self.leaves, dtype=EXIT),
            clear=np.array(self.clear, dtype=np.int32),
        )

    def number_rows(self, nodes: list[int]) -> tuple[int, int]:
        """Give every node of a street its rows; returns how many reach and value rows there are."""
        num_reach = num_value = 0
        for node in nodes:
            if self.is_root[node]:
                self.reach[node] = self.value[node] = num_reach
                num_reach += 1
        num_value = num_reach
        for node in nodes:
            if self.kind[node] != NodeKind.DECISION:
                continue
            for child in self.children_of[node]:
                if self.player[node] == self.own:
                    self.reach[child], self.value[child] = self.reach[node], num_value
                    num_value += 1
                else:
                    self.reach[child], self.value[child] = num_reach, self.value[node]
                    num_reach += 1
        return num_reach, num_value

    def add_street(self, street: int, *, full_board: bool) -> None:
        """Append the lists of one street."""
        nodes = np.flatnonzero(self.street == street).tolist()
        num_rows = self.number_rows(nodes)
        lists = (
            *(self.splits, self.updates, self.lanes),
            *(self.allins, self.exits, self.leaves, self.clear),
        )
        begins = [len(part) for part in lists]
        own_lanes: list[tuple[float, ...]] = []
        show_lanes: list[tuple[float, ...]] = []
        fold_lanes: list[tuple[float, ...]] = []
        clear: set[int] = set()
        for node in nodes:
            kind, below_opponent = self.kind[node], self.below_opponent[node]
            reach, value = self.reach[node], self.value[node]
            if kind == NodeKind.DECISION:
                children = self.children_of[node]
                entry = (self.table[node], len(self.children), len(children))
                if self.player[node] == self.own:
                    self.updates.append((reach, value, int(below_opponent), *entry))
                    self.children += [self.value[child] for child in children]
                    own_lanes += self.own_lane(node, full_board)
                else:
                    self.splits.append((reach, *entry))
                    self.children += [self.reach[child] for child in children]
                    clear.add(value)
            elif kind == NodeKind.CHANCE:
                onward = self.exits if self.children_of[node] else self.leaves
                onward.append((reach, value))
                clear.add(value)
            elif kind == NodeKind.SHOWDOWN and not full_board:
                self.allins.append((reach, value, int(below_opponent), self.half[node]))
                if self.tie[node] != 0.0:
                    # Rake: worth a tie against every hand, plus half the stake for wins less losses.
                    alone = int(not below_opponent)
                    fold_lanes.append((reach, -1, value, alone, 0.0, 0.0, 0.0, self.tie[node]))
            elif below_opponent and kind == NodeKind.SHOWDOWN:
                pays = (self.half[node], self.lose[node], self.tie[node], 0.0)
                show_lanes.append((reach, value, -1, 0, *pays))
            elif below_opponent:
                fold_lanes.append((reach, -1, value, 0, 0.0, 0.0, 0.0, self.tie[node]))
        self.clear += sorted(clear)
        self.lanes += own_lanes + show_lanes + fold_lanes
        sections = np.cumsum([begins[2], len(own_lanes), len(show_lanes)]).tolist()
        ends = [len(part) for part in lists]
        self.streets.append(
            (
                *(begins[0], ends[0], begins[1], ends[1]),
                *(*sections, ends[2]),
                *(begins[3], ends[3], begins[4], ends[4], begins[5], ends[5], begins[6], ends[6]),
                *num_rows,
                int(full_board),
            )
        )

    def own_lane(self, node: int, shows: bool) -> list[tuple[float, ...]]:
        """The lane of an own node, if any: its fold and its showdown see the same opponent reach."""
        show = fold = -1
        half = lose = tie = folds = 0.0
        for child in self.children_of[node]:
            if self.kind[child] == NodeKind.SHOWDOWN and shows:
                show = self.value[child]
                half, lose, tie = self.half[child], self.lose[child], self.tie[child]
            elif self.kind[child] == NodeKind.FOLD:
                fold, folds = self.value[child], self.tie[child]
        return [] if show < 0 and fold < 0 else [(self.reach[node], show, fold, 1, half, lose, tie, folds)]
