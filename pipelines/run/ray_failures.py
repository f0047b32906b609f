"""When Ray itself fails: its daemons die, or it runs out of disk or memory. One line instead of pages of Ray's."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import psutil

from artifacts.errors import BundleError
from pipelines.run.errors import MachineError, UserError

#: Processes that a Ray cluster cannot live without.
_DAEMONS = ("raylet", "gcs_server")
_PERIOD_SECONDS = 0.3
_WAKE_UP = signal.SIGUSR1
#: What a task may raise that is no fault of its code: it is raised here as it was there.
_OWN_FAILURES = (OSError, MemoryError, BundleError, MachineError, UserError)


class DaemonWatch:
    """Interrupts this process when a daemon of its own Ray dies: Ray would wait for it for many seconds, or for good.

    Use it from the main thread, which is the one that signals interrupt.

    Attributes
    ----------
    dead
        Name of the daemon that died.
    """

    def __init__(self, processes: list[psutil.Process]) -> None:
        self.dead: str | None = None
        self._daemons = {process: name for process in processes if (name := _daemon_name(process))}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ray-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._handler_before = signal.signal(_WAKE_UP, _interrupt)
        self._thread.start()

    def stop(self) -> None:
        """The daemons may go from now on."""
        self._stop.set()
        self._thread.join()
        signal.signal(_WAKE_UP, self._handler_before)

    def _watch(self) -> None:
        while not self._stop.wait(_PERIOD_SECONDS):
            for process, name in self._daemons.items():
                if not _runs(process):
                    self.dead = name
                    # Ray's calls return on an interrupt alone, so it has to be a signal.
                    signal.pthread_kill(threading.main_thread().ident or 0, _WAKE_UP)
                    return


def _daemon_name(process: psutil.Process) -> str | None:
    try:
        name = process.name()
    except psutil.Error:
        return None
    return next((daemon for daemon in _DAEMONS if name.startswith(daemon)), None)


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise KeyboardInterrupt


@contextmanager
def explained(watch: DaemonWatch | None = None) -> Iterator[None]:
    """Tell what Ray raises in the block in one line. Faults of the code stay as they are."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if watch is not None and watch.dead is not None:
            raise MachineError(f"Ray's process {watch.dead} died, and the workers with it") from None
        failure = _failure(error)
        if failure is error:
            raise
        raise failure from None


def _failure(error: BaseException) -> BaseException:
    if "ray.exceptions" not in sys.modules:
        return error
    from ray import exceptions

    if isinstance(error, exceptions.RayTaskError):
        cause: Any = error
        while isinstance(cause, exceptions.RayTaskError):
            cause = cause.cause
        if isinstance(cause, exceptions.RayError):
            return _failure(cause)
        return cause if isinstance(cause, _OWN_FAILURES) else error
    if isinstance(error, exceptions.OutOfDiskError):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "the object store of Ray")
    if isinstance(error, exceptions.OutOfMemoryError):
        return MachineError(
            "out of memory: Ray ended a worker; close other programs or set cluster.num_cpus lower"
        )
    if isinstance(error, exceptions.RayError):
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        return MachineError(f"Ray failed: {first or type(error).__name__}")
    return error
