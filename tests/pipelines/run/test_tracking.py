"""Runs are recorded as a parent with a child per stage; a dead server costs records nothing but time."""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from pipelines.config.composition import compose_config
from pipelines.config.schema import Tracking
from pipelines.run import tracking
from pipelines.run.headline import description, shown_figures
from pipelines.run.pictures import png
from pipelines.run.recorded_runs import RunRow, plot, print_table, ranked, recorded_runs, usual_settings
from pipelines.run.stage_record import StageRecord
from pipelines.run.step_log import LoggedStep, StepLog, read_steps
from pipelines.run.tracking import Tracker

TRACE = {"lcfr": {10: 90.0, 20: 40.0}, "dcfr": {5: 30.0, 10: 20.0, 15: 25.0}}
#: Figures of bundles as the stages name them, a few of each kind.
FIGURES = {
    "flops": {"flops": 1755.0, "weight": 22100.0},
    "buckets": {"flop_sd_mean": 0.01, "turn_sd_mean": 0.02, "river_sd_mean": 0.03, "flop_buckets": 50.0},
    "lcfr": {"iterations": 20.0, "exploitability_last": 40.0, "exploitability_best": 40.0},
    "dcfr": {"iterations": 15.0, "exploitability_last": 25.0, "exploitability_current": 99.0},
    "evaluate": {
        "exploitability_raw": 12.0,
        "exploitability_cleaned": 12.5,
        "boards": 61.0,
        "ev_sb": 31.0,
        "ev_bb": -31.0,
        "best_response_sb": 35.0,
        "preflop_gain_sb": 1.0,
        "loss_preflop": 1.0,
        "loss_flop": 2.0,
        "loss_turn": 3.0,
        "loss_river": 6.0,
        "loss_line_cc": 4.0,
        "medoids_exploitability": 5.0,
        "first_in_fold": 0.2,
        "first_in_call": 0.3,
        "first_in_raise": 0.5,
        "first_in_raise_AA": 1.0,
        "first_in_fold_premium": 0.0,
        "first_in_raise_over_limp_T2s": 0.1,
        "facing_raise_fold": 0.4,
    },
    "preflop_ev": {"ev_sb": 30.0, "ev_bb": -30.2, "ev_error": 0.02, "ev_boards": 3072.0},
    "export": {"exploitability_raw": 12.0, "bytes": 1e6, "lines": 40.0, "rows": 900.0, "ev_sb": 30.0},
}
SHOWN = {
    "exploitability": 25.0,
    "training_core_hours": 9.0,
    "iterations_per_second": 5.0,
    "exploitability_raw": 12.0,
    "exploitability_cleaned": 12.5,
    "loss_preflop": 1.0,
    "loss_flop": 2.0,
    "loss_turn": 3.0,
    "loss_river": 6.0,
    "sb_ev": 30.0,
    "first_in_fold": 0.2,
    "first_in_call": 0.3,
    "first_in_raise": 0.5,
    "spread_flop": 0.01,
    "spread_turn": 0.02,
    "spread_river": 0.03,
    "exported_bytes": 1e6,
    "total_core_hours": 10.0,
    "peak_memory_bytes": 2e9,
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database for many tests, each with an experiment of its own: making its tables takes seconds."""
    return f"sqlite:///{tmp_path_factory.mktemp('runs')}/runs.db"


def settings(uri: str, artifacts: Path | None = None, experiment: str = "blueprint") -> Tracking:
    return Tracking(uri=uri, artifacts=str(artifacts) if artifacts else None, experiment=experiment)


def bundle_of(folder: Path, stage: str) -> Bundle:
    """A bundle of a stage, with the measurements of training in the bundles that have them."""
    phases = {"lcfr": ("lcfr",), "dcfr": ("lcfr", "dcfr"), "export": ("lcfr", "dcfr")}.get(stage, ())
    rows = [(phase, step, value) for phase in phases for step, value in TRACE[phase].items()]
    tables = {"t": {"x": np.arange(3)}}
    if phases:
        phase, iteration, value = zip(*rows)
        tables["trace"] = {
            "phase": list(phase),
            "iteration": np.array(iteration),
            "exploitability": np.array(value),
        }
    store = BundleStore(folder / "store")
    figures = FIGURES[stage]
    if store.has(stage, "k"):
        return store.open(stage, "k")
    return store.commit(tables, stage=stage, key="k", code="c", config={}, inputs={}, metrics=figures)


def record_a_run(tracker: Tracker, bundle: Bundle) -> None:
    tags = {"preset": "smoke", "game.id": "hu100-1", "tier": "small"}
    tracker.start("smoke-hu100", tags, {"seed": 1, "long": "x" * 10_000, "game.stacks": [2500, 2500]})
    tracker.tags({"key.export": "7"})
    with tracker.stage("flops", "k", {"a": {"b": 1}}, {"x": "y"}) as stage:
        stage.step({"exploitability": 90.0}, 10, 900.0)
        stage.step({"exploitability": 40.0}, 20, 1800.0)
        stage.cost({"core_hours": 0.5})
        stage.bundle(bundle, {"plot": png(Figure())})
    tracker.metrics({"total_core_hours": 0.5, "exploitability_raw": 12.0}, step=3)
    tracker.file("config.yaml", b"seed: 1\n")
    tracker.finish("FINISHED")


def runs_of(uri: str, experiment: str = "blueprint") -> list:
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    found = client.get_experiment_by_name(experiment)
    return list(client.search_runs([found.experiment_id])) if found else []


def history(uri: str, run: str, metric: str) -> list[tuple[int, float]]:
    """Steps and values in the order in which they were sent."""
    from mlflow import MlflowClient

    return [(point.step, point.value) for point in MlflowClient(uri).get_metric_history(run, metric)]


def test_a_run_is_a_parent_with_a_child_per_stage(database: str, tmp_path: Path) -> None:
    config = settings(database, tmp_path / "files")
    warnings: list[str] = []
    tracker = Tracker(config, tmp_path / "journal", warnings.append)
    record_a_run(tracker, bundle_of(tmp_path, "flops"))
    tracker.close()
    assert warnings == []
    runs = {run.info.run_name: run for run in runs_of(config.uri)}
    parent, child = runs["smoke-hu100"], runs["flops"]
    assert child.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert (parent.info.status, child.info.status) == ("FINISHED", "FINISHED")
    assert child.data.params == {"a.b": "1"}
    series = {"exploitability": 40.0, "training_core_hours": 0.5}
    assert child.data.metrics == {"core_hours": 0.5, **series, **FIGURES["flops"]}
    assert parent.data.metrics == {"total_core_hours": 0.5, "exploitability_raw": 12.0, **series}
    assert history(config.uri, parent.info.run_id, "exploitability") == [(10, 90.0), (20, 40.0)]
    assert parent.data.tags["key.flops"] == "k"
    files = {path.name for path in (tmp_path / "files").rglob("*") if path.is_file()}
    assert files == {"config.yaml", "manifest.json", "plot.png"}
    (row,) = recorded_runs(config)
    assert (row.bundle, row.stacks) == ("export-7", (2500, 2500))
    assert tracker.run_id == row.run_id == parent.info.run_id
    assert (row.preset, row.game, row.tier, row.exploitability_raw, row.core_hours) == (
        "smoke",
        "hu100-1",
        "small",
        12.0,
        0.5,
    )


COST = {"core_hours": 4.0, "core_hours_total": 10.0, "peak_memory_bytes": 2e9}
#: Hours of one core until each measurement of a phase.
HOURS = {"lcfr": {10: 1.0, 20: 2.0}, "dcfr": {5: 3.0, 10: 5.0, 15: 7.0}}
#: Both phases in one count: the iterations of `dcfr` follow the 20 of `lcfr`.
CURVE = [(10, 90.0), (20, 40.0), (25, 30.0), (30, 20.0), (35, 25.0)]
CORE_HOURS = [(10, 1.0), (20, 2.0), (25, 5.0), (30, 7.0), (35, 9.0)]


class Recorded:
    """The runs that a test records: a tracker for each run of the pipeline, one experiment and store for all."""

    def __init__(self, uri: str, folder: Path) -> None:
        self.config = settings(uri, folder / "files", experiment=folder.name)
        self.folder = folder
        self.warnings: list[str] = []

    def tracker(self) -> Tracker:
        tracker = Tracker(self.config, self.folder / ".tracking", self.warnings.append)
        tracker.start("smoke-hu100", {"preset": "smoke", "game.id": "g", "tier": "small"}, {})
        return tracker

    def train(self, tracker: Tracker, stage: str, steps: Iterable[int]) -> None:
        with tracker.stage(stage, "k", {}, {}) as record:
            self.log(record, stage, steps)
            record.bundle(bundle_of(self.folder, stage), {})

    def log(self, record: StageRecord, stage: str, steps: Iterable[int], *, spent_before: float = 0) -> None:
        """Measure as a training stage does; `spent_before`: hours of an earlier run that was cut off."""
        for step in steps:
            figures = {"exploitability": TRACE[stage][step], "iterations_per_second": 5.0, "kb": 7.0}
            record.step(figures, step, 3600 * (HOURS[stage][step] - spent_before))

    def pipeline(self, *, cached: bool) -> None:
        tracker = self.tracker()
        for stage in FIGURES:
            self.train(tracker, stage, () if cached else TRACE.get(stage, ()))
        tracker.result("export-k", COST)
        tracker.finish("FINISHED")
        tracker.close()
        assert self.warnings == []

    def runs(self, name: str) -> list:
        """Newest first."""
        found = runs_of(self.config.uri, self.config.experiment)
        return [run for run in found if run.info.run_name == name]

    def history(self, run: Any, metric: str) -> list[tuple[int, float]]:
        return history(self.config.uri, run.info.run_id, metric)


@pytest.fixture
def recorded(database: str, tmp_path: Path) -> Recorded:
    return Recorded(database, tmp_path)


@pytest.fixture(scope="module")
def twice(database: str, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A pipeline that was computed, and run again from the store."""
    recorded = Recorded(database, tmp_path_factory.mktemp("twice"))
    recorded.pipeline(cached=False)
    recorded.pipeline(cached=True)
    return recorded


def test_the_pipelines_run_shows_one_curve_and_the_figures_that_matter(twice: Recorded) -> None:
    _, parent = twice.runs("smoke-hu100")
    assert parent.data.metrics == SHOWN
    # MLflow sorts charts by name and its list of metrics by their coming: the curve leads both.
    assert min(parent.data.metrics) == next(iter(parent.data.metrics)) == "exploitability"
    # Single figures are bars only at step 0; counts that follow from the configuration are tags.
    series = {"exploitability", "training_core_hours", "iterations_per_second"}
    for name in SHOWN.keys() - series:
        assert [step for step, _ in twice.history(parent, name)] == [0]
    expected = {"evaluation_boards": "61", "lines": "40", "iterations": "35", "exported_iteration": "30"}
    expected |= {"bundle": "export-k", "core_hours_of_this_run": "4.0000"}
    assert expected.items() <= parent.data.tags.items()
    (files,) = {path for path in (twice.folder / "files").rglob("plots") if parent.info.run_id in str(path)}
    assert [file.name for file in files.iterdir()] == ["exploitability.png"]
    _, evaluated = twice.runs("evaluate")
    assert evaluated.data.metrics == FIGURES["evaluate"]


def test_steps_count_the_iterations_of_both_phases_in_every_series(twice: Recorded) -> None:
    parent, lcfr, dcfr = (twice.runs(name)[-1] for name in ("smoke-hu100", "lcfr", "dcfr"))
    assert twice.history(parent, "exploitability") == CURVE
    assert twice.history(parent, "training_core_hours") == CORE_HOURS
    assert twice.history(parent, "iterations_per_second") == [(step, 5.0) for step, _ in CURVE]
    assert twice.history(lcfr, "exploitability") == CURVE[:2]
    assert twice.history(dcfr, "exploitability") == CURVE[2:]
    assert twice.history(dcfr, "kb") == [(step, 7.0) for step, _ in CURVE[2:]]
    assert "kb" not in parent.data.metrics


def test_a_cached_run_looks_like_the_one_that_computed_it(twice: Recorded) -> None:
    for name in ("smoke-hu100", "lcfr", "dcfr", "evaluate"):
        again, first = twice.runs(name)
        assert again.data.metrics == first.data.metrics
        for metric in first.data.metrics:
            assert twice.history(again, metric) == twice.history(first, metric)
    again, first = twice.runs("smoke-hu100")
    assert again.data.tags["exported_iteration"] == first.data.tags["exported_iteration"] == "30"


def test_a_bundle_from_elsewhere_has_a_curve_without_core_hours(recorded: Recorded) -> None:
    recorded.pipeline(cached=True)
    (parent,) = recorded.runs("smoke-hu100")
    assert recorded.history(parent, "exploitability") == CURVE
    assert parent.data.metrics.keys() == SHOWN.keys() - {"training_core_hours", "iterations_per_second"}


def test_a_phase_after_one_of_unknown_cost_has_no_core_hours(recorded: Recorded) -> None:
    tracker = recorded.tracker()
    recorded.train(tracker, "lcfr", ())
    recorded.train(tracker, "dcfr", TRACE["dcfr"])
    tracker.close()
    (parent,) = recorded.runs("smoke-hu100")
    assert recorded.history(parent, "exploitability") == CURVE
    assert "training_core_hours" not in parent.data.metrics


def test_a_run_that_fails_before_training_shows_what_it_has(recorded: Recorded) -> None:
    tracker = recorded.tracker()
    recorded.train(tracker, "buckets", ())
    tracker.finish("FAILED")
    tracker.close()
    (row,) = recorded_runs(recorded.config)
    assert (row.status, row.bucket_sd) == ("FAILED", (0.01, 0.02, 0.03))


def test_without_a_second_phase_the_last_iteration_of_the_first_is_exported(recorded: Recorded) -> None:
    tracker = recorded.tracker()
    recorded.train(tracker, "lcfr", TRACE["lcfr"])
    tracker.result("export-k", COST)
    tracker.close()
    (parent,) = recorded.runs("smoke-hu100")
    assert parent.data.tags["iterations"] == parent.data.tags["exported_iteration"] == "20"


def test_a_resumed_run_shows_every_measurement_once(recorded: Recorded) -> None:
    killed = recorded.tracker()
    recorded.log(killed.stage("dcfr", "k", {}, {}), "dcfr", [5])
    killed.close()
    resumed = recorded.tracker()
    with resumed.stage("dcfr", "k", {}, {}) as record:
        recorded.log(record, "dcfr", [10], spent_before=3.0)
        # Hosts are lost before the checkpoint is saved: the same iterations again.
        recorded.log(record, "dcfr", [10, 15], spent_before=3.0)
        record.bundle(bundle_of(recorded.folder, "dcfr"), {})
    resumed.close()
    parent, _ = recorded.runs("smoke-hu100")
    assert recorded.history(parent, "exploitability") == [(5, 30.0), (10, 20.0), (15, 25.0)]
    assert recorded.history(parent, "training_core_hours") == [(5, 3.0), (10, 5.0), (15, 7.0)]


def test_a_damaged_step_log_costs_nothing_but_its_figures(recorded: Recorded) -> None:
    file = recorded.folder / ".tracking/steps/lcfr-k.json"
    file.parent.mkdir(parents=True)
    for text in ("{", '[{"iteration": 1}]', "7"):
        file.write_text(text)
        assert read_steps(file) == ()
    log = StepLog(file)
    log.add(10, 5.0, {"exploitability": 1.0})
    assert read_steps(file) == log.steps == (LoggedStep(10, 5.0, {"exploitability": 1.0}),)


def test_runs_recorded_under_the_old_names_are_compared_too(recorded: Recorded) -> None:
    recorded.pipeline(cached=True)
    older = {
        "evaluate.exploitability_raw": 12.0,
        "evaluate.exploitability_cleaned": 12.5,
        "core_hours_total": 10.0,
        "peak_memory_bytes": 2e9,
        **{f"buckets.{name}": FIGURES["buckets"][name] for name in FIGURES["buckets"] if "_sd_mean" in name},
        "core_hours": 4.0,
    }
    tracker = recorded.tracker()
    tracker.metrics(older)
    tracker.finish("FINISHED")
    tracker.close()
    old, new = recorded_runs(recorded.config)
    assert old.exploitability_raw == 12.0
    assert old.bucket_sd == (0.01, 0.02, 0.03)
    same = {"run_id": "", "started": "", "bundle": ""}  # older runs do not name their bundle
    assert replace(old, **same) == replace(new, **same)


def test_a_journal_of_an_earlier_version_is_sent(recorded: Recorded) -> None:
    journals = recorded.folder / ".tracking"
    journals.mkdir()
    events = [
        {"uri": recorded.config.uri, "experiment": recorded.config.experiment, "runs": {}},
        {"op": "create", "run": "a", "parent": None, "name": "kept", "tags": {}, "params": {}, "time": 1},
        {"op": "metrics", "run": "a", "values": {"x": 2.0, "y": 3.0}, "step": 4, "time": 2},
    ]
    (journals / "a.jsonl").write_text("\n".join(json.dumps(event) for event in events))
    Tracker(recorded.config, journals, pytest.fail).close()
    (run,) = recorded.runs("kept")
    assert recorded.history(run, "x") == [(4, 2.0)]
    assert recorded.history(run, "y") == [(4, 3.0)]


def test_figures_of_later_stages_have_their_place() -> None:
    later = {"exploitability_resolved_turn": 1.0, "gain_btn": 2.0, "gain_btn_low": 1.5, "loss_line_cc": 3.0}
    assert shown_figures("evaluate", later).keys() == later.keys() - {"loss_line_cc"}


def test_the_description_is_not_cut_off() -> None:
    text = description("a_rather_long_name_of_a_game-123456", "1234.5 and 1234.5 bb", ("small", "full"))
    assert len(text) <= tracking._MAX_VALUE
    assert "tier full" in text


def test_a_run_whose_driver_was_killed_is_marked_so_by_the_next(tmp_path: Path) -> None:
    config = settings(f"sqlite:///{tmp_path}/runs.db", tmp_path / "files")
    script = (
        "import os, sys, time; from pathlib import Path\n"
        "from pipelines.config.schema import Tracking; from pipelines.run.tracking import Tracker\n"
        f"t = Tracker(Tracking(**{config.model_dump()!r}), Path({str(tmp_path)!r}), print)\n"
        "t.start('dead', {}, {})\n"
        "while t._queue: time.sleep(0.05)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -9
    assert [run.info.status for run in runs_of(config.uri)] == ["RUNNING"]
    Tracker(config, tmp_path / "journal", pytest.fail).close()
    assert [run.info.status for run in runs_of(config.uri)] == ["KILLED"]


class Server:
    """An MLflow server on this machine that can be killed and brought back."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--backend-store-uri", f"sqlite:///{self._folder}/s.db", "--workers", "1"]
        command += ["--artifacts-destination", str(self._folder / "files")]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._process = subprocess.Popen(command, start_new_session=True, env=os.environ, **quiet)
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.uri}/health", timeout=1):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the MLflow server did not start")

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, 9)
            self._process.wait()
            self._process = None


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    yield server
    server.stop()


@pytest.mark.slow
def test_a_server_that_goes_away_stops_nothing_and_loses_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracking, "_CLOSE_SECONDS", 1.0)
    monkeypatch.setattr(tracking, "_RETRY_SECONDS", 0.2)
    server.start()
    config = settings(server.uri)
    warnings: list[str] = []
    tracker = Tracker(config, tmp_path / "journal", warnings.append)
    tracker.start("survivor", {}, {"seed": 1})
    while tracker._queue:
        time.sleep(0.05)
    server.stop()
    started = time.monotonic()
    for step in range(50):
        tracker.metrics({"exploitability": 100.0 - step}, step=step)
    tracker.file("notes.txt", b"kept")
    assert time.monotonic() - started < 1.0
    tracker.finish("FINISHED")
    tracker.close()
    assert any("the run goes on" in warning for warning in warnings)
    assert "records are kept in" in warnings[-1]
    (journal,) = (tmp_path / "journal").glob("*.jsonl")
    assert json.loads(journal.read_text().splitlines()[0])["uri"] == server.uri
    server.start()
    Tracker(config, tmp_path / "journal", warnings.append).close()
    assert not journal.exists()
    (run,) = runs_of(server.uri)
    assert (run.info.status, run.data.metrics) == ("FINISHED", {"exploitability": 51.0})
    from mlflow import MlflowClient

    assert len(MlflowClient(server.uri).get_metric_history(run.info.run_id, "exploitability")) == 50
    assert [file.path for file in MlflowClient(server.uri).list_artifacts(run.info.run_id)] == ["notes.txt"]


def row(name: str, game: str, tier: str, raw: float | None, **settings: str) -> RunRow:
    spread = (None, None, None)
    return RunRow(name, name, "", "FINISHED", "fast", game, tier, raw, raw, 1.0, 1.0, spread, settings)


def test_runs_of_a_group_show_the_settings_in_which_they_differ() -> None:
    usual = {"seed": "1", "solver.batch": "8", "store.root": "a", "lcfr.iterations": "5"}
    rows = [
        row("a", "g", "full", 1.0, **usual),
        row("b", "g", "full", 2.0, **(usual | {"seed": "2", "store.root": "b"})),
        row("c", "g", "full", 3.0, **usual),
    ]
    assert usual_settings(rows) == {"seed": "1"}
    written = io.StringIO()
    print_table(ranked(rows), Console(file=written, width=200))
    assert "b with seed=2\n" in written.getvalue()
    assert "the others with seed=1\n" in written.getvalue()
    assert "solver.batch" not in written.getvalue()
    assert "store.root" not in written.getvalue()
    alike = io.StringIO()
    print_table(ranked([rows[0], rows[2]]), Console(file=alike, width=200))
    assert "with" not in alike.getvalue()


def test_a_figure_is_shown_with_its_standard_error() -> None:
    rows = [replace(row("a", "g", "real", 904.31), exploitability_raw_se=21.7), row("b", "g", "real", 910.0)]
    written = io.StringIO()
    print_table(ranked(rows), Console(file=written, width=200))
    assert "904.31 ± 21.70" in written.getvalue()
    assert " 910.00 │" in written.getvalue()


def test_runs_of_different_games_or_tiers_are_never_ranked_together(tmp_path: Path) -> None:
    rows = [row("a", "hu100", "full", 9.0), row("b", "hu25", "full", 1.0), row("c", "hu100", "small", 2.0)]
    rows += [row("d", "hu100", "full", None), row("e", "hu100", "full", 3.0)]
    groups = ranked(rows)
    assert {key: [r.name for r in group] for key, group in groups.items()} == {
        ("hu100", "full"): ["e", "a", "d"],
        ("hu100", "small"): ["c"],
        ("hu25", "full"): ["b"],
    }
    assert plot(groups, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert not plot(ranked([row("d", "hu100", "full", None)]), tmp_path / "none.png")


def test_figures_can_be_added_to_a_run_that_has_ended(tmp_path: Path) -> None:
    config = compose_config([f"store.root={tmp_path}"])
    first = Tracker(config.tracking, tmp_path / ".tracking", print)
    first.start("fast-hu100", {"preset": "fast"}, {})
    first.finish("FINISHED")
    first.close()
    later = Tracker(config.tracking, tmp_path / ".tracking", print)
    later.start("lbr-fcpa", {"command": "lbr"}, {})
    later.metrics({"lbr_fcpa": 12.0}, run=later.adopt(first.run_id or ""))
    later.finish("FINISHED")
    later.close()
    (row,) = recorded_runs(config.tracking)
    assert (row.run_id, row.status, row.figures) == (first.run_id, "FINISHED", {"lbr_fcpa": 12.0})
