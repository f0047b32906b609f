"""Where work runs: a Ray cluster (this machine or many) or this process, behind one `stream` of results.

Results carry the position of their item, so that what is built from them has the same bytes whatever the
number of workers.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import numpy as np
import psutil
from numpy.typing import NDArray

from pipelines.run.errors import MachineError, UserError
from pipelines.run.ray_failures import DaemonWatch, explained

if TYPE_CHECKING:
    from pipelines.config.schema import Cluster as ClusterConfig

Item = TypeVar("Item")
Result = TypeVar("Result")


class Cluster(Protocol):
    """A place to run pure functions."""

    @property
    def num_cpus(self) -> int:
        """Cores that work can be spread over."""
        ...

    def stream(
        self, function: Callable[..., Result], items: Sequence[Item], *, shared: Any = None
    ) -> Iterator[tuple[int, Result]]:
        """`(position, function(item, shared))` of each item as it is finished, in any order.

        `shared` is shipped once per node however large it is (left out of the call when None).
        """
        ...


def unlocked(array: NDArray[Any]) -> NDArray[Any]:
    """A view, flagged writable, of an array that Ray delivered; nobody may write to it.

    Kernels are compiled for writable arrays, and once more for read-only ones; a copy of a large table in every
    worker would cost more.
    """
    if array.flags.writeable:
        return array
    return np.asarray(_Unlocked(array))


class _Unlocked:
    """Memory of an array under its own flags; the view made from it keeps both alive."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, False)}


class OnDemand(Sequence[Item]):
    """So many items, each made when it is asked for: a cluster asks when it sends one."""

    def __init__(self, length: int, make: Callable[[int], Item]) -> None:
        self._positions = range(length)
        self._make = make

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, position: int) -> Item: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Item]: ...
    def __getitem__(self, position: int | slice) -> Item | Sequence[Item]:
        if isinstance(position, slice):
            return [self._make(number) for number in self._positions[position]]
        return self._make(self._positions[position])


class InProcess:
    """No Ray: a plain loop, for tests and debugging."""

    num_cpus = 1

    def stream(
        self, function: Callable[..., Result], items: Sequence[Item], *, shared: Any = None
    ) -> Iterator[tuple[int, Result]]:
        """See `Cluster.stream`."""
        for position, item in enumerate(items):
            yield position, function(item) if shared is None else function(item, shared)


class RayCluster:
    """Ray tasks with bounded in-flight work; a task whose worker or node dies is run again."""

    def __init__(
        self, num_cpus: int, *, in_flight: int, retries: int, watch: DaemonWatch | None = None
    ) -> None:
        self.num_cpus = num_cpus
        self.watch = watch
        self._in_flight = max(1, in_flight * num_cpus)
        self._retries = retries

    def stream(
        self, function: Callable[..., Result], items: Sequence[Item], *, shared: Any = None
    ) -> Iterator[tuple[int, Result]]:
        """See `Cluster.stream`."""
        import ray

        task = ray.remote(num_cpus=1, max_retries=self._retries)(function)
        arguments = () if shared is None else (ray.put(shared),)
        under_way: dict[Any, int] = {}
        position = 0
        try:
            while position < len(items) or under_way:
                with explained(self.watch):
                    while position < len(items) and len(under_way) < self._in_flight:
                        under_way[task.remote(items[position], *arguments)] = position
                        position += 1
                    (ready,), _ = ray.wait(list(under_way), num_returns=1)
                    done = under_way.pop(ready), ray.get(ready)
                yield done
        finally:
            for reference in under_way:  # the consumer stopped, or a task failed
                ray.cancel(reference, force=True)


def ray_failures_explained(cluster: Cluster) -> AbstractContextManager[None]:
    """For a block that uses Ray on its own beside `stream`: what Ray raises there is told in one line."""
    return explained(cluster.watch) if isinstance(cluster, RayCluster) else nullcontext()


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
    if config.address not in (None, "auto"):
        _check_reachable(str(config.address))
    own = psutil.Process()
    before = set(own.children(recursive=True))
    with ExitStack() as stack:
        watch = None
        with _interrupts_held_back():
            import ray

            stack.enter_context(_ray_settings(local=config.kind == "local"))
            stack.callback(ray.shutdown)
            _start_ray(config)
            if config.kind == "local" and threading.current_thread() is threading.main_thread():
                watch = DaemonWatch([p for p in own.children(recursive=True) if p not in before])
                watch.start()
                stack.callback(watch.stop)
        # A configured number may exceed what is up now: the autoscaler sees the demand and adds nodes.
        num_cpus = config.num_cpus or int(ray.cluster_resources().get("CPU", 1))
        with explained(watch):
            yield RayCluster(num_cpus, in_flight=config.in_flight, retries=config.retries, watch=watch)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Let an interrupt wait for the end of the block; a second one does not.

    While Ray is imported and started, an interrupt may be lost, or answered by Ray's own handler, which exits at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in handlers.items():
        if callable(handler):  # an ignored signal stays ignored
            signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def _start_ray(config: ClusterConfig) -> None:
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if config.kind == "local":
            # A record of every call, for the dashboard that is not started: a third of a gigabyte in an hour.
            os.environ.setdefault("RAY_task_events_report_interval_ms", "0")
            # Workers that were done with the abstraction would sit beside the shards for the whole training.
            os.environ.setdefault("RAY_num_workers_soft_limit", "0")
            os.environ.setdefault("RAY_idle_worker_killing_time_threshold_ms", "5000")
            ray.init(
                address="local",  # a cluster of our own, even where another one runs on this machine
                num_cpus=config.num_cpus or os.cpu_count() or 1,
                object_store_memory=None if config.object_store_mb is None else config.object_store_mb << 20,
                include_dashboard=False,
                **quiet,
            )
        else:
            ray.init(address=config.address, **quiet)
    except ConnectionError as error:
        raise UserError(
            f"cluster.address: {config.address!r} is not a running Ray cluster ({_first_line(error)})"
        ) from None
    except SystemExit:
        # Should Ray answer SIGTERM itself after all, by exiting, that is an interrupt too.
        raise KeyboardInterrupt from None
    except OSError:
        raise
    except Exception as error:
        raise MachineError(f"Ray did not start ({_first_line(error)})") from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


@contextmanager
def _ray_settings(*, local: bool) -> Iterator[None]:
    """Settings that `ray.init` has no arguments for.

    It leaves the handler of SIGTERM alone. A local Ray listens to this machine alone: Ray replaces a loopback address
    that it is given by one that others can reach, except with its switch for systems on which it never forms clusters.
    And it prints no pages when a daemon of its own dies, which `DaemonWatch` says in a line.
    """
    from ray._private import ray_constants, utils, worker

    def ignore(*_: object, **__: object) -> None:
        return

    settings: list[tuple[Any, str, Any]] = [(utils, "set_sigterm_handler", ignore)]
    if local:
        settings.append((ray_constants, "ENABLE_RAY_CLUSTER", False))
        settings.append((worker, "print_to_stdstream", ignore))
    before = [(module, name, getattr(module, name)) for module, name, _ in settings]
    try:
        for module, name, value in settings:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
