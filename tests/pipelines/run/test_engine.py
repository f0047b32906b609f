"""A stage is computed once per key, whole or not at all, and what is cached is not touched."""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from artifacts import BundleError
from artifacts.bundle_store import BundleStore
from pipelines.run.cluster import InProcess
from pipelines.run.costs import Costs
from pipelines.run.engine import NO_EFFECT, Inputs, Output, Planner, Ref, Runner, StageRun, stage_key
from pipelines.run.progress import Reporter, StageDisk


class SilentTracker:
    """Stands in for MLflow and keeps what it was told."""

    def __init__(self) -> None:
        self.records: list[tuple[str, Any]] = []

    def stage(self, name: str, key: str, config: Any, inputs: Any) -> SilentTracker:
        self.records.append(("stage", name))
        return self

    def __enter__(self) -> SilentTracker:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.records.append(("end", kind))

    def cost(self, figures: dict[str, float]) -> None:
        self.records.append(("cost", figures))

    def step(self, figures: dict[str, float], step: int, core_seconds: float) -> None:
        self.records.append((f"step {step}", figures))
        self.records.append(("spent", core_seconds))

    def bundle(self, bundle: Any, figures: Any) -> None:
        self.records.append(("bundle", bundle.manifest.name))


@dataclass(frozen=True)
class Config:
    rows: int = 3
    log: str = ""
    fail: bool = False
    seconds: float = 0.0
    patience: float = field(default=1.0, metadata=NO_EFFECT)


def numbers(config: Config, inputs: Inputs, run: StageRun) -> Output:
    with contextlib.suppress(OSError), Path(config.log).open("a") as log:
        log.write("numbers\n")
    if config.fail:
        raise RuntimeError("boom")
    time.sleep(config.seconds)
    run.log({"rows": config.rows}, step=7)
    return Output({"t": {"x": np.array(run.map(square, range(config.rows)))}}, {"rows": config.rows})


def square(value: int) -> int:
    return value * value


def total(config: Config, inputs: Inputs, run: StageRun) -> Output:
    return Output({"t": {"sum": np.array([inputs["numbers"]["t"]["x"].sum()])}})


def two_stages(run: Any, config: Config) -> Ref:
    first = run.stage("numbers", numbers, config, {})
    return run.stage("total", total, Config(), {"numbers": first})


def runner(root: Path) -> tuple[Runner, SilentTracker]:
    root.mkdir(exist_ok=True)
    store, tracker = BundleStore(root), SilentTracker()
    reporter = Reporter(Console(quiet=True))
    return Runner(store, InProcess, tracker, reporter, []), tracker  # type: ignore[arg-type]


def test_a_pipeline_runs_once_and_is_cached_after(tmp_path: Path) -> None:
    config = Config(log=str(tmp_path / "log"))
    first, records = runner(tmp_path / "store")
    ref = two_stages(first, config)
    assert first.computed == ["numbers", "total"]
    assert ("step 7", {"rows": 3}) in records.records
    assert BundleStore(tmp_path / "store").open(ref.stage, ref.key)["t"]["sum"][0] == 0 + 1 + 4
    again, tracker = runner(tmp_path / "store")
    assert two_stages(again, config) == ref
    assert again.computed == []
    assert (tmp_path / "log").read_text() == "numbers\n"
    assert ("bundle", ref.name) in tracker.records
    assert again.cost()["core_hours"] == 0.0
    assert again.cost()["core_hours_total"] == pytest.approx(first.cost()["core_hours_total"])


def test_a_logged_step_says_what_the_stage_has_cost_so_far(tmp_path: Path) -> None:
    run, tracker = runner(tmp_path)
    run.stage("numbers", numbers, Config(seconds=0.1), {})
    (spent,) = [value for kind, value in tracker.records if kind == "spent"]
    (cost,) = [value for kind, value in tracker.records if kind == "cost"]
    assert 0.1 <= spent <= cost["core_hours"] * 3600


def test_a_planner_knows_keys_and_state_without_computing(tmp_path: Path) -> None:
    config = Config(log=str(tmp_path / "log"))
    planner = Planner(BundleStore(tmp_path / "store"), num_cpus=2, estimate={"numbers": 5.0}.get)
    planned = two_stages(planner, config)
    assert [(row.stage, row.cached, row.seconds) for row in planner.rows] == [
        ("numbers", False, 2.5),
        ("total", False, None),
    ]
    assert not (tmp_path / "store").exists()
    assert not (tmp_path / "log").exists()
    ran, _ = runner(tmp_path / "store")
    assert two_stages(ran, config) == planned
    after = Planner(BundleStore(tmp_path / "store"), num_cpus=2)
    two_stages(after, config)
    assert [row.cached for row in after.rows] == [True, True]


