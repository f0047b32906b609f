"""`python -m pipelines.report RUN`: one page about a run, in one file that needs nothing else.

Exploitability, exact and with re-solving, local best responses, matches, abstraction and cost; the curve of training,
charts, where it loses, and what changed since the last run of the same game. The page is also put among the run's
artifacts in MLflow.

    python -m pipelines.report RUN [out=FILE.html] [store.root=DIR] [tracking.uri=URI]

RUN is `last`, the beginning of a run's id as `pipelines.compare` shows it, a run's name, or the name of its bundle.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from artifacts.blueprint.multiway_bundle import MultiwayBundle
from artifacts.bundle_store import BundleStore
from pipelines.commands.options import writable
from pipelines.commands.own_keys import split_keys
from pipelines.config.composition import compose_config
from pipelines.config.schema import Config
from pipelines.figures.export import bundle_figures
from pipelines.figures.multiway import multiway_figures
from pipelines.reports.run_page import RunPictures, run_page
from pipelines.run.bundle_source import bundle_caption
from pipelines.run.command import run_command
from pipelines.run.errors import UserError
from pipelines.run.pictures import curve_figure, drawn, png
from pipelines.run.recorded_runs import RunRow, compared_runs, find_run, previous_run, training_curve
from pipelines.run.tracking import Tracker

#: Name of the page among a run's artifacts.
ARTIFACT = "report.html"


def pictures_of(row: RunRow, config: Config) -> RunPictures:
    """The curve of a run, and the charts of its bundle if the store has it."""
    points = training_curve(config.tracking, row.run_id)
    curve = None
    if points:
        curve = png(curve_figure(points, -1, f"Exploitability of {row.name} while training"))
    store = BundleStore(config.store.root)
    stage, _, key = row.bundle.partition("-")
    if not row.bundle or not store.has(stage, key):
        return RunPictures(curve, {})
    bundle = store.open(stage, key)
    figures = multiway_figures if isinstance(bundle, MultiwayBundle) else bundle_figures
    charts = drawn(store.pictures(stage, key), bundle, figures, bundle_caption(bundle))
    return RunPictures(curve, {name.replace("_", " "): image for name, image in sorted(charts.items())})


def write_report(name: str, config: Config, out: Path | None) -> Path:
    """Write the page of a run, and put it among its artifacts; returns the file."""
    rows = [row for group in compared_runs(config).values() for row in group]
    row = find_run(rows, name)
    path = out or Path(config.store.root) / "reports" / f"{row.run_id[:8]}.html"
    content = run_page(row, previous_run(rows, row), pictures_of(row, config))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    tracker = Tracker(config.tracking, Path(config.store.root) / ".tracking", print)
    tracker.file(ARTIFACT, content.encode(), run=tracker.adopt(row.run_id))
    tracker.close()
    return path


def main() -> None:
    """Write the report of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    own, others = split_keys(arguments, ("out",))
    names = [word for word in others if "=" not in word]
    if len(names) != 1:
        raise UserError(
            "run: give one run: last, the beginning of its id, its name or the name of its bundle"
        )
    config = compose_config([word for word in others if "=" in word])
    out = Path(own["out"]) if own.get("out") else None
    if out is not None:
        if not out.resolve().parent.is_dir():
            raise UserError(f"out: the folder of {out} does not exist")
        writable(out)
    path = write_report(names[0], config, out)
    print(f"report: {os.path.relpath(path)}", flush=True)


if __name__ == "__main__":
    run_command(main)
