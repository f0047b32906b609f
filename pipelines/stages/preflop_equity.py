"""Stage `preflop_equity`: wins, ties and deals of each of the 169 hand classes against each, exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES
from abstractions.equity import preflop_table_chunk, preflop_table_from_wins
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.rivers import Bounds, board_chunks

_RIVERS_PER_TASK = 8192


@dataclass(frozen=True)
class PreflopEquityConfig:
    """All boards and all suits: no options."""


def _wins(bounds: Bounds) -> NDArray[np.int64]:
    return preflop_table_chunk(*bounds)


def compute(config: PreflopEquityConfig, inputs: Inputs, run: StageRun) -> Output:  # noqa: ARG001
    """The integer table, one row per class."""
    chunks = board_chunks(5, _RIVERS_PER_TASK)
    wins, ties, totals = preflop_table_from_wins(sum(run.map(_wins, chunks), np.zeros((169, 169), np.int64)))
    against_all = (wins + ties / 2).sum(axis=1) / totals.sum(axis=1)
    return Output(
        tables={
            "equity": {
                "hand": list(CLASS_NAMES),
                "wins": wins,
                "ties": ties,
                "totals": totals,
                "equity_vs_random": against_all,
            }
        },
        metrics={
            "deals": int(totals.sum()),
            "best": float(against_all.max()),
            "worst": float(against_all.min()),
        },
    )
