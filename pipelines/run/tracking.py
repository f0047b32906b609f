"""Runs recorded in MLflow: a parent run per pipeline run, a child per stage; the driver alone writes.

Records go through a queue to one background thread, so that neither MLflow's start-up nor a slow or dead
server holds up the work. What could not be sent when the run ends is kept in a journal beside the store
and sent by the next run or `python -m pipelines.compare`.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import socket
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from pipelines.run.headline import TrainingCurve
from pipelines.run.pictures import curve_figure, png
from pipelines.run.stage_record import StageRecord

if TYPE_CHECKING:
    from pipelines.config.schema import Tracking

Event = dict[str, Any]

_RETRY_SECONDS = 3.0
_CLOSE_SECONDS = 15.0
_STALL_SECONDS = 60.0
_MAX_VALUE = 500  # characters of a parameter or tag that every backend accepts
# Errors that no retry mends: the record is dropped, with a warning, instead of blocking those behind it.
_FINAL_CODES = (
    "INVALID_PARAMETER_VALUE",
    "BAD_REQUEST",
    "RESOURCE_ALREADY_EXISTS",
    "RESOURCE_DOES_NOT_EXIST",
)


def quiet_mlflow() -> None:
    """No banners, no usage reports, and no minutes of retries inside MLflow: set before its import."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "10")
    # MLflow logs a database that is full or gone over several pages; the tracker says it in one line.
    for name, level in (("mlflow", "ERROR"), ("mlflow.store.db", "CRITICAL"), ("alembic", "ERROR")):
        logging.getLogger(name).setLevel(level)


def artifact_location(artifacts: str | None) -> str | None:
    """MLflow wants a URI; a plain path is taken relative to the working directory."""
    if artifacts is None or "://" in artifacts:
        return artifacts
    return Path(artifacts).resolve().as_uri()


