"""Commands and clusters that several tests need."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster as ManyNodes


@pytest.fixture(scope="session")
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`run("pipelines.store", "list", cwd=folder)`: a module as a person runs it."""

    def run_module(*arguments: str, cwd: Path, timeout: float = 800) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *arguments]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)

    return run_module


@pytest.fixture
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[ManyNodes]:
    """A Ray cluster of a head without cores and two nodes of one core each."""
    from ray.cluster_utils import Cluster as ManyNodes

    path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    cluster = ManyNodes(
        initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": 100 << 20}
    )
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=100 << 20)
    cluster.wait_for_nodes()
    yield cluster
    cluster.shutdown()


@pytest.fixture
def lose_a_node(two_nodes: ManyNodes) -> Callable[[], None]:
    """A node of the two dies with all that runs on it, as when its machine goes down."""

    def kill() -> None:
        doomed = next(node for node in two_nodes.list_all_nodes() if node is not two_nodes.head_node)
        # Left alone, workers outlive the daemon of their node for up to a second: a short job may end first.
        (raylet,) = doomed.all_processes["raylet"]
        workers = psutil.Process(raylet.process.pid).children(recursive=True)
        two_nodes.remove_node(doomed, allow_graceful=False)
        for worker in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()

    return kill
