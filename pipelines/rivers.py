"""Strengths and equities of every hand on every canonical river, spread over the cluster.

They take seconds to enumerate and hundreds of megabytes to keep, so stages that need them count them anew.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from abstractions.features import river_equity_counts
from abstractions.isomorphism import canonical_boards
from pipelines.engine import StageRun

Bounds = tuple[int, int]
RIVERS_PER_TASK = 4096


def board_chunks(num_cards: int, size: int) -> list[Bounds]:
    """Ranges of canonical board ids, `size` boards each."""
    boards = len(canonical_boards(num_cards).boards)
    return [(start, min(start + size, boards)) for start in range(0, boards, size)]


def river_counts(run: StageRun) -> NDArray[np.uint16]:
    """`river_equity_counts` of all canonical rivers, uint16 [134459, 1326]."""
    parts = run.map(_counts, board_chunks(5, RIVERS_PER_TASK), status="river equities")
    return np.concatenate(parts)


def _counts(bounds: Bounds) -> NDArray[np.uint16]:
    return river_equity_counts(*bounds)
