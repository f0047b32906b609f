"""Strengths and equities of every hand on every canonical river, spread over the cluster.

They take seconds to enumerate and hundreds of megabytes to keep, so stages that need them count them anew.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import NUM_COMBOS
from abstractions.features.rivers import LIVE_HANDS, river_equity_counts, river_orders
from abstractions.isomorphism import canonical_boards
from pipelines.run.disk import scratch_table
from pipelines.run.engine import StageRun

Bounds = tuple[int, int]
RIVERS_PER_TASK = 4096


def board_chunks(num_cards: int, size: int) -> list[Bounds]:
    """Ranges of canonical board ids, `size` boards each."""
    boards = len(canonical_boards(num_cards).boards)
    return [(start, min(start + size, boards)) for start in range(0, boards, size)]


def river_counts(run: StageRun) -> NDArray[np.uint16]:
    """`river_equity_counts` of all canonical rivers, uint16 [134459, 1326]."""
    return _river_table(_counts, NUM_COMBOS, run, "river equities")


def all_river_orders(run: StageRun) -> NDArray[np.uint16]:
    """`river_orders` of all canonical rivers, uint16 [134459, 1081]."""
    return _river_table(_orders, LIVE_HANDS, run, "river orders")


def _river_table(
    function: Callable[[Bounds], NDArray[np.uint16]], columns: int, run: StageRun, status: str
) -> NDArray[np.uint16]:
    chunks = board_chunks(5, RIVERS_PER_TASK)
    table = scratch_table(run.scratch / "rivers.u16", (chunks[-1][1], columns))
    for position, part in run.stream(function, chunks, status=status):
        table[slice(*chunks[position])] = part
    return table


def _counts(bounds: Bounds) -> NDArray[np.uint16]:
    return river_equity_counts(*bounds)


def _orders(bounds: Bounds) -> NDArray[np.uint16]:
    return river_orders(*bounds)
