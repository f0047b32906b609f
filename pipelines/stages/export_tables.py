"""Tables of an exported blueprint: preflop rows, every line of the tree, and postflop strategies by bucket."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, NUM_CLASSES
from artifacts.format.arrow_file import ArrowFile, Column
from artifacts.preflop_offpath import clean_off_path, reasons_by_line
from solver.betting.lines import PREFLOP, STREETS
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree_text import action_labels, preflop_key
from solver.blueprint.plan import PotShare
from solver.blueprint.strategy import Blueprint
from solver.blueprint.trunk import Floats
from solver.preflop.solver import PreflopStrategy

Columns = dict[str, Column]


def preflop_table(
    play: PreflopStrategy, evs: ArrowFile | Mapping[str, NDArray[Any]], reach_rule: str
) -> Columns:
    """One row per line, hand and action.

    Parameters
    ----------
    evs
        Table `preflop_ev` of stage `preflop_ev`, or its columns.
    reach_rule
        Of the cleaning.
    """
    tree, raw = play.game.tree, play.by_line()
    cleaned = clean_off_path(raw, reach_rule=reach_rule)
    reasons = reasons_by_line(raw, reach_rule=reach_rule)
    keys = list(zip(evs["line"].tolist(), evs["action"].tolist()))
    won = {name: dict(zip(keys, evs[name])) for name in ("ev", "ev_se")}
    parts: dict[str, list] = {name: [] for name in ("line", "hand", "action", "reason")}
    figures: dict[str, list[Floats]] = {
        name: [] for name in ("probability", "raw_probability", "reach", *won)
    }
    for line, hands in raw.items():
        labels = list(hands[CLASS_NAMES[0]])
        size = NUM_CLASSES * len(labels)
        parts["line"] += [line] * size
        parts["hand"] += np.repeat(CLASS_NAMES, len(labels)).tolist()
        parts["action"] += labels * NUM_CLASSES
        parts["reason"] += [reasons[line][hand] for hand in CLASS_NAMES for _ in labels]
        for name, table in (("probability", cleaned), ("raw_probability", raw)):
            rows = [table[line][hand][label] for hand in CLASS_NAMES for label in labels]
            figures[name].append(np.array(rows))
        seat = int(tree.player[tree.node_at(line)])
        figures["reach"].append(np.repeat(play.reach(line, seat), len(labels)))
        for name, rows_of in won.items():
            figures[name].append(np.stack([rows_of[line, label] for label in labels], axis=1).ravel())
    numbers = {name: np.concatenate(part) for name, part in figures.items()}
    return {
        "line": pa.array(parts["line"], pa.string()),
        "hand": pa.array(parts["hand"], pa.string()),
        "action": pa.array(parts["action"], pa.string()),
        "probability": numbers["probability"],
        "raw_probability": numbers["raw_probability"],
        "reason": pa.array(parts["reason"], pa.string()),
        "reach": numbers["reach"],
        # Undefined where the opponent never plays its part of the line.
        **{name: pa.array(numbers[name], pa.float64(), from_pandas=True) for name in won},
    }


def postflop_table(blueprint: Blueprint, street: int) -> Columns:
    """Average strategy of a street (0 flop .. 2 river): one row per action, in the order of `StreetRows`."""
    tree = blueprint.game.tree
    lines: list[str] = []
    actions: list[str] = []
    owners: list[NDArray[np.int16]] = []
    for texture, _, nodes in blueprint.street_rows(street).groups():
        parents = tree.parent[nodes].tolist()
        lines += [tree.lines[parent] for parent in parents]
        actions += [label for node in dict.fromkeys(parents) for label in action_labels(tree, node)]
        owners.append(np.full(len(nodes), texture, dtype=np.int16))
    table: Columns = {"line": pa.array(lines, pa.string()), "action": pa.array(actions, pa.string())}
    if blueprint.layout.num_textures > 1:
        table["texture"] = np.concatenate(owners)
    table["probability"] = blueprint.exported_street(street)
    return table


@dataclass(frozen=True)
class _Line:
    """A decision of the exported game."""

    line: str
    street: int
    player: int
    actions: list[str]
    tokens: list[str]
    row: int
    pot: int
    committed: list[int]


def lines_table(blueprint: Blueprint) -> Columns:
    """Every decision of the whole game and where its rows lie.

    Lines of one pot type play the betting of the line that stands for them, sizes in their own chips, and
    point at the same rows.
    """
    return _columns([*_preflop_lines(blueprint.game.preflop.tree), *_postflop_lines(blueprint)])


def preflop_lines_table(tree: PublicTree) -> Columns:
    """Every decision of a preflop tree, as `lines_table` writes them."""
    return _columns(_preflop_lines(tree))


def _columns(lines: Iterable[_Line]) -> Columns:
    rows = list(lines)
    return {
        "line": pa.array([row.line for row in rows], pa.string()),
        "street": pa.array([STREETS[row.street] for row in rows], pa.string()),
        "player": np.array([row.player for row in rows], dtype=np.int8),
        "actions": pa.array([row.actions for row in rows], pa.list_(pa.string())),
        "tokens": pa.array([row.tokens for row in rows], pa.list_(pa.string())),
        "row": np.array([row.row for row in rows], dtype=np.int64),
        "pot": np.array([row.pot for row in rows], dtype=np.int32),
        "committed": np.array([row.committed for row in rows], dtype=np.int32),
    }


def _preflop_lines(tree: PublicTree) -> Iterator[_Line]:
    before = 0
    for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist():
        labels = action_labels(tree, node)
        yield _Line(
            line=preflop_key(tree, node),
            street=PREFLOP,
            player=int(tree.player[node]),
            actions=labels,
            tokens=[tree.token(int(child)) for child in tree.children_of(node)],
            row=before,
            pot=int(tree.pot[node]),
            committed=tree.committed[node].tolist(),
        )
        before += NUM_CLASSES * len(labels)


def _postflop_lines(blueprint: Blueprint) -> Iterator[_Line]:
    tree, pots = blueprint.game.tree, blueprint.pots
    row_of: dict[int, int] = {}
    for street in range(3):
        row_of |= blueprint.street_rows(street).first_rows()
    for root, members, shares in zip(pots.templates, pots.members, pots.shares):
        for member, share in zip(members, shares):
            yield from _member_lines(tree, root, f"{blueprint.game.names[member]}/", share, row_of)


def _member_lines(
    tree: PublicTree, root: int, start: str, share: PotShare, row_of: dict[int, int]
) -> Iterator[_Line]:
    """Decisions of one flop line, from those of the line that stands for its pot type."""
    texts = {root: start}
    own = np.array(share.own_put_in) - share.scale * np.array(share.put_in)
    dead = float(tree.pot[root]) - float(tree.committed[root].sum())
    for node in range(root, int(tree.subtree_end[root])):
        if node != root:
            texts[node] = texts[int(tree.parent[node])] + tree.token(node, share.scale)
        if tree.kind[node] != NodeKind.DECISION:
            continue
        children = tree.children_of(node).tolist()
        tokens = [tree.token(child, share.scale) for child in children]
        committed = np.rint(own + share.scale * tree.committed[node]).astype(int)
        yield _Line(
            line=texts[node],
            street=int(tree.street[node]),
            player=int(tree.player[node]),
            actions=[
                label if label == "all_in" or "_" not in label else f"{label.split('_')[0]}_{token[1:]}"
                for label, token in zip(action_labels(tree, node), tokens)
            ],
            tokens=tokens,
            row=row_of[node],
            pot=round(dead + committed.sum()),
            committed=committed.tolist(),
        )
