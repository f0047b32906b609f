"""The postflop betting of flop lines as straight-line programs, eight betting lines at a time.

Betting repeats itself: the rivers behind the exits of a turn are the same few trees with other chips.
Subtrees of one street that have the same shape are therefore swept together, one in each *lane* of a
vector; eight lanes are a *block*. Reach, values and tables keep the lane last, ``[hand, lane]`` and
``[bucket, action, lane]``: a hand reads its bucket's strategy for eight subtrees with plain vector loads,
and every terminal is evaluated for eight pots at once.

A program sweeps one shape for the updating player `own`:

    splits     opponent nodes, parents first: split the opponent's reach over the actions
    exits      lines that go on to the next street
    terminals  folds and showdowns, by the reach row they see
    updates    own nodes, children first: combine the action values, update the regrets

Only an opponent node makes new reach rows (an own node passes its row on) and only an own node makes new
value rows (the children of an opponent node add to its row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.betting.lines import FLOP, RIVER
from solver.betting.public_tree import NodeKind, PublicTree
from solver.cfr.simd import WIDTH

_INT = np.int32
#: Betting of a street below a node, chips apart: equal for subtrees that one program can sweep.
Shape = bytes

#: Parts of the lists that belong to a shape, and the number of rows it needs.
PROGRAM = np.dtype(
    [
        ("splits", _INT),
        ("splits_end", _INT),
        ("exits", _INT),
        ("exits_end", _INT),
        ("terminals", _INT),
        ("terminals_end", _INT),
        ("updates", _INT),
        ("updates_end", _INT),
        ("reach_rows", _INT),
        ("value_rows", _INT),
        ("own_actions", _INT),
    ],
    align=True,
)
#: An opponent node: reach row, first action row of its table, reach row of the first action (the others
#: follow).
SPLIT = np.dtype([("row", _INT), ("table", _INT), ("child", _INT), ("actions", _INT)], align=True)
#: A line to the next street: reach row and value row; `adds` when the row holds a value already. Its own
#: actions on the street are ``paths[path : path_end]``.
EXIT = np.dtype(
    [("reach", _INT), ("row", _INT), ("adds", _INT), ("path", _INT), ("path_end", _INT)], align=True
)
#: What ends on a reach row: value rows of a showdown and of a fold (-1 for none), and the number of its
#: payoffs.
TERMINAL = np.dtype(
    [
        ("reach", _INT),
        ("show", _INT),
        ("show_adds", _INT),
        ("fold", _INT),
        ("fold_adds", _INT),
        ("pays", _INT),
    ],
    align=True,
)
#: An own node: reach row, value row, first action row of its table, value row of the first action (the others
#: follow), and the number of that action among the own actions of its shape.
UPDATE_NODE = np.dtype(
    [
        ("reach", _INT),
        ("row", _INT),
        ("adds", _INT),
        ("table", _INT),
        ("child", _INT),
        ("actions", _INT),
        ("number", _INT),
    ],
    align=True,
)
#: A block of eight lanes: street (0 flop .. 2 river), shape, action rows before it on its street, first row
#: of its payoffs, where its reach and values begin (in rows of one number per hand and lane), and its first
#: own action.
BLOCK = np.dtype(
    [
        ("street", _INT),
        ("program", _INT),
        ("table", _INT),
        ("pays", _INT),
        ("reach", _INT),
        ("value", _INT),
        ("actions", _INT),
    ],
    align=True,
)
#: Where a lane's root comes from: block, reach row, value row, lane and exit on the street before; block
#: -1: nowhere.
LINK = np.dtype([("block", _INT), ("reach", _INT), ("row", _INT), ("lane", _INT), ("exit", _INT)], align=True)


class LaneProgram(NamedTuple):
    """Everything a sweep for one player reads about the betting.

    `links` has eight entries per block. Blocks come street by street; `street_blocks` holds their bounds.
    `entry` holds the block and lane of each line and `root_street` the street on which the lines begin.
    """

    programs: NDArray[np.void]
    splits: NDArray[np.void]
    exits: NDArray[np.void]
    terminals: NDArray[np.void]
    updates: NDArray[np.void]
    paths: NDArray[np.int32]
    blocks: NDArray[np.void]
    links: NDArray[np.void]
    street_blocks: NDArray[np.int32]
    entry: NDArray[np.int32]
    root_street: int
    reach_rows: int
    value_rows: int
    own_actions: int


@dataclass(frozen=True)
class PotShare:
    """How a line's chips follow from those of a line that stands for it.

    Chips won from the flop on scale with the pot; what was put in before the flop is the line's own.
    """

    scale: float = 1.0
    put_in: tuple[float, float] = (0.0, 0.0)
    own_put_in: tuple[float, float] = (0.0, 0.0)

    def pay(self, amounts: NDArray[np.float64], seat: int) -> NDArray[np.float64]:
        """Net chips of a seat at the line's terminals, from those at the terminals that stand for them."""
        if self.scale == 1.0 and self.put_in == self.own_put_in:
            return amounts
        return self.scale * (amounts + self.put_in[seat]) - self.own_put_in[seat]


