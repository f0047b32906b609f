"""Estimates of runs that nobody has timed, against what such runs took."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from artifacts.bundle_store import BundleStore
from pipelines.blueprint import pipeline
from pipelines.config.composition import compose_config
from pipelines.run.engine import Planner
from pipelines.run.progress import StageDisk
from pipelines.stages.estimates import _evaluation, core_seconds, disk_bytes


def planned(tmp_path: Path, *overrides: str) -> dict[str, float | None]:
    """Wall time by stage on 2 cores, of an empty store."""
    config = compose_config(overrides)
    planner = Planner(BundleStore(tmp_path), 2, partial(core_seconds, config=config))
    pipeline(config, planner)
    return {row.stage: row.seconds for row in planner.rows}


#: Preset `fast` as it was when its stages were timed.
OLD_FAST = [
    "+preset=fast",
    "evaluate=small_full",
    "solver.opponent=abstract",
    "lcfr.iterations=200",
    "dcfr.iterations=800",
    "dcfr.measurements=2",
]


#: The abstraction of preset `standard` as it was then: 200 textures of 100 buckets.
MANY_TEXTURES = [
    "abstraction.textures=200",
    *(f"abstraction.buckets.{street}=100" for street in ("flop", "turn", "river")),
]


@pytest.mark.parametrize(
    ("overrides", "seconds"),
    [
        (
            [*OLD_FAST, "evaluate.medoids=false"],
            {"buckets": 82, "bucket_equity": 32, "lcfr": 34, "dcfr": 123},
        ),
        (
            [*OLD_FAST, "game=hu25"],
            {"lcfr": 19, "dcfr": 81},
        ),
        (
            [
                "+preset=standard",
                *MANY_TEXTURES,
                "evaluate=small_full",
                "solver.opponent=abstract",
                "solver.batch=8",
                "lcfr.iterations=2000",
                "lcfr.measurements=4",
            ],
            {"buckets": 204, "bucket_equity": 86, "lcfr": 351, "dcfr": 2451, "export": 40},
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
    ("tier", "seconds"), [("real", 318), ("real_small", 64), ("full", 29), ("small", 6.6)]
)
def test_an_evaluation_costs_about_what_was_measured(tier: str, seconds: float) -> None:
    """Core-seconds of both seats and all responses, with the blueprint of preset `fast`."""
    assert _evaluation(compose_config(["+preset=fast"]), tier) == pytest.approx(seconds, rel=0.4)


@pytest.mark.parametrize(
    "preset", ["smoke", "fast", "standard", "accurate", "coarse25", "coarse100", "coarse200"]
)
def test_no_stage_is_without_an_estimate(tmp_path: Path, preset: str) -> None:
    found = planned(tmp_path, f"+preset={preset}")
    assert len(found) == (10 if preset == "smoke" else 11)
    assert all(seconds is not None and seconds > 0 for seconds in found.values())


def test_the_whole_medoid_game_and_a_budget_are_seen(tmp_path: Path) -> None:
    smoke = ["+preset=smoke", "dcfr.iterations=1000"]
    few, every = (planned(tmp_path, *smoke, f"solver.batch={batch}")["dcfr"] for batch in (2, 0))
    assert few is not None
    assert every is not None
    assert every > 20 * few
    bounded = planned(tmp_path, "+preset=standard", "solver.max_core_hours=0.1")
    assert bounded["dcfr"] == pytest.approx(180, rel=0.05)


def planned_disk(*overrides: str) -> dict[str, StageDisk]:
    config = compose_config(overrides)
    return {stage: found for stage in STAGES if (found := disk_bytes(stage, config)) is not None}


STAGES = (
    "flops",
    "preflop_equity",
    "textures",
    "buckets",
    "bucket_equity",
    "lcfr",
    "dcfr",
    "evaluate",
    "preflop_ev",
    "export",
)
#: Bytes of the bundles of whole runs that had no opponents.
MEASURED = {
    "+preset=smoke": {
        "textures": 4_901_748,
        "buckets": 1_141_084,
        "lcfr": 840_524,
        "dcfr": 404_456,
        "export": 7_170_000,
    },
    "+preset=fast": {
        "textures": 4_946_276,
        "buckets": 405_682_468,
        "bucket_equity": 9_015_982,
        "lcfr": 29_939_036,
        "dcfr": 14_950_800,
        "export": 435_640_000,
    },
}


@pytest.mark.parametrize("preset", MEASURED)
def test_bundles_have_about_the_size_that_was_estimated(preset: str) -> None:
    found = planned_disk(preset, "solver.opponent=abstract")
    assert set(found) == set(STAGES)
    for stage, measured in MEASURED[preset].items():
        # The trunk and the index of the tables are left out: a tenth of a megabyte.
        assert found[stage].bundle == pytest.approx(measured, rel=0.05, abs=200_000), stage


def test_the_largest_scratch_files_are_tables_of_all_rivers() -> None:
    smoke = planned_disk("+preset=smoke")
    assert smoke["textures"].scratch == 134_459 * 1326 * 2
    assert smoke["buckets"].scratch == pytest.approx(134_459 * 1326 * 2 + 104 * 1326 * 2)
    assert (
        planned_disk("+preset=smoke", "abstraction.features=ehs")["buckets"].scratch
        < smoke["buckets"].scratch
    )


def test_textures_with_tables_of_their_own_take_gigabytes() -> None:
    standard, accurate = planned_disk("+preset=standard"), planned_disk("+preset=accurate")
    # Measured: the buckets of preset `standard`.
    assert standard["buckets"].bundle == pytest.approx(2_164_585_836, rel=0.01)
    # Measured where opponents see the players' buckets: both tables, and their regrets on flop and turn.
    hundred = ["+preset=standard", *MANY_TEXTURES, "abstraction.textures=100"]
    alike = planned_disk(*hundred, "abstraction.opponent_buckets={flop:0,turn:0}")
    finer = planned_disk(*hundred, "abstraction.opponent_buckets={flop:400,turn:400}")
    assert alike["lcfr"].bundle == pytest.approx(650_919_635, rel=0.01)
    assert alike["lcfr"].bundle < finer["lcfr"].bundle < 1.3 * alike["lcfr"].bundle
    assert planned_disk("+preset=standard", "solver.opponent=abstract")["lcfr"].bundle == pytest.approx(
        2 * standard["dcfr"].bundle
    )
    # Four checkpoints at a time: the last two, the best one and the one being written.
    assert standard["dcfr"].scratch == 4 * standard["lcfr"].bundle
    # Measured: preset `accurate`, whose opponents see more buckets than its players.
    assert accurate["lcfr"].bundle == pytest.approx(627_591_446, rel=0.01)
