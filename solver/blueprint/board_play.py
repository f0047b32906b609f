"""Strategies of a table met on one full board: what a sweep reads of a table, and what both playing from it win."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from solver.blueprint.boards import BoardHands
from solver.blueprint.kernels import (
    EXPECTED,
    FROM_TABLES,
    Runs,
    Side,
    Work,
    _sweep_board,
    by_hand_showdown,
)
from solver.blueprint.river_choices import NO_CHOICES
from solver.blueprint.tables import TableLayout


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
