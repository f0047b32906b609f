"""A batch of hands as a run: the store, the cluster, progress, and a record in MLflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from typing import Any

from artifacts.bundle_store import BundleStore
from pipelines.config.schema import Config
from pipelines.matches.hands import Floats, Shared, Task, play_hands
from pipelines.run.bundle_source import maker_run
from pipelines.run.cluster import open_cluster
from pipelines.run.disk import make_store
from pipelines.run.progress import Reporter
from pipelines.run.tracking import Tracker, exit_status


def run_batch(
    stage: str,
    play: Callable[[Task, Shared], dict[str, Floats]],
    shared: Shared,
    deals: int,
    *,
    config: Config,
    reporter: Reporter,
    name: str,
    tags: Mapping[str, str],
    params: Mapping[str, Any],
    figures: Callable[[dict[str, Floats]], Mapping[str, float]],
    beside: Callable[[dict[str, Floats]], Mapping[str, float]],
) -> dict[str, Floats]:
    """Play the deals of a batch and record what `figures` makes of them.

    Parameters
    ----------
    stage, play, shared, deals
        As in `play_hands`.
    name, tags, params
        Of the run in MLflow.
    beside
        What is added to the figures of the run that made the first entrant's bundle.
    """
    store = BundleStore(config.store.root)
    make_store(store)
    with ExitStack() as stack:
        cluster = cache(lambda: stack.enter_context(open_cluster(config.cluster)))
        tracker = Tracker(config.tracking, store.root / ".tracking", reporter.say)
        stack.callback(tracker.close)
        tracker.start(name, tags, params)
        reporter.start(stage, None)
        try:
            found = play_hands(stage, play, shared, deals, store, cluster, reporter.advance)
        except BaseException as error:
            tracker.finish(exit_status(error))
            raise
        finally:
            reporter.stop()
        tracker.metrics(figures(found))
        bundle = shared.entrants[0].bundle
        if bundle is not None and (maker := maker_run(bundle, store.root)) is not None:
            tracker.metrics(beside(found), run=tracker.adopt(maker))
        tracker.finish("FINISHED")
    return found
