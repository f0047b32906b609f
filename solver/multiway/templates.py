"""Play after the flop: betting templates that lines of one pot type share, and where their tables lie.

A line that sees a flop with two or more seats able to bet is a **leaf** of the tree before the flop. Leaves of one pot
type share a table: the same number of raises before the flop, the same seats (two players) or number of seats (more),
the same aggressor among them, and for every player a stack of about as many pots. Their betting is that of the first
such leaf, with all chips scaled by the pot. What is in the pot already is settled with the leaf's own side pots.

Rows are by action, as before the flop, and hold a hand bucket per column. Buckets of all textures stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solver.betting.game import GameConfig
from solver.betting.lines import FLOP, RIVER
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.rules import Action, BettingRules, BettingState, start_street
from solver.betting.tree import game_start, subgame_tree
from solver.betting.tree_size import count_nodes

#: Stacks of one pot type differ by this share at most.
STACK_TOLERANCE = 0.25


class Templates(NamedTuple):
    """The betting of all templates.

    ``player`` is the position of the player to act among those who saw the flop, -1 at ends. ``stake[v, p]`` is what
    position p has put in after the flop, in pots, ``folded[v]`` the positions that have folded as a bit mask. Rows
    ``row .. row + actions`` lead to ``child``; row r begins at entry ``entry[r]`` of its table.
    """

    player: NDArray[np.int32]
    street: NDArray[np.int32]
    actions: NDArray[np.int32]
    row: NDArray[np.int32]
    child: NDArray[np.int32]
    stake: NDArray[np.float64]
    folded: NDArray[np.int64]
    entry: NDArray[np.int64]


class Leaves(NamedTuple):
    """By leaf: root of its template, first entry of its table, seat of each position (-1: none), pot in big blinds."""

    root: NDArray[np.int32]
    table: NDArray[np.int64]
    seat: NDArray[np.int32]
    pot: NDArray[np.float64]


def _empty_templates() -> Templates:
    none = np.zeros(0, np.int32)
    return Templates(
        none, none, none, none, none, np.zeros((0, 1)), np.zeros(0, np.int64), np.zeros(0, np.int64)
    )


NO_TEMPLATES = _empty_templates()
NO_LEAVES = Leaves(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros((0, 1), np.int32), np.zeros(0))


@njit(cache=True)
def _count_places(betting: Any, seat: Any, records: Any) -> None:
    """Largest number of places that one traversal for a seat can visit, by node."""
    for node in range(betting.player.shape[0] - 1, -1, -1):
        player = betting.player[node]
        if player < 0:
            records[node] = 1
            continue
        total = 1 if player == seat else 0
        for k in range(betting.actions[node]):
            below = records[betting.child[betting.row[node] + k]]
            total = total + below if player == seat else max(total, below)
        records[node] = total


@dataclass(frozen=True)
class PotType:
    """What leaves of one table have in common.

    Attributes
    ----------
    raises
        Bets and raises before the flop.
    players
        Seats of two players, by order of action after the flop; of more players their number alone.
    aggressor
        Position of the last to raise before the flop, -1 where nobody did or who did has folded.
    stacks
        Stack of each player in pots, in steps of the tolerance; None for a player who is all-in.
    """

    raises: int
    players: tuple[int, ...] | int
    aggressor: int
    stacks: tuple[int | None, ...]


@dataclass(frozen=True)
class _Leaf:
    node: int
    seats: tuple[int, ...]
    behind: tuple[int, ...]
    pot: int
    kind: PotType

    @property
    def shape(self) -> tuple[object, ...]:
        """What leaves of one template have in common."""
        return len(self.seats), self.kind.aggressor, self.kind.stacks


@dataclass(frozen=True, eq=False)
class Postflop:
    """Templates and leaves of a game.

    Attributes
    ----------
    nodes
        Nodes of the tree before the flop that are leaves.
    entries
        Entries of all tables.
    widths
        Columns of a row on flop, turn and river.
    pot_types
        One for each table.
    tables
        First entry of each table, root of its template and the end of the template's nodes.
    trees
        Betting of each template, chips of its first leaf.
    """

    templates: Templates
    leaves: Leaves
    nodes: NDArray[np.int64]
    entries: int
    widths: tuple[int, int, int]
    pot_types: tuple[PotType, ...]
    tables: tuple[tuple[int, int, int], ...]
    trees: tuple[PublicTree, ...]

    @classmethod
    def build(
        cls,
        config: GameConfig,
        tree: PublicTree,
        widths: tuple[int, int, int],
        tolerance: float = STACK_TOLERANCE,
    ) -> Postflop:
        """Find the pot types of a tree before the flop, and build their betting."""
        check_templates(config, tree, tolerance)
        rules, _ = game_start(config)
        found = list(_leaves(rules, tree, tolerance))
        flat = _Flat(max((len(leaf.seats) for leaf in found), default=1), widths)
        trees: list[PublicTree] = []
        shapes: dict[tuple[object, ...], tuple[int, int, int]] = {}
        tables: dict[PotType, tuple[int, int, int]] = {}
        entries = 0
        roots, starts = [], []
        for leaf in found:
            if leaf.shape not in shapes:
                betting = subgame_tree(*_template_start(config, rules, leaf), node_limit=config.node_limit)
                trees.append(betting)
                shapes[leaf.shape] = flat.add(betting, leaf.pot)
            root, stop, size = shapes[leaf.shape]
            if leaf.kind not in tables:
                tables[leaf.kind] = entries, root, stop
                entries += size
            roots.append(root)
            starts.append(tables[leaf.kind][0])
        seats = np.full((len(found), flat.most_players), -1, np.int32)
        for row, leaf in enumerate(found):
            seats[row, : len(leaf.seats)] = leaf.seats
        return cls(
            templates=flat.arrays(),
            leaves=Leaves(
                np.array(roots, np.int32),
                np.array(starts, np.int64),
                seats,
                np.array([leaf.pot / config.big_blind for leaf in found]),
            ),
            nodes=np.array([leaf.node for leaf in found], np.int64),
            entries=entries,
            widths=widths,
            pot_types=tuple(tables),
            tables=tuple(tables.values()),
            trees=tuple(trees),
        )

    @cached_property
    def largest(self) -> tuple[int, int]:
        """Places that one traversal visits at most after the flop, and actions that a decision offers at most."""
        templates = self.templates
        places, most = np.zeros(len(templates.player), np.int64), 1
        for position in range(self.leaves.seat.shape[1]):
            _count_places(templates, position, places)
            most = max(most, int(places.max(initial=1)))
        return most, int(templates.actions.max(initial=1))


def _leaves(rules: BettingRules, tree: PublicTree, tolerance: float) -> Iterator[_Leaf]:
    antes = np.array(tree.antes, dtype=np.int64)
    for node in np.flatnonzero(tree.kind == NodeKind.CHANCE).tolist():
        seats = tuple(seat for seat in rules.order[FLOP] if not tree.folded[node, seat])
        committed = tree.committed[node] - antes
        behind = tuple(rules.stacks[seat] - int(committed[seat]) for seat in seats)
        raises, aggressor = _raises(tree, node)
        pot = int(tree.pot[node])
        steps = tuple(
            round(math.log(chips / pot) / math.log1p(tolerance)) if chips > 0 else None for chips in behind
        )
        position = seats.index(aggressor) if aggressor in seats else -1
        players = seats if len(seats) == 2 else len(seats)
        yield _Leaf(node, seats, behind, pot, PotType(raises, players, position, steps))


def _raises(tree: PublicTree, node: int) -> tuple[int, int]:
    """Bets and raises on the way to a node, and the seat that made the last one, -1 for none."""
    raises, aggressor = 0, -1
    while node > 0:
        if Action.BET <= tree.action[node] <= Action.ALLIN:
            aggressor = int(tree.player[tree.parent[node]]) if raises == 0 else aggressor
            raises += 1
        node = int(tree.parent[node])
    return raises, aggressor


def check_templates(config: GameConfig, tree: PublicTree, tolerance: float = STACK_TOLERANCE) -> None:
    """Refuse a game whose play after the flop is over the node limit, all templates together, before it is built."""
    rules, _ = game_start(config)
    nodes, seen = 0, set()
    leaves = sorted(_leaves(rules, tree, tolerance), key=lambda leaf: -len(leaf.seats))
    for leaf in leaves:
        if leaf.shape in seen:
            continue
        seen.add(leaf.shape)
        nodes += count_nodes(*_template_start(config, rules, leaf), RIVER).nodes
        if nodes > config.node_limit:
            raise ValueError(
                f"node_limit: play after the flop has at least {nodes:,} nodes, the limit is "
                f"{config.node_limit:,}; the key that adds most is max_flop_players ({config.max_flop_players}), "
                f"up to {len(leaves[0].seats)} players see a flop"
            )


def _template_start(
    config: GameConfig, rules: BettingRules, leaf: _Leaf
) -> tuple[BettingRules, BettingState]:
    """Rules of the betting after the flop of a leaf's players, and its first state; the pot is dead money."""
    own = BettingRules(
        stacks=leaf.behind,
        dead=leaf.pot,
        order=(tuple(range(len(leaf.seats))),) * 4,
        menus=rules.menus,
        thresholds=rules.thresholds,
        blind=0,
        min_bet=config.big_blind,
        limp=True,
    )
    return own, start_street(own, FLOP, (0,) * len(leaf.seats), 0, leaf.kind.aggressor)


