"""A postflop solve as a bundle: the decisions of its tree, on every board, with the rows of every hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from artifacts.format.arrow_file import Column
from pipelines.commands.saved_folder import write_folder
from pipelines.commands.spots import solve_task, without_times
from pipelines.run.code_version import code_version
from pipelines.run.engine import stage_key
from pipelines.run.errors import UserError
from solver.betting.lines import PLAYERS, STREETS
from solver.betting.public_tree import NodeKind, PublicTree
from solver.betting.tree_text import action_labels
from solver.postflop.node_report import NodeReport, board_reports
from solver.postflop.solver import PostflopSolver
from solver.postflop.spot import Spot

STAGE = "postflop_solve"
#: Rows of hands that a bundle may have: about a gigabyte, and all of it is in memory while it is written.
MAX_HANDS = 20_000_000


def read_depth(text: str) -> int | None:
    """`--nodes`: how many actions a decision may be away from the root; None for all.

    >>> read_depth("all"), read_depth("2")
    (None, 2)
    """
    if text == "all":
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    raise UserError(f"--nodes: {text!r}; accepted: all, or a number of actions from the root: 0, 1, 2, ...")


def kept_nodes(solver: PostflopSolver, depth: int | None) -> list[int]:
    """Decisions to save, in the order of the tree; refused where their hands are too many."""
    tree = solver.tree
    depths = _depths(tree)
    nodes = [node for node in range(len(tree)) if tree.kind[node] == NodeKind.DECISION]
    hands = np.array([_num_boards(solver, node) * _num_hands(solver, node) for node in nodes])
    levels = depths[nodes]
    deepest = int(levels.max()) if depth is None else depth
    total = int(hands[levels <= deepest].sum())
    if total > MAX_HANDS:
        fitting = max((k for k in range(deepest) if hands[levels <= k].sum() <= MAX_HANDS), default=None)
        accepted = "no depth of this spot" if fitting is None else f"up to {fitting}"
        given = "all" if depth is None else depth
        raise UserError(
            f"--nodes: {given} is {total:,} rows of hands, more than {MAX_HANDS:,}; accepted: {accepted}"
        )
    return [node for node, level in zip(nodes, levels) if level <= deepest]


def _depths(tree: PublicTree) -> np.ndarray:
    """Actions on the way from the root to each node; cards that are dealt do not count."""
    depths = np.zeros(len(tree), dtype=np.int64)
    for node in range(1, len(tree)):
        parent = int(tree.parent[node])
        depths[node] = depths[parent] + (tree.kind[parent] == NodeKind.DECISION)
    return depths


def _num_deals(solver: PostflopSolver, node: int) -> int:
    return int(solver.tree.street[node]) - int(solver.tree.street[0])


def _num_boards(solver: PostflopSolver, node: int) -> int:
    left = len(solver.engine.game.deck)
    return int(np.prod([left - k for k in range(_num_deals(solver, node))], dtype=np.int64))


def _num_hands(solver: PostflopSolver, node: int) -> int:
    return len(solver.engine.game.hands[int(solver.tree.player[node])])


def _deals(solver: PostflopSolver, count: int) -> Iterator[tuple[int, ...]]:
    """Cards that may be dealt since the root, in order; those that leave a player without a hand cannot be."""
    for dealt in permutations(solver.engine.game.deck, count):
        try:
            solver.engine.deals.locate(dealt)
        except ValueError:
            continue
        yield dealt


def save_spot(
    folder: Path,
    solver: PostflopSolver,
    spot: Spot,
    result: Mapping[str, Any],
    nodes: Sequence[int],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a solve to a new folder.

    Parameters
    ----------
    result
        The result of the solve, seen from its root.
    nodes
        Decisions to save.
    progress
        Called with how many decisions on boards are done, and how many there are.
    """
    tables = _tables(solver, nodes, progress)
    code = code_version(solve_task)
    config = {"spot": spot.model_dump(exclude={"threads"}), "lines": len(nodes)}
    result = without_times(result)
    write_folder(
        folder,
        tables,
        texts={
            "spot.json": json.dumps(spot.model_dump(), indent=2) + "\n",
            "result.json": json.dumps(result) + "\n",
        },
        stage=STAGE,
        key=stage_key(STAGE, code, config, {}),
        code=code,
        config=config,
        metrics={
            "exploitability_pct": result["exploitability_pct"],
            "iterations": result["iterations"],
            **{f"ev_{player}": result["ev"][player] for player in PLAYERS},
        },
    )