@dataclass(frozen=True, eq=False)
class LaneBlock:
    """Eight subtrees of one shape; `roots` are their first nodes, -1 for an empty lane."""

    street: int
    shape: Shape
    roots: tuple[int, ...]
    action_rows: int


@dataclass(frozen=True, eq=False)
class LanePlan:
    """The betting below lines of a heads-up tree that begin the same street, or below one decision after the flop.

    Attributes
    ----------
    tree
        The whole game's tree.
    lines
        The first node of each line.
    blocks
        Lane blocks, flop first. A street's roots are grouped by shape, in the order of `_next_roots`. So a lane's
        place depends on the lines of the plan, but nothing that is computed for it does.
    programs
        One `LaneProgram` per updating player.
    terminal_places
        Per updating player, the places of each terminal's showdown and fold among the nodes of its street.
    """

    tree: PublicTree
    lines: tuple[int, ...]
    blocks: tuple[LaneBlock, ...]
    programs: tuple[LaneProgram, LaneProgram]
    terminal_places: tuple[NDArray[np.int32], NDArray[np.int32]]

    @classmethod
    def build(cls, tree: PublicTree, lines: Sequence[int]) -> LanePlan:
        """Plan the lines that begin a street at the given nodes, or the betting from one postflop decision on."""
        if tree.num_seats != 2:
            raise ValueError(f"stacks: the blueprint trainer plays 2 seats, not {tree.num_seats}")
        if not len(lines):
            raise ValueError("lines: no flop line to plan")
        street = tree.street[lines[0]]
        for node in lines:
            begins = tree.street[node] == street >= FLOP and tree.street[tree.parent[node]] != street
            alone = len(lines) == 1 and street >= FLOP and tree.kind[node] == NodeKind.DECISION
            if not begins and not alone:
                name = "flop" if street <= FLOP else "street with the first line"
                raise ValueError(f"lines: node {node} ({tree.line(int(node))!r}) does not begin a {name}")
        blocks: list[LaneBlock] = []
        roots = [int(node) for node in lines]
        for street in range(int(tree.street[roots[0]]) - FLOP, RIVER - FLOP + 1):
            here = _street_blocks(tree, street, roots)
            blocks += here
            roots = [root for block in here for root in _next_roots(tree, block)]
        first, positions = _lane_program(tree, lines, blocks, 0)
        second, other_positions = _lane_program(tree, lines, blocks, 1)
        return cls(
            tree=tree,
            lines=tuple(int(node) for node in lines),
            blocks=tuple(blocks),
            programs=(first, second),
            terminal_places=(positions, other_positions),
        )

    def payoffs(self, own: int, pots: Sequence[PotShare] | None = None) -> NDArray[np.float64]:
        """Payoffs to `own` of every terminal, ``[terminal of a block, (half, lose, fold), lane]``.

        A showdown pays half * (wins - losses) + (half + lose) per opponent hand met, with half = (win -
        lose) / 2; a fold pays fold. `pots` replaces the pot of each line (see `PotShare`).
        """
        tree, program = self.tree, self.programs[own]
        blocks, programs = program.blocks, program.programs
        outcomes = tree.heads_up_payoffs[:, :, own]
        pays = np.zeros((sum(self._num_terminals(own)), 3, WIDTH))
        share = self._line_of_root() if pots is not None else {}
        for number, block in enumerate(self.blocks):
            shape = programs[blocks["program"][number]]
            places = self.terminal_places[own][shape["terminals"] : shape["terminals_end"]]
            rows = int(blocks["pays"][number]) + np.arange(len(places))
            shows, folds = places[:, 0] >= 0, places[:, 1] >= 0
            for lane, root in enumerate(block.roots):
                if root < 0:
                    continue
                nodes = street_nodes(tree, root)
                change = pots[share[root]] if pots is not None else PotShare()
                win, lose = (
                    change.pay(outcomes[nodes[places[shows, 0]], winner], own) for winner in (own, 1 - own)
                )
                pays[rows[shows], 0, lane] = (win - lose) / 2
                pays[rows[shows], 1, lane] = lose
                pays[rows[folds], 2, lane] = change.pay(outcomes[nodes[places[folds, 1]], 2], own)
        return pays

    def _num_terminals(self, own: int) -> list[int]:
        programs = self.programs[own].programs
        counts = programs["terminals_end"] - programs["terminals"]
        return [int(counts[k]) for k in self.programs[own].blocks["program"]]

    def _line_of_root(self) -> dict[int, int]:
        """The line that each lane's root lies on."""
        ends = self.tree.subtree_end
        return {
            root: next(k for k, line in enumerate(self.lines) if line <= root < ends[line])
            for block in self.blocks
            for root in block.roots
            if root >= 0
        }

    def action_rows(self) -> tuple[int, int, int]:
        """Action rows of the blocks of flop, turn and river, eight lanes each."""
        totals = [0, 0, 0]
        for block in self.blocks:
            totals[block.street] += block.action_rows
        return totals[0], totals[1], totals[2]


