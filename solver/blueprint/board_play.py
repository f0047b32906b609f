"""Strategies of a table met on one full board: what a sweep reads of a table, and what both playing from it win."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import BoardHands
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.sweep import _sweep_board
from solver.blueprint.sweep_arrays import EXPECTED, FROM_TABLES, Runs, Side, Work, by_hand_showdown
from solver.blueprint.tables import TableLayout
from solver.cfr.simd import WIDTH


def table_side(
    layout: TableLayout, table: NDArray[Any], runs: tuple[Runs, Runs, Runs], texture: int = 0
) -> Side:
    """What a sweep reads of a table; `runs` are the hands of the board by bucket."""
    return Side(table, layout.starts(texture), np.array(layout.num_buckets), runs)


def add_expected(
    layout: TableLayout,
    table: NDArray[Any],
    deal: BoardHands,
    keys: NDArray[np.int16],
    own: int,
    reach: NDArray[Any],
    pays: NDArray[Any],
    weight: float,
    work: Work,
    out: NDArray[np.float64],
    texture: int = 0,
) -> None:
    """Add what the plan's lines are worth to `own` on a board, both playing from the table, to ``out[line, key]``.

    Parameters
    ----------
    keys
        What hands are told apart by: ``deal.classes`` or ``deal.combos``.
    reach
        The opponent's reach by line and key.
    pays
        Payoffs to `own` of the plan's terminals, flat.
    weight
        Of the board.
    """
    both = table_side(layout, table, deal.runs, texture)
    _sweep_board(
        layout.plan.programs[own],
        pays,
        deal.hands,
        keys,
        both,
        both,
        reach,
        table,
        EXPECTED,
        weight,
        FROM_TABLES,
        NO_CHOICES,
        by_hand_showdown(table.dtype),
        -np.inf,
        work,
        work,
        out,
    )


def add_expected_by_action(
    layout: TableLayout,
    table: NDArray[Any],
    deal: BoardHands,
    own: int,
    reach: NDArray[Any],
    pays: NDArray[Any],
    work: Work,
    out: NDArray[np.float64],
) -> None:
    """Add what each action of `own` at the plan's only line is worth on a board to ``out[action, combo]``.

    One sweep serves all actions: it combines their values at the line's first node, and leaves them in its scratch.

    Parameters
    ----------
    reach
        The opponent's reach by combo, ``[1, 1326]``.
    """
    lanes = layout.plan.programs[own]
    mixed = np.zeros((1, out.shape[1]))
    add_expected(layout, table, deal, deal.combos, own, reach, pays, 1.0, work, mixed)
    number, lane = lanes.entry[0]
    block = lanes.blocks[number]
    if not work.alive[block["reach"]]:
        return
    # Own nodes are combined children first, so the last one is the first node of the line.
    root = lanes.updates[lanes.programs[block["program"]]["updates_end"] - 1]
    size = len(deal.combos) * WIDTH
    for action in range(len(out)):
        first = (int(block["value"]) + int(root["child"]) + action) * size
        out[action, deal.combos] += work.value[first + lane : first + size : WIDTH]
