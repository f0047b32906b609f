"""A batch of work as a run: the store, a cluster that starts when it is needed, progress, and a record in MLflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from artifacts.bundle_store import BundleStore
from pipelines.config.schema import Config
from pipelines.run.cluster import Cluster, open_cluster
from pipelines.run.disk import make_store
from pipelines.run.progress import Reporter
from pipelines.run.tracking import Tracker, exit_status


@dataclass(frozen=True)
class Batch:
    """What a batch works with; `cluster()` starts the workers once."""

    store: BundleStore
    cluster: Callable[[], Cluster]
    tracker: Tracker


@contextmanager
def recorded_batch(
    config: Config,
    reporter: Reporter,
    *,
    stage: str,
    name: str,
    tags: Mapping[str, str],
    params: Mapping[str, Any],
) -> Iterator[Batch]:
    """Work that is recorded as one run, which ends as the block does.

    Parameters
    ----------
    stage
        What progress is called.
    name, tags, params
        Of the run in MLflow.
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
            yield Batch(store, cluster, tracker)
        except BaseException as error:
            tracker.finish(exit_status(error))
            raise
        finally:
            reporter.stop()
        tracker.finish("FINISHED")
