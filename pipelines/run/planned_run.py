"""Plan a pipeline, tell the plan, and run what is missing as one recorded run."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from typing import NamedTuple

from artifacts.bundle_store import BundleStore
from pipelines.config.default_store import store_note
from pipelines.config.schema import Config
from pipelines.run.cluster import open_cluster
from pipelines.run.disk import Room, check_store, check_writable, make_store
from pipelines.run.engine import Planner, PlanRow, Ref, Runner, Stages
from pipelines.run.progress import Reporter, StageDisk
from pipelines.run.tracking import Tracker, exit_status


class Finished(NamedTuple):
    """A pipeline that ran to its end: its last bundle, what it took, and the id of its record."""

    result: Ref
    runner: Runner
    run_id: str | None


def run_planned(
    pipeline: Callable[[Stages], Ref],
    config: Config,
    reporter: Reporter,
    *,
    core_seconds: Callable[[str], float | None],
    disk_bytes: Callable[[str], StageDisk | None],
    record: Callable[[Tracker, list[PlanRow]], None],
    recorded: Callable[[Tracker, Runner, Ref], None] | None = None,
) -> Finished | None:
    """Plan and run; None where only the plan is wanted.

    Parameters
    ----------
    core_seconds, disk_bytes
        What a stage is expected to take, where that has not been measured.
    record
        Starts the record of the run, given the stages of the plan.
    recorded
        Adds to the record once all stages are done.
    """
    store = BundleStore(config.store.root)
    check_store(store.root)
    if not config.plan:
        check_writable(store.root)
    planner = Planner(store, config.cluster.num_cpus or os.cpu_count() or 1, core_seconds, disk_bytes)
    pipeline(planner)
    room = Room.of_plan(store, planner.rows)
    reporter.plan(planner.rows, room.words())
    reporter.say(store_note(config.store.root))
    if config.plan:
        return None
    room.check()
    make_store(store)
    with ExitStack() as stack:
        stack.enter_context(store.active(f"{row.stage}-{row.key}" for row in planner.rows))
        cluster = cache(lambda: stack.enter_context(open_cluster(config.cluster)))
        tracker = Tracker(config.tracking, store.root / ".tracking", reporter.say)
        stack.callback(tracker.close)
        record(tracker, planner.rows)
        runner = Runner(store, cluster, tracker, reporter, planner.rows)
        try:
            result = pipeline(runner)
        except BaseException as error:
            tracker.finish(exit_status(error))
            raise
        if recorded is not None:
            recorded(tracker, runner, result)
        tracker.finish("FINISHED")
        return Finished(result, runner, tracker.run_id)