class Tracker:
    """Queues records and sends them to MLflow from one thread."""

    def __init__(self, config: Tracking, journal_folder: Path, warn: Callable[[str], None]) -> None:
        self.offline = False
        self._config = config
        self._journals = journal_folder
        self._warn = warn
        self._queue: deque[Event] = deque()
        self._wake = threading.Condition()
        self._closing: float | None = None
        self._run_ids: dict[str, str] = {}
        self._client: Any = None
        self._experiment = ""
        self._parent: str | None = None
        self._name = ""
        self._curve = TrainingCurve()
        self._held_figures: dict[str, float] = {}
        self._old_journals = self._load_journals()
        self._put({"op": "sweep_dead_runs"})
        self._thread = threading.Thread(target=self._send_all, name="tracker", daemon=True)
        self._thread.start()

    @property
    def run_id(self) -> str | None:
        """The id that MLflow gave the parent run; None until the run has been sent."""
        return self._run_ids.get(self._parent or "")

    # What the pipeline calls.

    def start(self, name: str, tags: Mapping[str, str], params: Mapping[str, Any]) -> None:
        """Open the parent run."""
        self._name = name
        source = {"mlflow.source.type": "LOCAL", "mlflow.source.name": Path(sys.argv[0]).name}
        if "git.revision" in tags:
            source["mlflow.source.git.commit"] = tags["git.revision"]
        self._parent = self._new_run(name, source | dict(tags), params)

    def adopt(self, run_id: str) -> str:
        """Name by which more figures and files may be added to a run that was recorded before."""
        self._run_ids[run_id] = run_id
        return run_id

    def stage(self, name: str, key: str, config: Mapping[str, Any], inputs: Mapping[str, str]) -> StageRecord:
        """Open the child run of a stage."""
        tags = {"stage": name, "key": key, **{f"input.{k}": v for k, v in inputs.items()}}
        self.tags({f"key.{name}": key})
        run = self._new_run(name, tags, flatten(config), parent=self._parent)
        return StageRecord(self, run, name, self._curve, self._journals / "steps" / f"{name}-{key}.json")

    def metrics(self, values: Mapping[str, float], *, step: int = 0, run: str | None = None) -> None:
        """Log figures to the parent run (or to `run`)."""
        self.series({step: values}, run=run)

    def series(self, steps: Mapping[int, Mapping[str, float]], *, run: str | None = None) -> None:
        """Log figures of several steps at once to the parent run (or to `run`)."""
        points = [[name, float(v), step] for step, values in steps.items() for name, v in values.items()]
        if points:
            now = int(time.time() * 1000)
            self._put({"op": "series", "run": run or self._parent, "points": points, "time": now})

    def show(self, figures: Mapping[str, float]) -> None:
        """Log figures to the parent run, after the curve: MLflow lists metrics in the order in which they came."""
        self._held_figures |= figures
        if self._curve.points:
            self.metrics(self._held_figures)
            self._held_figures = {}

    def result(self, bundle: str, cost: Mapping[str, float]) -> None:
        """The pipeline's result: its bundle, what it cost in all, and the curve over iterations and core-hours.

        Parameters
        ----------
        cost
            `core_hours_total` and `peak_memory_bytes` of the result, `core_hours` of this run alone.
        """
        self.metrics(
            {
                "total_core_hours": cost["core_hours_total"],
                "peak_memory_bytes": cost["peak_memory_bytes"],
            }
        )
        tags = {"bundle": bundle, "core_hours_of_this_run": f"{cost['core_hours']:.4f}"}
        points = sorted(self._curve.points.values(), key=lambda point: point.step)
        if points:
            exported = self._curve.exported_step
            tags |= {"iterations": str(points[-1].step), "exported_iteration": str(exported)}
            self.file(
                "plots/exploitability.png", png(curve_figure(points, exported, f"{self._name}, {bundle}"))
            )
        self.tags(tags)

    def tags(self, values: Mapping[str, str], *, run: str | None = None) -> None:
        """Set tags on the parent run (or on `run`)."""
        self._put({"op": "tags", "run": run or self._parent, "values": dict(values)})

    def file(self, path: str, content: bytes, *, run: str | None = None) -> None:
        """Log a small file to the parent run (or to `run`)."""
        text = base64.b64encode(content).decode()
        self._put({"op": "file", "run": run or self._parent, "path": path, "content": text})

    def finish(self, status: str, *, run: str | None = None) -> None:
        """End a run: FINISHED, FAILED or KILLED."""
        if run is None:
            self.metrics(self._held_figures)
            self._held_figures = {}
        self._put(
            {"op": "finish", "run": run or self._parent, "status": status, "time": int(time.time() * 1000)}
        )

    def finish_after(self, error: BaseException | None, *, run: str) -> None:
        """End a run whose block ended with `error`, or well."""
        self.finish(exit_status(error), run=run)

    def close(self) -> None:
        """Send what is left, for a bounded time; keep the rest in a journal and say so."""
        with self._wake:
            self._closing = time.monotonic() + _CLOSE_SECONDS
            self._wake.notify()
        # A healthy backend is waited for while it takes records; an unreachable one has its time limit in the
        # thread. The thread may also be stuck for good, behind an import that an interrupt cut off.
        left = len(self._queue) + 1
        while self._thread.is_alive() and len(self._queue) < left:
            left = len(self._queue)
            self._thread.join(_STALL_SECONDS)
        if self._queue:
            self._journals.mkdir(parents=True, exist_ok=True)
            path = self._journals / f"{uuid.uuid4().hex}.jsonl"
            header = {"uri": self._config.uri, "experiment": self._config.experiment, "runs": self._run_ids}
            _write_whole(path, "\n".join(json.dumps(line) for line in (header, *list(self._queue))) + "\n")
            self._warn(
                f"tracking: {self._config.uri} does not answer; {len(self._queue)} records are kept in "
                f"{os.path.relpath(path)} and sent by the next run"
            )
        else:
            for path in self._old_journals:
                path.unlink(missing_ok=True)

    # The sending thread.

    def _new_run(
        self, name: str, tags: dict[str, str], params: Mapping[str, Any], parent: str | None = None
    ) -> str:
        run = uuid.uuid4().hex
        tags["driver"] = _driver()
        self._put(
            {
                "op": "create",
                "run": run,
                "parent": parent,
                "name": name,
                "tags": tags,
                "params": {key: str(value)[:_MAX_VALUE] for key, value in params.items()},
                "time": int(time.time() * 1000),
            }
        )
        return run

    def _put(self, event: Event) -> None:
        with self._wake:
            self._queue.append(event)
            self._wake.notify()

    def _load_journals(self) -> list[Path]:
        loaded = []
        for path in sorted(self._journals.glob("*.jsonl")):
            try:
                header, *events = (json.loads(line) for line in path.read_text().splitlines())
            except ValueError:
                self._warn(f"tracking: {os.path.relpath(path)} is damaged; its records are not sent")
                continue
            if (header["uri"], header["experiment"]) == (self._config.uri, self._config.experiment):
                self._run_ids.update(header["runs"])
                self._queue.extend(events)
                loaded.append(path)
        return loaded

    def _send_all(self) -> None:
        while True:
            with self._wake:
                while not self._queue and self._closing is None:
                    self._wake.wait()
                if not self._queue:
                    return
                event = self._queue[0]
            try:
                self._send(event)
            except Exception as error:
                if getattr(error, "error_code", None) in _FINAL_CODES:
                    self._warn(f"tracking: a record was refused ({_first_line(error)})")
                else:
                    if not self._wait_to_retry(error):
                        return
                    continue
            self.offline = False
            self._queue.popleft()

    def _wait_to_retry(self, error: Exception) -> bool:
        if not self.offline:
            self.offline = True
            self._warn(
                f"tracking: {self._config.uri} does not answer ({_first_line(error)}); the run goes on"
            )
        with self._wake:
            if self._closing is not None and time.monotonic() > self._closing:
                return False
            self._wake.wait(_RETRY_SECONDS)
            return True

    def _connect(self) -> Any:
        if self._client is None:
            quiet_mlflow()
            from mlflow import MlflowClient

            client = MlflowClient(self._config.uri)
            experiment = client.get_experiment_by_name(self._config.experiment)
            if experiment is None:
                location = artifact_location(self._config.artifacts)
                self._experiment = client.create_experiment(
                    self._config.experiment, artifact_location=location
                )
            else:
                self._experiment = experiment.experiment_id
            self._client = client
        return self._client

    def _send(self, event: Event) -> None:
        from mlflow.entities import Metric, Param, RunTag

        client = self._connect()
        if event["op"] == "sweep_dead_runs":
            self._end_dead_runs()
            return
        if event["op"] == "create":
            if event["run"] in self._run_ids:  # created just before the connection broke
                return
            tags = {key: value[:_MAX_VALUE] for key, value in event["tags"].items()}
            if event["parent"]:
                tags["mlflow.parentRunId"] = self._run_ids[event["parent"]]
            created = client.create_run(self._experiment, event["time"], tags, event["name"])
            self._run_ids[event["run"]] = created.info.run_id
            params = [Param(key, value) for key, value in event["params"].items()]
            client.log_batch(created.info.run_id, params=params[:100])
            for start in range(100, len(params), 100):
                client.log_batch(created.info.run_id, params=params[start : start + 100])
            return
        run_id = self._run_ids[event["run"]]
        if event["op"] in ("series", "metrics"):
            rows = [Metric(name, value, event["time"], step) for name, value, step in _points(event)]
            for start in range(0, len(rows), 500):
                client.log_batch(run_id, metrics=rows[start : start + 500])
        elif event["op"] == "tags":
            client.log_batch(run_id, tags=[RunTag(k, v[:_MAX_VALUE]) for k, v in event["values"].items()])
        elif event["op"] == "file":
            _log_file(client, run_id, event["path"], base64.b64decode(event["content"]))
        elif event["op"] == "finish":
            client.set_terminated(run_id, event["status"], event["time"])

    def _end_dead_runs(self) -> None:
        """Mark runs whose driver was killed on this machine: nobody else can end them."""
        for run in self._client.search_runs([self._experiment], "attributes.status = 'RUNNING'"):
            host, _, rest = run.data.tags.get("driver", "").partition(":")
            if host == socket.gethostname() and not _alive(rest):
                self._client.set_terminated(run.info.run_id, "KILLED")