class _Flat:
    """Collects the nodes of templates; a street's end leads to the next street's first decision at once."""

    def __init__(self, most_players: int, widths: tuple[int, int, int]) -> None:
        self.most_players = most_players
        self._widths = widths
        self._nodes: list[tuple[int, int, int, int]] = []
        self._stakes: list[list[float]] = []
        self._folded: list[int] = []
        self._child: list[int] = []
        self._entry: list[int] = []

    def add(self, tree: PublicTree, pot: int) -> tuple[int, int, int]:
        """Number of the root, the end of the nodes, and the entries of a table."""
        kept = np.flatnonzero(tree.kind != NodeKind.CHANCE)
        number = np.full(len(tree), -1, np.int64)
        number[kept] = len(self._nodes) + np.arange(len(kept))
        entries = 0
        players = tree.num_seats
        for node in kept.tolist():
            decision = tree.kind[node] == NodeKind.DECISION
            children = tree.children_of(node).tolist() if decision else []
            street = int(tree.street[node]) - FLOP
            self._nodes.append(
                (int(tree.player[node]) if decision else -1, street, len(children), len(self._child))
            )
            stake = (tree.committed[node] / pot).tolist()
            self._stakes.append(stake + [0.0] * (self.most_players - players))
            self._folded.append(int((tree.folded[node] * (1 << np.arange(players))).sum()))
            for child in children:
                while tree.kind[child] == NodeKind.CHANCE:
                    child = int(tree.children_of(child)[0])
                self._child.append(int(number[child]))
                self._entry.append(entries)
                entries += self._widths[street]
        return int(number[0]), len(self._nodes), entries

    def arrays(self) -> Templates:
        """All templates."""
        if not self._nodes:
            return NO_TEMPLATES
        player, street, actions, row = np.array(self._nodes, np.int32).T
        return Templates(
            player=player.copy(),
            street=street.copy(),
            actions=actions.copy(),
            row=row.copy(),
            child=np.array(self._child, np.int32),
            stake=np.array(self._stakes),
            folded=np.array(self._folded, np.int64),
            entry=np.array(self._entry, np.int64),
        )