def test_another_config_is_another_key_downstream_too(tmp_path: Path) -> None:
    planner = Planner(BundleStore(tmp_path), num_cpus=1)
    assert two_stages(planner, Config(rows=3)) != two_stages(planner, Config(rows=4))


def test_a_field_without_effect_is_not_part_of_the_key(tmp_path: Path) -> None:
    planner = Planner(BundleStore(tmp_path), num_cpus=1)
    assert two_stages(planner, Config(patience=1.0)) == two_stages(planner, Config(patience=2.0))


TABLES = {"small": (1, 2), "large": (3, 4)}


@dataclass(frozen=True)
class Named:
    table: str = field(default="small", metadata={"content": TABLES.get})


def one_stage(config: Named, inputs: Inputs, run: StageRun) -> Output:
    return Output({"t": {"x": np.array(TABLES[config.table])}})


def test_a_key_has_what_a_name_in_the_config_stands_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key() -> str:
        return Planner(BundleStore(tmp_path), num_cpus=1).stage("one", one_stage, Named(), {}).key

    first = key()
    run, _ = runner(tmp_path)
    ref = run.stage("one", one_stage, Named(), {})
    assert ref.key == first
    assert BundleStore(tmp_path).open("one", ref.key).config == {"table": "small"}
    monkeypatch.setitem(TABLES, "large", (5,))
    assert key() == first
    monkeypatch.setitem(TABLES, "small", (5,))
    assert key() != first


def test_a_key_depends_on_each_of_its_parts() -> None:
    parts = [
        ("a", "c", {"x": 1}, {"i": "k"}),
        ("b", "c", {"x": 1}, {"i": "k"}),
        ("a", "d", {"x": 1}, {"i": "k"}),
    ]
    parts += [
        ("a", "c", {"x": 2}, {"i": "k"}),
        ("a", "c", {"x": 1}, {"i": "l"}),
        ("a", "c", {"x": 1}, {"j": "k"}),
    ]
    assert len({stage_key(*part) for part in parts}) == len(parts)
    assert stage_key("a", "c", {"x": 1, "y": 2}, {}) == stage_key("a", "c", {"y": 2, "x": 1}, {})


def test_a_failed_stage_leaves_no_bundle_and_the_earlier_ones(tmp_path: Path) -> None:
    failing, tracker = runner(tmp_path)
    with pytest.raises(RuntimeError, match="boom"):
        two_stages(failing, Config(fail=True))
    assert BundleStore(tmp_path).bundles() == []
    assert ("end", RuntimeError) in tracker.records


def test_a_damaged_input_stops_the_run_and_names_the_file(tmp_path: Path) -> None:
    first, _ = runner(tmp_path)
    ref = first.stage("numbers", numbers, Config(), {})
    file = BundleStore(tmp_path).path(ref.stage, ref.key) / "t.arrow"
    file.write_bytes(file.read_bytes()[:-1])
    again, _ = runner(tmp_path)
    with pytest.raises(BundleError, match=r"t\.arrow"):
        two_stages(again, Config())


def test_a_damaged_bundle_says_what_to_do(tmp_path: Path) -> None:
    first, _ = runner(tmp_path)
    ref = two_stages(first, Config())
    file = BundleStore(tmp_path).path(ref.stage, ref.key) / "t.arrow"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    again, _ = runner(tmp_path)
    with pytest.raises(BundleError) as failure:
        two_stages(again, Config())
    assert str(failure.value).startswith(f"{file}: altered")
    assert "remove that bundle's folder and run again" in str(failure.value)
    assert f"python -m pipelines.store verify store.root={tmp_path}" in str(failure.value)


def full_disk(config: Config, inputs: Inputs, run: StageRun) -> Output:
    """The second stage, on a disk that is full while the file `log` exists."""
    run.scratch.mkdir(parents=True)
    (run.scratch / "table").write_bytes(bytes(3000))
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    (run.checkpoints / "saved").write_bytes(bytes(500))
    if Path(config.log).exists():
        raise OSError(errno.ENOSPC, "Error writing bytes to file")  # as Arrow says it: without a name
    return total(config, inputs, run)


