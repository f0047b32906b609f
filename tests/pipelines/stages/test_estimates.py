"""Estimates of runs that nobody has timed, against what such runs took."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from artifacts.bundle_store import BundleStore
from pipelines.blueprint import pipeline
from pipelines.config.composition import compose_config
from pipelines.run.engine import Planner
from pipelines.stages.estimates import core_seconds


def planned(tmp_path: Path, *overrides: str) -> dict[str, float | None]:
    """Wall time by stage on 2 cores, of an empty store."""
    config = compose_config(overrides)
    planner = Planner(BundleStore(tmp_path), 2, partial(core_seconds, config=config))
    pipeline(config, planner)
    return {row.stage: row.seconds for row in planner.rows}


@pytest.mark.parametrize(
    ("overrides", "seconds"),
    [
        (
            ["+preset=fast"],
            {"buckets": 82, "bucket_equity": 32, "lcfr": 34, "dcfr": 123, "evaluate": 111},
        ),
        (["+preset=fast", "game=hu25"], {"lcfr": 19, "dcfr": 81, "evaluate": 51}),
        (
            ["+preset=standard"],
            {"buckets": 204, "bucket_equity": 86, "lcfr": 351, "dcfr": 2451, "evaluate": 375, "export": 40},
        ),
    ],
)
def test_estimates_are_near_what_was_measured(
    tmp_path: Path, overrides: list[str], seconds: dict[str, float]
) -> None:
    found = planned(tmp_path, *overrides)
    assert {stage: found[stage] for stage in seconds} == pytest.approx(seconds, rel=0.4)
    assert sum(found[stage] or 0 for stage in seconds) == pytest.approx(sum(seconds.values()), rel=0.2)


@pytest.mark.parametrize(
    "preset", ["smoke", "fast", "standard", "accurate", "coarse25", "coarse100", "coarse200"]
)
def test_no_stage_is_without_an_estimate(tmp_path: Path, preset: str) -> None:
    found = planned(tmp_path, f"+preset={preset}")
    assert len(found) == 9
    assert all(seconds is not None and seconds > 0 for seconds in found.values())


def test_the_whole_medoid_game_and_a_budget_are_seen(tmp_path: Path) -> None:
    smoke = ["+preset=smoke", "dcfr.iterations=1000"]
    few, every = (planned(tmp_path, *smoke, f"solver.batch={batch}")["dcfr"] for batch in (2, 0))
    assert few is not None
    assert every is not None
    assert every > 20 * few
    bounded = planned(tmp_path, "+preset=standard", "solver.max_core_hours=0.1")
    assert bounded["dcfr"] == pytest.approx(180, rel=0.05)
