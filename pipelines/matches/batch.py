"""A batch of hands as a recorded run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipelines.config.schema import Config
from pipelines.matches.hands import Floats, Shared, Task, play_hands
from pipelines.run.batch import recorded_batch
from pipelines.run.bundle_source import maker_run
from pipelines.run.progress import Reporter


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
    with recorded_batch(config, reporter, stage=stage, name=name, tags=tags, params=params) as batch:
        found = play_hands(stage, play, shared, deals, batch.store, batch.cluster, reporter.advance)
        batch.tracker.metrics(figures(found))
        bundle = shared.entrants[0].bundle
        if bundle is not None and (maker := maker_run(bundle, batch.store.root)) is not None:
            batch.tracker.metrics(beside(found), run=batch.tracker.adopt(maker))
    return found
