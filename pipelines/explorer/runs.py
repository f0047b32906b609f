"""Exploitability while a source was made, and over all recorded runs."""

from __future__ import annotations

from pathlib import Path

from artifacts.agents import Agent
from artifacts.subgame_bundle import SubgameBundle
from pipelines.config.composition import compose_config, quoted_override
from pipelines.explorer.catalogue import Source
from pipelines.explorer.models import RunModel, RunsModel, TraceModel, TracePoint
from pipelines.run.errors import UserError


def source_trace(source: Source) -> TraceModel:
    """The measurements that a bundle holds: none of one that was not trained."""
    if isinstance(source, Agent | SubgameBundle) or "trace" not in source:
        return TraceModel(unit="mbb/hand", points=[])
    table = source["trace"].table().to_pydict()
    phases = table.get("phase") or [""] * len(table["iteration"])
    return TraceModel(
        unit="mbb/hand",
        points=[
            TracePoint(phase=phase, iteration=iteration, exploitability=exploitability)
            for phase, iteration, exploitability in zip(phases, table["iteration"], table["exploitability"])
        ],
    )


def recorded(store: Path) -> RunsModel:
    """The runs of a store as MLflow has them."""
    from pipelines.run.recorded_runs import recorded_runs

    try:
        rows = recorded_runs(compose_config([quoted_override("store.root", str(store))]).tracking)
    except UserError as error:
        return RunsModel(runs=[], note=str(error))
    runs = [
        RunModel(
            run=row.run_id[:8],
            preset=row.preset,
            game=row.game,
            tier=row.tier,
            exploitability_mbb=row.exploitability_raw,
            core_hours=row.core_hours,
            bundle=row.bundle,
        )
        for row in rows
        if row.bundle
    ]
    return RunsModel(runs=runs, note=None if runs else "No run has exported a blueprint into this store.")
