"""Stage `three_way_equity`: deals by set of winners for every three of the 169 hand classes, exact.

All boards are enumerated up to suits, in chunks whose sums do not depend on their order. The sums so far are saved on
the way, so that a stage that is cut off goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstractions.cards import CLASS_NAMES, NUM_CLASSES
from abstractions.class_triples import NUM_PAIRS, triples_listed
from abstractions.three_way import three_way_chunk, winners_of_triples
from pipelines.run.engine import Inputs, Output, StageRun
from pipelines.stages.rivers import Bounds, board_chunks
from pipelines.training.checkpoints import Checkpoint, Checkpoints

_RIVERS_PER_TASK = 1024
#: Tasks between two checkpoints, of 39 MB each. A task takes about six seconds, so an interrupt costs little.
_TASKS_PER_CHECKPOINT = 2


@dataclass(frozen=True)
class ThreeWayEquityConfig:
    """All boards and all suits: no options."""


def _counts(bounds: Bounds) -> NDArray[np.int64]:
    return three_way_chunk(*bounds)


def compute(config: ThreeWayEquityConfig, inputs: Inputs, run: StageRun) -> Output:  # noqa: ARG001
    """The integer table, one row for three classes in ascending order, and each class against two random hands."""
    table = winners_of_triples(summed_counts(run, board_chunks(5, _RIVERS_PER_TASK)))
    classes = triples_listed()
    against_two = table.against_two_random()
    return Output(
        tables={
            "three_way": {
                "first": classes[:, 0],
                "second": classes[:, 1],
                "third": classes[:, 2],
                "winners": table.winners,
                "equity": table.equities(),
            },
            "classes": {"hand": list(CLASS_NAMES), "equity_vs_two_random": against_two},
        },
        metrics={
            "triples": len(classes),
            "possible_triples": int(np.count_nonzero(table.deals)),
            "standard_error": 0.0,
            "best": float(against_two.max()),
            "worst": float(against_two.min()),
        },
    )


def summed_counts(run: StageRun, chunks: Sequence[Bounds]) -> NDArray[np.int64]:
    """Sum of `three_way_chunk` over all chunks, from the last checkpoint on."""
    checkpoints = Checkpoints(run.checkpoints)
    saved = checkpoints.newest()
    done = np.zeros(len(chunks), dtype=np.bool_) if saved is None else saved.state["done"]
    counts = np.zeros((2, NUM_CLASSES, NUM_PAIRS), dtype=np.int64) if saved is None else saved.state["counts"]
    waiting = np.flatnonzero(~done).tolist()
    for finished, (position, part) in enumerate(run.stream(_counts, [chunks[i] for i in waiting]), 1):
        counts += part
        done[waiting[position]] = True
        if finished % _TASKS_PER_CHECKPOINT == 0 and finished < len(waiting):
            state = {"counters": np.array([0, done.sum()]), "done": done, "counts": counts}
            checkpoints.save(Checkpoint(state, (), 0.0))
    return counts
