"""`python -m pipelines.three_way_equity`: who wins among every three of the 169 hand classes, exact, as one bundle.

All boards are enumerated up to suits, with card removal. Sums are saved on the way, so that a run that is cut off goes
on where it was.

    python -m pipelines.three_way_equity [store.root=DIR] [tracking.uri=URI] [cluster=ray] [cluster.num_cpus=8]
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from artifacts.bundle_store import BundleStore
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.figures.three_way_equity import three_way_equity_figures
from pipelines.run.command import run_command
from pipelines.run.engine import Ref, Stages
from pipelines.run.planned_run import run_planned
from pipelines.run.progress import Reporter, StageDisk
from pipelines.run.revision import git_revision
from pipelines.run.tracking import flatten
from pipelines.stages import three_way_equity

#: Until it has been measured: core-seconds, bytes of the bundle, and bytes of two checkpoints.
_CORE_SECONDS = 850.0
_DISK = StageDisk(70_000_000, 80_000_000)


def pipeline(run: Stages) -> Ref:
    """The one stage."""
    return run.stage(
        "three_way_equity",
        three_way_equity.compute,
        three_way_equity.ThreeWayEquityConfig(),
        {},
        figures=three_way_equity_figures,
    )


def run_pipeline(config: Config) -> Path | None:
    """Plan, compute what is missing, record it; return the bundle's folder (None: plan only)."""
    finished = run_planned(
        pipeline,
        config,
        Reporter(),
        core_seconds=lambda _: _CORE_SECONDS,
        disk_bytes=lambda _: _DISK,
        record=lambda tracker, rows: tracker.start(
            f"three_way_equity-{rows[-1].key[:6]}",
            {"command": "three_way_equity", **git_revision()},
            flatten(config.cluster.model_dump()),
        ),
    )
    if finished is None:
        return None
    return BundleStore(config.store.root).path(finished.result.stage, finished.result.key)


def main() -> None:
    """Run the stage of the command line."""
    arguments = sys.argv[1:]
    if "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    path = run_pipeline(compose_config(arguments))
    if path is not None:
        print(f"bundle: {os.path.relpath(path)}", flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.three_way_equity", *sys.argv[1:]])
    run_command(main, resume=f"what was counted is kept. Resume with: {again}")