def test_a_full_disk_keeps_finished_stages_and_checkpoints_and_frees_scratch(tmp_path: Path) -> None:
    log, marker = tmp_path / "log", tmp_path / "full"
    marker.touch()

    def pipeline(run: Any) -> Ref:
        first = run.stage("numbers", numbers, Config(log=str(log)), {})
        return run.stage("total", full_disk, Config(log=str(marker)), {"numbers": first})

    stopped, tracker = runner(tmp_path / "store")
    with pytest.raises(OSError, match="No space left on device") as failure:
        pipeline(stopped)
    assert failure.value.filename == str(tmp_path / "store")
    assert ("end", OSError) in tracker.records
    store = BundleStore(tmp_path / "store")
    assert [manifest.stage for manifest in store.bundles()] == ["numbers"]
    assert list((store.root / ".tmp").iterdir()) == []
    assert [file.name for file in store.root.rglob("saved")] == ["saved"]
    marker.unlink()
    resumed, _ = runner(tmp_path / "store")
    pipeline(resumed)
    assert resumed.computed == ["total"]
    assert log.read_text() == "numbers\n"
    assert list(store.root.rglob("saved")) == []
    planner = Planner(store, 1, estimate_disk=lambda _: StageDisk(1.0, 1.0))
    pipeline(planner)
    numbers_row, total_row = planner.rows
    assert numbers_row.disk == StageDisk(store.bundles()[0].total_bytes, 0.0)
    assert total_row.disk is not None
    assert total_row.disk.scratch == 3500


def test_a_size_limit_while_a_bundle_is_written_is_a_full_disk(tmp_path: Path) -> None:
    """RLIMIT_FSIZE works without root, and for Arrow's writes too."""
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_run_limited, args=(tmp_path / "store",))
    process.start()
    process.join()
    assert process.exitcode == 7
    store = BundleStore(tmp_path / "store")
    assert store.bundles() == []
    assert list(store.root.rglob("*.arrow")) == []
    resumed, _ = runner(tmp_path / "store")
    two_stages(resumed, Config(rows=20_000))
    assert resumed.computed == ["numbers", "total"]


def _run_limited(root: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    try:
        two_stages(runner(root)[0], Config(rows=20_000))
    except OSError as error:
        sys.exit(7 if error.errno == errno.EFBIG and error.filename == str(root) else 1)


def test_costs_are_forgotten_on_a_full_disk_and_garbage_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = Costs(tmp_path)
    costs.remember("a-1", "s", {"core_seconds": 2.0, "bundle_bytes": 10})
    assert costs.of("s") == costs.of("a-1") == {"core_seconds": 2.0, "bundle_bytes": 10.0}
    assert costs.disk("s") is None  # scratch was not measured
    with monkeypatch.context() as patch:

        def refuse(*_: object) -> None:
            raise OSError(errno.ENOSPC, "full")

        patch.setattr(Path, "write_text", refuse)
        costs.remember("b-1", "t", {"core_seconds": 3.0})
    assert costs.of("t") == {}
    assert costs.of("s")["core_seconds"] == 2.0
    for garbage in ("[1]", '{"s": 3}', "{"):
        (tmp_path / ".costs.json").write_text(garbage)
        assert costs.of("s") == {}


def _run_slow(root: Path, log: str) -> None:
    two_stages(runner(root)[0], Config(log=log, seconds=1.0))


def test_two_processes_at_once_compute_a_stage_once(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    context = multiprocessing.get_context("spawn")
    log = str(tmp_path / "log")
    processes = [context.Process(target=_run_slow, args=(tmp_path / "store", log)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert Path(log).read_text() == "numbers\n"
    for manifest in BundleStore(tmp_path / "store").bundles():
        BundleStore(tmp_path / "store").open(manifest.stage, manifest.key).verify()


def test_estimates_come_from_the_last_measured_run(tmp_path: Path) -> None:
    first, _ = runner(tmp_path)
    two_stages(first, Config(seconds=0.3))
    planner = Planner(BundleStore(tmp_path), num_cpus=1, estimate=lambda _: 5.0)
    two_stages(planner, Config(seconds=0.3))
    assert planner.rows[0].seconds is not None
    assert 0.3 <= planner.rows[0].seconds < 5.0
