"""The same results in the same order, in this process, on Ray, on two nodes, and when a node dies."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from rich.console import Console

from artifacts.bundle_store import BundleStore
from pipelines.run import cluster as cluster_module
from pipelines.run.cluster import InProcess, open_cluster, unlocked
from pipelines.run.engine import Output, StageRun
from pipelines.run.errors import UserError
from pipelines.run.progress import Reporter
from pipelines.stages import flops

ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster as ManyNodes  # noqa: E402


def settings(**changes: object) -> SimpleNamespace:
    fields = {
        "kind": "local",
        "address": None,
        "num_cpus": 2,
        "object_store_mb": 128,
        "retries": 3,
        "in_flight": 2,
    }
    return SimpleNamespace(**(fields | changes))


def plus(item: int, shared: int) -> int:
    return item + shared


def node_of(item: int) -> tuple[int, str]:
    time.sleep(0.15)
    return item, ray.get_runtime_context().get_node_id()


def slow_count(lowest: int) -> np.ndarray:
    """A task of the flops stage, slow enough for its node to be killed under it."""
    time.sleep(0.1)
    return flops.count_flops(lowest)


def refuse(item: int) -> int:
    raise ValueError(f"no {item}")


def mapped(cluster: object, function: Callable, items: Sequence, shared: object = None) -> list:
    """Results in the order of the items."""
    return [
        result
        for _, result in sorted(cluster.stream(function, items, shared=shared), key=lambda pair: pair[0])
    ]


def flops_bytes(folder: Path, cluster: object) -> bytes:
    """File of the flops stage computed on a cluster."""
    run = StageRun(cluster, folder, Reporter(Console(quiet=True)))  # type: ignore[arg-type]
    output: Output = flops.compute(flops.FlopsConfig(), {}, run)
    fields = {"code": "", "config": {}, "inputs": {}, "metrics": output.metrics}
    bundle = BundleStore(folder).commit(output.tables, stage="flops", key="k", **fields)
    return (bundle.path / "flops.arrow").read_bytes()


def test_in_process_is_a_plain_loop() -> None:
    assert list(InProcess().stream(plus, [1, 2, 3], shared=10)) == [(0, 11), (1, 12), (2, 13)]


@pytest.mark.whole
def test_a_local_ray_maps_in_order_ships_shared_data_once_and_raises_what_a_task_raises(
    tmp_path: Path,
) -> None:
    with open_cluster(settings()) as cluster:
        assert cluster.num_cpus == 2
        assert mapped(cluster, plus, range(20), shared=100) == list(range(100, 120))
        assert mapped(cluster, refuse, []) == []
        with pytest.raises(ValueError, match="no 0"):
            mapped(cluster, refuse, [0])
        assert flops_bytes(tmp_path / "ray", cluster) == flops_bytes(tmp_path / "here", InProcess())
    assert not ray.is_initialized()


@pytest.mark.whole
def test_a_local_ray_listens_to_this_machine_alone() -> None:
    with open_cluster(settings()) as cluster:
        assert mapped(cluster, plus, range(4), shared=1) == [1, 2, 3, 4]
        here = psutil.Process()
        listening = {
            (process.name(), connection.laddr.ip)
            for process in (here, *here.children(recursive=True))
            for connection in process.net_connections(kind="inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert {"raylet", "gcs_server"} <= {name for name, _ in listening}
    assert {ip.removeprefix("::ffff:") for _, ip in listening} == {"127.0.0.1"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_ray_starts_waits_until_it_is_up_and_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    started: list[bool] = []

    def start(_: object) -> None:
        signal.raise_signal(number)
        started.append(True)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster_module, "_start_ray", start)
    before = signal.signal(number, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt), open_cluster(settings()):
            pytest.fail("an interrupted cluster is not used")
        assert signal.getsignal(number) is interrupt
    finally:
        signal.signal(number, before)
    assert started == [True]


def test_an_unlocked_array_is_the_same_memory_and_keeps_it() -> None:
    array = np.arange(12.0).reshape(3, 4)
    assert unlocked(array) is array
    array.flags.writeable = False
    view = unlocked(array)
    assert view.flags.writeable
    assert np.shares_memory(view, array)
    del array
    assert np.array_equal(view, np.arange(12.0).reshape(3, 4))


def test_being_terminated_while_ray_starts_is_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    def terminated(**_: object) -> None:
        raise SystemExit(15)

    monkeypatch.setattr(ray, "init", terminated)
    with pytest.raises(KeyboardInterrupt), open_cluster(settings()):
        pytest.fail("the cluster never opened")


def test_joining_a_cluster_that_is_not_there_names_the_key() -> None:
    with (
        pytest.raises(UserError, match=r"cluster\.address: '127.0.0.1:1' is not a running Ray cluster"),
        open_cluster(settings(kind="ray", address="127.0.0.1:1")),
    ):
        pass


@pytest.mark.whole
def test_a_stage_spreads_over_two_nodes_and_survives_the_loss_of_one(
    two_nodes: ManyNodes, lose_a_node: Callable[[], None], tmp_path: Path
) -> None:
    expected = flops_bytes(tmp_path / "here", InProcess())
    with open_cluster(settings(kind="ray", address=two_nodes.address, num_cpus=None)) as cluster:
        assert cluster.num_cpus == 2
        nodes = {node for _, node in mapped(cluster, node_of, range(12))}
        assert len(nodes) == 2
        assert flops_bytes(tmp_path / "two", cluster) == expected
        killer = threading.Timer(1.0, lose_a_node)
        killer.start()
        counts = mapped(cluster, slow_count, range(50))
        killer.join()
        assert np.array_equal(counts, [flops.count_flops(lowest) for lowest in range(50)])
        # Ray learns of a death by missed health checks, which may take longer than the rest of the map.
        for _ in range(600):
            if sum(node["Alive"] for node in ray.nodes()) == 2:
                break
            time.sleep(0.1)
        assert sum(node["Alive"] for node in ray.nodes()) == 2
        assert flops_bytes(tmp_path / "one", cluster) == expected
