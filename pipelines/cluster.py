"""Where work runs: a Ray cluster (this machine or many) or this process, behind one `map`.

Results come back in the order of the items whatever the number of workers, so that whatever is built
from them has the same bytes everywhere.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pipelines.errors import UserError

if TYPE_CHECKING:
    from pipelines.schema import Cluster as ClusterConfig

Item = TypeVar("Item")
Result = TypeVar("Result")
OnDone = Callable[[int], None]


class Cluster(Protocol):
    """A place to run pure functions."""

    num_cpus: int

    def map(
        self,
        function: Callable[..., Result],
        items: Sequence[Item],
        *,
        shared: Any = None,
        on_done: OnDone | None = None,
    ) -> list[Result]:
        """`[function(item, shared) for item in items]`, spread over the cores.

        `shared` is shipped once per node however large it is (left out of the call when None); `on_done`
        is told the number of finished items.
        """
        ...


class InProcess:
    """No Ray: a plain loop, for tests and debugging."""

    num_cpus = 1

    def map(
        self,
        function: Callable[..., Result],
        items: Sequence[Item],
        *,
        shared: Any = None,
        on_done: OnDone | None = None,
    ) -> list[Result]:
        """See `Cluster.map`."""
        results = []
        for item in items:
            results.append(function(item) if shared is None else function(item, shared))
            if on_done:
                on_done(len(results))
        return results


class RayCluster:
    """Ray tasks with bounded in-flight work; a task whose worker or node dies is run again."""

    def __init__(self, num_cpus: int, *, in_flight: int, retries: int) -> None:
        self.num_cpus = num_cpus
        self._in_flight = max(1, in_flight * num_cpus)
        self._retries = retries

    def map(
        self,
        function: Callable[..., Result],
        items: Sequence[Item],
        *,
        shared: Any = None,
        on_done: OnDone | None = None,
    ) -> list[Result]:
        """See `Cluster.map`."""
        import ray

        task = ray.remote(num_cpus=1, max_retries=self._retries)(function)
        arguments = () if shared is None else (ray.put(shared),)
        results: list[Any] = [None] * len(items)
        under_way: dict[Any, int] = {}
        position = finished = 0
        try:
            while finished < len(items):
                while position < len(items) and len(under_way) < self._in_flight:
                    under_way[task.remote(items[position], *arguments)] = position
                    position += 1
                ready, _ = ray.wait(list(under_way), num_returns=1)
                for reference in ready:
                    results[under_way.pop(reference)] = ray.get(reference)
                    finished += 1
                if on_done:
                    on_done(finished)
        except BaseException:
            for reference in under_way:
                ray.cancel(reference, force=True)
            raise
        return results


def _check_reachable(address: str) -> None:
    """Ray itself would try an address that nobody listens on for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=10):
            return
    except (OSError, ValueError) as error:
        raise UserError(f"cluster.address: {address!r} is not a running Ray cluster ({error})") from None


@contextmanager
def open_cluster(config: ClusterConfig) -> Iterator[Cluster]:
    """Start or join the configured cluster, and leave it at the end."""
    if config.kind == "inprocess":
        yield InProcess()
        return
    # Ray's own start-up hints and usage report are noise to the person who runs a pipeline, and its
    # reporting needs a network.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    if config.address not in (None, "auto"):
        _check_reachable(str(config.address))
    on_terminate = signal.getsignal(signal.SIGTERM)  # ray.init installs its own
    try:
        if config.kind == "local":
            ray.init(
                num_cpus=config.num_cpus or os.cpu_count() or 1,
                object_store_memory=None if config.object_store_mb is None else config.object_store_mb << 20,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
            )
        else:
            ray.init(address=config.address, log_to_driver=False, logging_level="ERROR")
    except ConnectionError as error:
        first = str(error).splitlines()[0]
        raise UserError(
            f"cluster.address: {config.address!r} is not a running Ray cluster ({first})"
        ) from None
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, on_terminate)
    try:
        # A configured number may exceed what is up now: the autoscaler sees the demand and adds nodes.
        num_cpus = config.num_cpus or int(ray.cluster_resources().get("CPU", 1))
        yield RayCluster(num_cpus, in_flight=config.in_flight, retries=config.retries)
    finally:
        ray.shutdown()