def _tables(
    solver: PostflopSolver, nodes: Sequence[int], progress: Callable[[int, int], None] | None
) -> dict[str, dict[str, Column]]:
    tree = solver.tree
    deals = {count: list(_deals(solver, count)) for count in {_num_deals(solver, node) for node in nodes}}
    total = sum(len(deals[_num_deals(solver, node)]) for node in nodes)
    by_node: dict[int, list[NodeReport]] = {node: [] for node in nodes}
    done = 0
    # Board by board: one evaluation serves all decisions of its street.
    for count, boards in sorted(deals.items()):
        here = [node for node in nodes if _num_deals(solver, node) == count]
        for dealt in boards:
            for node, report in zip(here, board_reports(solver.engine, here, dealt)):
                by_node[node].append(report)
            done += len(here)
            if progress is not None:
                progress(done, total)
    reports = [report for node in nodes for report in by_node[node]]
    counts = np.array([len(by_node[node]) for node in nodes], dtype=np.int64)
    return {
        "lines": {
            "line": pa.array([tree.line(node) for node in nodes], pa.string()),
            "street": pa.array([STREETS[tree.street[node]] for node in nodes], pa.string()),
            "player": tree.player[list(nodes)].astype(np.int8),
            "actions": pa.array([action_labels(tree, node) for node in nodes], pa.list_(pa.string())),
            "tokens": pa.array(
                [[tree.token(int(child)) for child in tree.children_of(node)] for node in nodes],
                pa.list_(pa.string()),
            ),
            "row": np.cumsum(counts) - counts,
            "pot": tree.pot[list(nodes)].astype(np.int32),
            "committed": tree.committed[list(nodes)].astype(np.int32),
        },
        "nodes": _node_columns(reports),
        "hands": _hand_columns(reports),
    }


def _node_columns(reports: Sequence[NodeReport]) -> dict[str, Column]:
    counts = np.array([len(report.hands[report.player].combos) for report in reports], dtype=np.int64)
    columns: dict[str, Column] = {
        "line": pa.array([report.line for report in reports], pa.string()),
        "board": pa.array([report.board for report in reports], pa.string()),
        "player": pa.array([PLAYERS[report.player] for report in reports], pa.string()),
        "actions": pa.array([report.actions for report in reports], pa.list_(pa.string())),
        "frequencies": pa.array([report.frequencies for report in reports], pa.list_(pa.float64())),
        "pot": np.array([report.pot for report in reports], dtype=np.int32),
    }
    for number, player in enumerate(PLAYERS):
        columns[f"ev_{player}"] = np.array([report.ev[number] for report in reports])
        columns[f"equity_{player}"] = np.array([report.equity[number] for report in reports])
    return columns | {"first_hand": np.cumsum(counts) - counts, "num_hands": counts}


def _hand_columns(reports: Sequence[NodeReport]) -> dict[str, Column]:
    hands = [report.hands[report.player] for report in reports]
    counts = [len(part.combos) for part in hands]
    widths = np.repeat([len(report.actions) for report in reports], counts)
    offsets = pa.array(np.concatenate([[0], np.cumsum(widths)]).astype(np.int32))

    def lists(parts: Sequence[np.ndarray]) -> pa.Array:
        flat = np.concatenate([part.T.ravel() for part in parts]).astype(np.float32)
        return pa.ListArray.from_arrays(offsets, pa.array(flat))

    def repeated(texts: Sequence[str]) -> pa.Array:
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        indices = np.repeat([numbers[text] for text in texts], counts).astype(np.int32)
        return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(numbers), pa.string()))

    return {
        "line": repeated([report.line for report in reports]),
        "board": repeated([report.board for report in reports]),
        "hand": pa.array([name for part in hands for name in part.names], pa.string()),
        "weight": np.concatenate([part.weights for part in hands]),
        "ev": np.concatenate([part.ev for part in hands]),
        "equity": np.concatenate([part.equity for part in hands]),
        "strategy": lists([report.strategy for report in reports]),
        "action_ev": lists([report.action_ev for report in reports]),
    }