def street_nodes(tree: PublicTree, root: int) -> NDArray[np.int64]:
    """Nodes of the street below `root`, depth first."""
    nodes = np.arange(root, int(tree.subtree_end[root]))
    return nodes[tree.street[nodes] == tree.street[root]]


def shape_of(tree: PublicTree, root: int) -> Shape:
    """Shape of the betting below a node: who acts, with how many actions, and how lines end."""
    nodes = street_nodes(tree, root)
    actions = np.where(tree.kind[nodes] == NodeKind.DECISION, tree.num_children[nodes], 0)
    return (
        np.stack([tree.kind[nodes], tree.player[nodes], actions, tree.folded[nodes, 0]])
        .astype(np.int8)
        .tobytes()
    )


def num_action_rows(tree: PublicTree, root: int) -> int:
    """Actions of all decisions of the street below a node."""
    nodes = street_nodes(tree, root)
    return int(tree.num_children[nodes[tree.kind[nodes] == NodeKind.DECISION]].sum())


def _exits(tree: PublicTree, root: int) -> list[int]:
    """First nodes of the next street, in the order of the exits that lead there."""
    nodes = street_nodes(tree, root)
    out = nodes[(tree.kind[nodes] == NodeKind.CHANCE) & (tree.num_children[nodes] > 0)]
    return tree.children[tree.child_start[out]].tolist()


def _next_roots(tree: PublicTree, block: LaneBlock) -> list[int]:
    """First nodes of the next street, exit by exit: so the lanes of a block go on as neighbours."""
    by_root = [_exits(tree, root) for root in block.roots if root >= 0]
    return [root for same_exit in zip(*by_root, strict=True) for root in same_exit]


def _street_blocks(tree: PublicTree, street: int, roots: list[int]) -> list[LaneBlock]:
    groups: dict[Shape, list[int]] = {}
    for root in roots:
        groups.setdefault(shape_of(tree, root), []).append(root)
    blocks = []
    for shape, members in groups.items():
        for first in range(0, len(members), WIDTH):
            lanes = members[first : first + WIDTH]
            roots_of_block = (*lanes, *(-1,) * (WIDTH - len(lanes)))
            blocks.append(LaneBlock(street, shape, roots_of_block, num_action_rows(tree, lanes[0])))
    return blocks


class _Rows:
    """Numbers the rows of one shape and notes which write comes first."""

    def __init__(self) -> None:
        self.reach = 1
        self.value = 1
        self.written: set[int] = set()

    def adds(self, row: int) -> int:
        """Whether a value row holds something already; it does from now on."""
        known = row in self.written
        self.written.add(row)
        return int(known)


class _Lists:
    """The growing lists of a program."""

    def __init__(self) -> None:
        self.programs: list[tuple[int, ...]] = []
        self.splits: list[tuple[int, ...]] = []
        self.exits: list[tuple[int, ...]] = []
        self.terminals: list[tuple[int, ...]] = []
        self.updates: list[tuple[int, ...]] = []
        self.positions: list[tuple[int, int]] = []
        self.paths: list[int] = []


