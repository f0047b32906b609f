"""More buckets than there are different hands are refused by name, on any cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from abstractions.buckets import FeatureTables, Sample, board_rows
from pipelines.run.cluster import InProcess
from pipelines.run.engine import StageRun
from pipelines.run.errors import UserError
from pipelines.run.progress import Reporter
from pipelines.stages.buckets import BucketsConfig, _Street, _with_centroids


class RayLike(InProcess):
    """Raises what a task raised the way Ray does: wrapped, of both classes."""

    def stream(self, *arguments: Any, **options: Any) -> Any:
        from ray.exceptions import RayTaskError

        try:
            yield from super().stream(*arguments, **options)
        except ValueError as error:
            raise RayTaskError("fit", "Traceback\nof the worker", error).as_instanceof_cause() from None


@pytest.mark.parametrize("cluster", [InProcess(), RayLike()])
def test_more_buckets_than_different_hands_are_refused_by_name(cluster: InProcess, tmp_path: Path) -> None:
    config = BucketsConfig("ehs", "global", "medoids", 4, 4, 4, 30, 8, 1000, 1)
    points = np.repeat(np.eye(3, dtype=np.float32), 2, axis=0)  # six hands, three of them different
    sample = Sample(points, np.full(6, 0.5), np.ones(6, dtype=np.int64), np.zeros(6, dtype=np.int16))
    street = _Street(FeatureTables("ehs"), board_rows(3), [(0, 1)], 3, 6, 0.5)
    run = StageRun(cluster, tmp_path, Reporter(Console(quiet=True)))
    with pytest.raises(UserError) as refused:
        _with_centroids(street, sample, config, np.random.SeedSequence(1), run)
    assert str(refused.value) == (
        "abstraction.buckets.flop: 4 is not accepted: 4 clusters for 3 distinct points: expected at most one per point"
    )
