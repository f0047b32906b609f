"""`python -m pipelines.solve spots=FOLDER`: many postflop spots as one Ray batch.

Every `*.json` file of the folder is a spot file. Each solved spot becomes a bundle, so a batch that is cut
off goes on where it was; a report over all of them (frequencies, EV, equity and how much of it is realised)
is one more bundle, with a plot in MLflow.

    python -m pipelines.solve spots=FOLDER [store.root=DIR] [cluster=ray] [cluster.num_cpus=8]
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from pipelines.commands.options import read_json
from pipelines.commands.spots import commit_spot, report_columns, report_figure, solve_task, spot_key
from pipelines.config.composition import compose_config
from pipelines.config.default_store import store_note
from pipelines.config.schema import Config
from pipelines.run.bundle_source import bundle_caption
from pipelines.run.cluster import open_cluster
from pipelines.run.code_version import code_version
from pipelines.run.command import run_command
from pipelines.run.disk import make_store
from pipelines.run.engine import stage_key
from pipelines.run.errors import UserError
from pipelines.run.pictures import png
from pipelines.run.progress import Reporter, plain_console
from pipelines.run.tracking import Tracker, exit_status, flatten
from solver.postflop.spot import Spot, check_spot, read_spot


def read_spots(folder: Path) -> dict[str, Spot]:
    """Checked spots by file name; a mistake names the file and the key."""
    if not folder.is_dir():
        raise UserError(f"spots: {folder} is not a folder")
    files = sorted(folder.glob("*.json"))
    if not files:
        raise UserError(f"spots: {folder} holds no *.json files")
    spots: dict[str, Spot] = {}
    for file in files:
        try:
            spots[file.stem] = read_spot(read_json(file))
            check_spot(spots[file.stem])
        except ValueError as error:
            raise UserError(f"{file}: {error}") from None
    return spots


def solve_folder(config: Config, folder: Path) -> Path:
    """Solve what is not in the store yet, write the report, record both; return the report's folder."""
    spots = read_spots(folder)
    reporter = Reporter(plain_console())
    store = BundleStore(config.store.root)
    keys = {name: spot_key(spot) for name, spot in spots.items()}
    waiting = [name for name in spots if not store.has("spot", keys[name])]
    reporter.say(f"{len(spots)} spots: {len(spots) - len(waiting)} solved before, {len(waiting)} to solve")
    reporter.say(store_note(config.store.root))
    make_store(store)
    with ExitStack() as stack:
        stack.enter_context(store.active(f"spot-{key}" for key in keys.values()))
        tracker = Tracker(config.tracking, store.root / ".tracking", reporter.say)
        stack.callback(tracker.close)
        tracker.start(f"solve-{folder.name}", {"command": "solve"}, flatten(config.cluster.model_dump()))
        try:
            if waiting:
                _solve(spots, waiting, config, store, tracker, reporter)
            bundles = {name: store.open("spot", keys[name]) for name in spots}
            report = _report(spots, bundles, keys, store, tracker)
        except BaseException as error:
            tracker.finish(exit_status(error))
            raise
        tracker.finish("FINISHED")
    worst = report.metrics["worst_exploitability_pct"]
    reporter.say(f"{len(spots)} spots, largest exploitability {worst:.4f} % of pot")
    return report.path


def _solve(
    spots: Mapping[str, Spot],
    waiting: Sequence[str],
    config: Config,
    store: BundleStore,
    tracker: Tracker,
    reporter: Reporter,
) -> None:
    reporter.start("spots", None)
    try:
        with open_cluster(config.cluster) as cluster:
            results = cluster.stream(_solved_or_refused, [spots[name] for name in waiting])
            for done, (position, result) in enumerate(results):
                name = waiting[position]
                if isinstance(result, str):
                    raise UserError(f"{name}.json: {result}")
                bundle = commit_spot(store, spots[name], result)
                tracker.metrics({f"{name}.{key}": value for key, value in bundle.metrics.items()})
                reporter.advance(done + 1, len(waiting), name)
    finally:
        reporter.stop()


def _solved_or_refused(spot: Spot) -> dict[str, Any] | str:
    """The result of a spot, or why the solver refuses it: how much memory it needs shows when it is set up."""
    try:
        return solve_task(spot)
    except ValueError as error:
        return str(error)


def _report(
    spots: Mapping[str, Spot],
    bundles: Mapping[str, Bundle],
    keys: Mapping[str, str],
    store: BundleStore,
    tracker: Tracker,
) -> Bundle:
    columns = report_columns(spots, bundles)
    code = code_version(report_columns)
    key = stage_key("spot_report", code, {}, dict(keys))
    worst = max(bundle.metrics["exploitability_pct"] for bundle in bundles.values())
    metrics = {"spots": len(spots), "worst_exploitability_pct": worst}
    if not store.has("spot_report", key):
        store.commit(
            {"spots": columns},
            stage="spot_report",
            key=key,
            code=code,
            config={},
            inputs=dict(keys),
            metrics=metrics,
        )
    bundle = store.open("spot_report", key)
    tracker.metrics(bundle.metrics)
    caption = f"{bundle_caption(bundle)} · {len(spots)} spots · exploitability at most {worst:.4f} % of pot"
    tracker.file("plots/spots.png", png(report_figure(columns), caption))
    return bundle


def main() -> None:
    """Run the batch of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    folders = [a.removeprefix("spots=") for a in arguments if a.startswith("spots=")]
    if len(folders) != 1 or not folders[0]:
        raise UserError("spots: give one folder of spot files, spots=FOLDER")
    config = compose_config([a for a in arguments if not a.startswith("spots=")])
    path = solve_folder(config, Path(folders[0]))
    print(f"bundle: {os.path.relpath(path)}", flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.solve", *sys.argv[1:]])
    run_command(main, resume=f"solved spots are kept. Resume with: {again}")
