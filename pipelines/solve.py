"""`python -m pipelines.solve`: many postflop spots as one Ray batch.

    python -m pipelines.solve spots=FOLDER [store.root=DIR] [cluster=ray] [cluster.num_cpus=8]

Every `*.json` file of the folder is a spot file. Each solved spot becomes a bundle, so a batch that is cut
off goes on where it was; a report over all of them (frequencies, EV, equity and how much of it is realised)
is one more bundle, with a plot in MLflow.

    python -m pipelines.solve spots=STORE/export-KEY line=b250c [flops=all|25|49|95|184|N] [history=xx]
        [bet=33%,75%] [raise=2.5x] [target=0.5] [max_iterations=1000]

With an exported blueprint, the flops of one of its preflop lines: all 1,755, or a weighted subset that stands for
them. The ranges are the blueprint's. `bet` and `raise` are the sizes of both players on all streets; left out, they are
those of the blueprint's game. The report has a row for each flop, with the blueprint's own answer beside the exact one,
as Arrow table and as a page to sort and filter; `history` adds a row for each turn card behind it (`xx`), or for each
turn and river (`xx/xx`), also with the blueprint's answer where its betting has the history.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from artifacts.blueprint.bundle import BlueprintBundle
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.format.manifest import MANIFEST
from pipelines.commands.options import read_json
from pipelines.commands.own_keys import open_source, split_keys, whole_number
from pipelines.commands.spots import commit_spot, report_columns, report_figure, solve_task, spot_key
from pipelines.config.composition import compose_config
from pipelines.config.default_store import store_note
from pipelines.config.schema import Config
from pipelines.reports.flop_batch import PAGE, FlopBatch, check_line, menu_of_game, solve_flops
from pipelines.reports.flop_spots import FlopSettings, check_history
from pipelines.reports.flop_subset import NUM_FLOPS, SMALLEST, flop_subset
from pipelines.run.batch import recorded_batch
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
from solver.betting.lines import FLOP, STREETS
from solver.postflop.spot import Spot, check_spot, read_spot

#: Keys that belong to the flops of a line.
LINE_KEYS = ("line", "flops", "history", "bet", "raise", "target", "max_iterations")


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


def read_batch(own: Mapping[str, str], bundle: BlueprintBundle) -> FlopBatch:
    """The flops of a line that a command line asks for, checked."""
    if not own.get("line"):
        raise UserError("line: give a preflop line that sees a flop, such as line=b250c")
    line = check_line(bundle, own["line"])
    size = own.get("flops", "25")
    count = NUM_FLOPS if size == "all" else whole_number("flops", size, least=SMALLEST, most=NUM_FLOPS)
    game = bundle.game
    sizes = menu_of_game(game)
    if "bet" in own or "raise" in own:
        sizes = {STREETS[FLOP]: {"bet": own.get("bet"), "raise": own.get("raise")}}
    try:
        target = float(own.get("target", "0.5"))
    except ValueError:
        target = 0.0
    if not 0.0 < target <= 100.0:
        raise UserError(
            f"target: {own['target']!r} is not accepted: percent of the pot, above 0 and up to 100"
        )
    first = bundle.decision(f"{line}/")
    settings = FlopSettings(
        pot=int(first.pot),
        stack=min(game.stacks[seat] - int(first.committed[seat]) for seat in range(2)),
        bet_sizes=sizes,
        rake=(game.rake, game.rake_cap),
        history=tuple(own["history"].split("/")) if own.get("history") else (),
        target=target,
        max_iterations=whole_number(
            "max_iterations", own.get("max_iterations", "1000"), least=1, most=1_000_000
        ),
    )
    try:
        check_history(settings)
    except ValueError as error:
        raise UserError(str(error)) from None
    return FlopBatch(bundle, line, flop_subset(count), settings, bundle.has_every_board)


def solve_line(config: Config, batch: FlopBatch) -> Path:
    """Solve the flops that are not in the store yet, write the report, record both; return the report's folder."""
    reporter = Reporter(plain_console())
    settings, count = batch.settings, len(batch.subset.numbers)
    reporter.say(
        f"line {batch.line}: {count:,} flops, pot {settings.pot}, stack {settings.stack}, "
        f"to {settings.target:g} % of the pot"
    )
    if not batch.with_blueprint:
        reporter.say("the blueprint has buckets for typical boards only: its own answer is left out")
    reporter.say(store_note(config.store.root))
    with recorded_batch(
        config,
        reporter,
        stage="flops",
        name=f"flops-{batch.line}-{batch.bundle.key[:6]}",
        tags={"command": "solve", "line": batch.line, "key.export": batch.bundle.key},
        params={"line": batch.line, "flops": count, "target": settings.target},
    ) as run:
        with run.store.active(f"flop_spot-{batch.key(number)}" for number in batch.subset.numbers.tolist()):
            report = solve_flops(batch, run.store, run.cluster, reporter.advance)
        run.tracker.metrics(report.metrics)
        run.tracker.file(PAGE, report.text(PAGE).encode())
    worst = report.metrics["worst_exploitability_pct"]
    reporter.say(f"{count:,} flops, largest exploitability {worst:.4f} % of pot")
    reporter.say(f"page: {os.path.relpath(report.path / PAGE)}")
    return report.path


def main() -> None:
    """Run the batch of the command line."""
    arguments = sys.argv[1:]
    if not arguments or "-h" in arguments or "--help" in arguments:
        print((__doc__ or "").strip())
        return
    own, others = split_keys(arguments, ("spots", *LINE_KEYS))
    if not own.get("spots") or sum(word.startswith("spots=") for word in arguments) > 1:
        raise UserError("spots: give one folder of spot files, spots=FOLDER")
    config = compose_config(others)
    folder = Path(own["spots"])
    if (folder / MANIFEST).is_file():
        path = solve_line(config, read_batch(own, open_source(folder, "spots")))
    else:
        for key in LINE_KEYS:
            if key in own:
                raise UserError(f"{key}: goes with spots=STORE/export-KEY, the flops of a blueprint's line")
        path = solve_folder(config, folder)
    print(f"bundle: {os.path.relpath(path)}", flush=True)


if __name__ == "__main__":
    again = shlex.join([os.path.basename(sys.executable), "-m", "pipelines.solve", *sys.argv[1:]])
    run_command(main, resume=f"solved spots are kept. Resume with: {again}")
