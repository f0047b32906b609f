"""Clusters that several tests need."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster as ManyNodes


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