def _add_shape(lists: _Lists, tree: PublicTree, root: int, own: int) -> None:
    """Compile the shape of the betting below a node."""
    rows = _Rows()
    begins = [len(part) for part in (lists.splits, lists.exits, lists.terminals, lists.updates)]
    exits: list[tuple[int, int, tuple[int, ...]]] = []
    ends: dict[int, list[int]] = {}
    where: dict[int, list[int]] = {}
    own_nodes: list[tuple[int, ...]] = []
    table = position = own_actions = 0

    def visit(node: int, reach: int, value: int, path: tuple[int, ...]) -> None:
        nonlocal table, position, own_actions
        kind, here = tree.kind[node], position
        position += 1
        if kind == NodeKind.CHANCE:
            exits.append((reach, value, path))
        elif kind != NodeKind.DECISION:
            entry = ends.setdefault(reach, [-1, -1])
            entry[0 if kind == NodeKind.SHOWDOWN else 1] = value
            where.setdefault(reach, [-1, -1])[0 if kind == NodeKind.SHOWDOWN else 1] = here
        else:
            children, at = tree.children_of(node).tolist(), table
            table += len(children)
            if tree.player[node] == own:
                below = [(reach, rows.value + k) for k in range(len(children))]
                own_nodes.append((reach, value, at, rows.value, len(children), own_actions))
                paths = [(*path, own_actions + k) for k in range(len(children))]
                rows.value += len(children)
                own_actions += len(children)
            else:
                below = [(rows.reach + k, value) for k in range(len(children))]
                lists.splits.append((reach, at, rows.reach, len(children)))
                paths = [path] * len(children)
                rows.reach += len(children)
            for child, (child_reach, child_value), taken in zip(children, below, paths):
                visit(child, child_reach, child_value, taken)

    visit(root, 0, 0, ())
    for reach, value, taken in exits:
        lists.exits.append((reach, value, rows.adds(value), len(lists.paths), len(lists.paths) + len(taken)))
        lists.paths += taken
    # Showdowns first: they are evaluated together, and so are the rows that only see a fold.
    in_order = sorted(ends.items(), key=lambda item: item[1][0] < 0)
    for number, (reach, (show, fold)) in enumerate(in_order):
        show_adds = rows.adds(show) if show >= 0 else 0
        fold_adds = rows.adds(fold) if fold >= 0 else 0
        lists.terminals.append((reach, show, show_adds, fold, fold_adds, number))
        lists.positions.append((where[reach][0], where[reach][1]))
    for reach, value, *rest in reversed(own_nodes):
        lists.updates.append((reach, value, rows.adds(value), *rest))
    lists.programs.append(
        (
            begins[0],
            len(lists.splits),
            begins[1],
            len(lists.exits),
            begins[2],
            len(lists.terminals),
            begins[3],
            len(lists.updates),
            rows.reach,
            rows.value,
            own_actions,
        )
    )


def _lane_program(
    tree: PublicTree, lines: Sequence[int], blocks: list[LaneBlock], own: int
) -> tuple[LaneProgram, NDArray[np.int32]]:
    """The program of one player, and the places (showdown, fold) of its terminals among a street's nodes."""
    lists = _Lists()
    numbers: dict[Shape, int] = {}
    for block in blocks:
        if block.shape not in numbers:
            numbers[block.shape] = len(numbers)
            _add_shape(lists, tree, block.roots[0], own)
    programs = np.array(lists.programs, dtype=PROGRAM)
    exits = np.array(lists.exits, dtype=EXIT)
    table = [0, 0, 0]
    rows: list[tuple[int, ...]] = []
    links = np.zeros(len(blocks) * WIDTH, dtype=LINK)
    links["block"] = -1
    lanes: dict[int, tuple[int, int]] = {}
    entry: dict[int, tuple[int, int, int, int, int]] = {}
    reach = value = pays = own_actions = 0
    river_reach = river_value = 0
    for number, block in enumerate(blocks):
        program = programs[numbers[block.shape]]
        # Rivers are swept one block at a time in the same rows, unless the lines begin there.
        shares_rows = block.street == RIVER - FLOP != blocks[0].street
        rows.append(
            (block.street, numbers[block.shape], table[block.street], pays, reach, value, own_actions)
        )
        own_actions += int(program["own_actions"])
        table[block.street] += block.action_rows
        pays += int(program["terminals_end"] - program["terminals"])
        if shares_rows:
            river_reach = max(river_reach, int(program["reach_rows"]))
            river_value = max(river_value, int(program["value_rows"]))
        else:
            reach += int(program["reach_rows"])
            value += int(program["value_rows"])
        for lane, root in enumerate(block.roots):
            if root < 0:
                continue
            if block.street == blocks[0].street:
                lanes[root] = (number, lane)
            if root in entry:
                links[number * WIDTH + lane] = entry[root]
            shape_exits = exits[program["exits"] : program["exits_end"]]
            for k, (out, child) in enumerate(zip(shape_exits, _exits(tree, root))):
                entry[child] = (number, int(out["reach"]), int(out["row"]), lane, int(program["exits"]) + k)
    bounds = np.searchsorted([block.street for block in blocks], np.arange(4)).astype(np.int32)
    program_arrays = LaneProgram(
        programs=programs,
        splits=np.array(lists.splits, dtype=SPLIT),
        exits=exits,
        terminals=np.array(lists.terminals, dtype=TERMINAL),
        updates=np.array(lists.updates, dtype=UPDATE_NODE),
        paths=np.array(lists.paths, dtype=np.int32),
        blocks=np.array(rows, dtype=BLOCK),
        links=links,
        street_blocks=bounds,
        entry=np.array([lanes[int(line)] for line in lines], dtype=np.int32),
        root_street=blocks[0].street,
        reach_rows=reach + river_reach,
        value_rows=value + river_value,
        own_actions=own_actions,
    )
    return program_arrays, np.array(lists.positions, dtype=np.int32)