def _points(event: Event) -> list[tuple[str, float, int]]:
    """Name, value and step of each figure of a record; journals of earlier versions hold one step a record."""
    if event["op"] == "metrics":
        return [(name, value, event["step"]) for name, value in event["values"].items()]
    return [(name, value, step) for name, value, step in event["points"]]


def exit_status(error: BaseException | None) -> str:
    """MLflow's word for how a block ended."""
    if error is None:
        return "FINISHED"
    return "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted keys.

    >>> flatten({"game": {"stacks": [1, 2]}, "seed": 3})
    {'game.stacks': [1, 2], 'seed': 3}
    """
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _log_file(client: Any, run_id: str, path: str, content: bytes) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        local = Path(folder) / Path(path).name
        local.write_bytes(content)
        parent = str(Path(path).parent)
        client.log_artifact(run_id, str(local), None if parent == "." else parent)


def _write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all, even on a full disk."""
    temporary = path.with_suffix(".part")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None


def _driver() -> str:
    """This process, so that a later one can tell whether it is still there."""
    return f"{socket.gethostname()}:{os.getpid()}:{psutil.Process().create_time():.2f}"


def _alive(process: str) -> bool:
    pid, _, started = process.partition(":")
    try:
        return f"{psutil.Process(int(pid)).create_time():.2f}" == started
    except (psutil.Error, ValueError):
        return False


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:200]
