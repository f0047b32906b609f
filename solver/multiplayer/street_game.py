"""A street of several players as the kernels of this package read it.

Tables are flat arrays of float32. Every action of every decision of the street has a row of 1,326 combos. Behind them
lie the rows of the leaves: for each leaf and seat one for each continuation that may be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from solver.betting.public_tree import NodeKind
from solver.betting.rules import Action
from solver.blueprint.continuation import BIASES
from solver.multiplayer.blueprint import MultiwayBlueprint
from solver.multiplayer.config import MultiplayerConfig
from solver.multiplayer.subgame import MultiplayerSubgame
from solver.multiway.game import _own_rows
from solver.multiway.payoffs import Stakes, Terminals, stakes_of, terminals_of
from solver.multiway.templates import Templates, _count_places
from solver.subgame.fixed_leaves import continuations


class StreetBetting(NamedTuple):
    """The tree of the street.

    ``player`` is -1 at ends, ``end`` -1 elsewhere, ``leaf`` -1 where the hand does not go on. Rows ``row .. row +
    actions`` lead to ``child``. ``lost`` is what a row's seat has put in if the row folds, and -1 for other actions.
    ``last[v, s]`` is the row by which seat s went on the way to node v, -1 for none.
    """

    player: NDArray[np.int32]
    actions: NDArray[np.int32]
    row: NDArray[np.int32]
    child: NDArray[np.int32]
    end: NDArray[np.int32]
    leaf: NDArray[np.int32]
    lost: NDArray[np.float32]
    last: NDArray[np.int32]


class StreetLeaves(NamedTuple):
    """Where the street ends and the hand goes on.

    Behind leaf k the blueprint plays from ``root[k]`` on (-1: the hand is checked down), by the rows that begin at
    ``table[k]``, with ``scale[k]`` chips for a chip of the template. ``seat[k, p]`` sits at position p of the template,
    ``behind[k, s]`` chips are left to seat s, and ``live[k]`` are the seats still in as a bit mask.
    """

    root: NDArray[np.int32]
    table: NDArray[np.int64]
    scale: NDArray[np.float64]
    seat: NDArray[np.int32]
    behind: NDArray[np.float64]
    live: NDArray[np.int64]


class StreetArrays(NamedTuple):
    """All that the kernels read.

    ``favour[c, r]`` is how much likelier continuation c makes row r of the templates, ``passive[r]`` whether that row
    checks or calls, and ``chooses[s]`` whether seat s chooses a continuation.
    """

    seats: int
    values: int
    betting: StreetBetting
    terminals: Terminals
    stakes: Stakes
    templates: Templates
    leaves: StreetLeaves
    favour: NDArray[np.float32]
    passive: NDArray[np.bool_]
    chooses: NDArray[np.bool_]
    probability: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class StreetGame:
    """A street ready to be solved.

    Attributes
    ----------
    rows
        Actions of all decisions of the street.
    entries
        Entries of a table.
    places, later_places
        Places that one traversal visits at most on the street, and behind a leaf.
    most_actions, most_later_actions
        Actions that a decision offers at most, on the street and behind a leaf.
    """

    subgame: MultiplayerSubgame
    arrays: StreetArrays
    rows: int
    entries: int
    places: int
    later_places: int
    most_actions: int
    most_later_actions: int

    @classmethod
    def build(
        cls, blueprint: MultiwayBlueprint, subgame: MultiplayerSubgame, config: MultiplayerConfig
    ) -> StreetGame:
        """The street of a subgame; chips are counted in chips."""
        tree, seats = subgame.tree, subgame.seats
        betting = _betting(subgame)
        leaves, values = _leaves(blueprint, subgame), config.values
        strategies = continuations(values, config.factor)
        nodes, rows = blueprint.later.nodes, blueprint.later.rows
        favour = np.ones((values, len(rows.action)), np.float32)
        for number, (bias, factor) in enumerate(strategies):
            favour[number, np.isin(rows.action, BIASES[bias])] = factor
        chooses = np.ones(seats, np.bool_)
        if config.choosers == "opponents":
            hero = subgame.hand.streets[-1].state.actor if config.hero is None else config.hero
            chooses[hero] = False
        templates = Templates(
            player=np.array(nodes.player, np.int32),
            street=np.array(nodes.street, np.int32),
            actions=np.array(nodes.actions, np.int32),
            row=np.array(nodes.row, np.int32),
            child=np.array(rows.child, np.int32),
            stake=np.array(nodes.stake, np.float64),
            folded=np.array(nodes.folded, np.int64),
            entry=np.array(rows.entry, np.int64),
        )
        leaves, probability = _own_tables(blueprint, leaves)
        arrays = StreetArrays(
            seats=seats,
            values=values,
            betting=betting,
            terminals=terminals_of(tree, _ends(subgame), 1.0),
            stakes=stakes_of(subgame.hand.game, 1.0),
            templates=templates,
            leaves=leaves,
            favour=favour,
            passive=np.isin(rows.action, (Action.CHECK, Action.CALL)),
            chooses=chooses,
            probability=probability,
        )
        count = len(tree.children)
        return cls(
            subgame=subgame,
            arrays=arrays,
            rows=count,
            entries=(count + len(leaves.root) * seats * values) * NUM_COMBOS,
            places=_most_places(betting, seats),
            later_places=_most_places(templates, templates.stake.shape[1]),
            most_actions=int(betting.actions.max()),
            most_later_actions=int(templates.actions.max(initial=1)),
        )


def _ends(subgame: MultiplayerSubgame) -> NDArray[np.int64]:
    return np.flatnonzero(subgame.tree.kind != NodeKind.DECISION)


def _betting(subgame: MultiplayerSubgame) -> StreetBetting:
    tree = subgame.tree
    decision = tree.kind == NodeKind.DECISION
    end, leaf = np.full(len(tree), -1, np.int32), np.full(len(tree), -1, np.int32)
    ends, leaves = _ends(subgame), subgame.leaves
    end[ends] = np.arange(len(ends))
    leaf[leaves] = np.arange(len(leaves))
    parents = tree.parent[tree.children]
    committed = tree.committed[parents, tree.player[parents]]
    folds = tree.action[tree.children] == Action.FOLD
    betting = StreetBetting(
        player=np.where(decision, tree.player, -1).astype(np.int32),
        actions=np.where(decision, tree.num_children, 0).astype(np.int32),
        row=tree.child_start.astype(np.int32),
        child=tree.children.astype(np.int32),
        end=end,
        leaf=leaf,
        lost=np.where(folds, committed, -1).astype(np.float32),
        last=np.full((len(tree), tree.num_seats), -1, np.int32),
    )
    _own_rows(betting, tree.parent, betting.last, np.full(len(tree), -1, np.int32))
    return betting


def _leaves(blueprint: MultiwayBlueprint, subgame: MultiplayerSubgame) -> StreetLeaves:
    tree, later, nodes = subgame.tree, blueprint.later, subgame.leaves
    positions = later.nodes.stake.shape[1]
    stacks = np.array(subgame.hand.rules.stacks) + np.array(tree.antes)
    root, table = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes), np.int64)
    scale, seat = np.zeros(len(nodes)), np.full((len(nodes), positions), -1, np.int32)
    for number, node in enumerate(nodes.tolist()):
        place = subgame.places[node]
        if place is not None:
            root[number], table[number] = place.node, later.flop_lines.table[place.leaf]
            # The pot is what it is; the template says how many times over it is bet.
            scale[number] = float(tree.pot[node]) / (1.0 + float(later.nodes.stake[place.node].sum()))
            seat[number] = later.flop_lines.seats[place.leaf]
    bits = 1 << np.arange(tree.num_seats)
    return StreetLeaves(
        root=root,
        table=table,
        scale=scale,
        seat=seat,
        behind=(stacks - tree.committed[nodes]).astype(np.float64),
        live=((tree.folded[nodes] == 0) * bits).sum(axis=1).astype(np.int64),
    )


def _own_tables(
    blueprint: MultiwayBlueprint, leaves: StreetLeaves
) -> tuple[StreetLeaves, NDArray[np.float32]]:
    """The part of the blueprint's table that the leaves play, in memory, with the leaves pointing into it."""
    used = leaves.table[leaves.root >= 0]
    if len(used) == 0:
        return leaves, np.zeros(0, np.float32)
    starts = np.unique(np.append(blueprint.later.flop_lines.table, len(blueprint.table)))
    first, stop = int(used.min()), int(starts[np.searchsorted(starts, used.max(), side="right")])
    return leaves._replace(table=leaves.table - first), np.array(blueprint.table[first:stop], np.float32)


def _most_places(betting: StreetBetting | Templates, players: int) -> int:
    places, most = np.zeros(len(betting.player), np.int64), 1
    for player in range(players):
        _count_places(betting, player, places)
        most = max(most, int(places.max(initial=1)))
    return most
