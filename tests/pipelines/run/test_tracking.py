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
from collections.abc import Iterator
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from artifacts.format.manifest import FileEntry, Manifest
from pipelines.config.schema import Tracking
from pipelines.run import tracking
from pipelines.run.pictures import png
from pipelines.run.recorded_runs import RunRow, plot, print_table, ranked, recorded_runs, usual_settings
from pipelines.run.tracking import Tracker

MANIFEST = Manifest("flops", "k", "c", {}, {}, {"flops": 1755.0}, {"t": FileEntry("0", 1)})


def settings(uri: str, artifacts: Path | None = None) -> Tracking:
    return Tracking(uri=uri, artifacts=str(artifacts) if artifacts else None, experiment="blueprint")


def record_a_run(tracker: Tracker) -> None:
    tags = {"preset": "smoke", "game.id": "hu100-1", "tier": "small"}
    tracker.start("smoke-hu100", tags, {"seed": 1, "long": "x" * 10_000, "game.stacks": [2500, 2500]})
    tracker.tags({"key.export": "7"})
    with tracker.stage("flops", "k", {"a": {"b": 1}}, {"x": "y"}) as stage:
        stage.step({"exploitability": 90.0}, 10)
        stage.step({"exploitability": 40.0}, 20)
        stage.cost({"core_hours": 0.5})
        stage.bundle(MANIFEST, {"plot": png(Figure())})
    tracker.metrics({"core_hours_total": 0.5, "evaluate.exploitability_raw": 12.0}, step=3)
    tracker.file("config.yaml", b"seed: 1\n")
    tracker.finish("FINISHED")


def runs_of(uri: str) -> list:
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("blueprint")
    return list(client.search_runs([experiment.experiment_id])) if experiment else []


def history(uri: str, run: str, metric: str) -> dict[int, float]:
    from mlflow import MlflowClient

    return {point.step: point.value for point in MlflowClient(uri).get_metric_history(run, metric)}


def test_a_run_is_a_parent_with_a_child_per_stage(tmp_path: Path) -> None:
    config = settings(f"sqlite:///{tmp_path}/runs.db", tmp_path / "files")
    warnings: list[str] = []
    tracker = Tracker(config, tmp_path / "journal", warnings.append)
    record_a_run(tracker)
    tracker.close()
    assert warnings == []
    runs = {run.info.run_name: run for run in runs_of(config.uri)}
    parent, child = runs["smoke-hu100"], runs["flops"]
    assert child.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert (parent.info.status, child.info.status) == ("FINISHED", "FINISHED")
    assert child.data.params == {"a.b": "1"}
    assert child.data.metrics == {"core_hours": 0.5, "exploitability": 40.0, "flops": 1755.0}
    assert parent.data.metrics["flops.flops"] == 1755.0
    assert history(config.uri, parent.info.run_id, "flops.exploitability") == {10: 90.0, 20: 40.0}
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
