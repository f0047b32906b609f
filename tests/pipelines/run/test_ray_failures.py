"""What Ray raises is told in one line, and a dead daemon is noticed at once."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
import time

import psutil
import pytest

from artifacts import BundleError
from pipelines.run.errors import MachineError
from pipelines.run.ray_failures import DaemonWatch, explained

exceptions = pytest.importorskip("ray.exceptions")


def task_error(cause: Exception) -> Exception:
    """What `ray.get` raises when a task raised `cause`."""
    return exceptions.RayTaskError("task", "page\nof traceback", cause).as_instanceof_cause()


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (exceptions.LocalRayletDiedError(), MachineError, "Ray failed: .*raylet died"),
        (exceptions.WorkerCrashedError(), MachineError, "Ray failed: "),
        (exceptions.OutOfMemoryError("page\nof text"), MachineError, "^out of memory: Ray ended a worker"),
        (exceptions.OutOfDiskError("page\nof text"), OSError, "No space left on device: 'the object store"),
        (task_error(OSError(errno.ENOSPC, "full", "/s/f")), OSError, r"^\[Errno 28\] full: '/s/f'$"),
        (task_error(BundleError("a.arrow: altered")), BundleError, "^a.arrow: altered$"),
        (task_error(ValueError("a fault")), ValueError, "page\nof traceback"),
        (ValueError("a fault"), ValueError, "^a fault$"),
    ],
)
def test_what_ray_raises(raised: Exception, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as failure, explained():
        raise raised
    if kind is MachineError:
        assert "\n" not in str(failure.value)
    if kind is OSError:
        assert failure.value.errno == errno.ENOSPC  # type: ignore[attr-defined]


def test_a_dead_daemon_interrupts_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = signal.getsignal(signal.SIGUSR1)
    daemon = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    process = psutil.Process(daemon.pid)
    monkeypatch.setattr(process, "name", lambda: "raylet")
    watch = DaemonWatch([process, psutil.Process()])
    watch.start()
    started = time.monotonic()
    daemon.kill()
    with pytest.raises(MachineError, match=r"^Ray's process raylet died"), explained(watch):
        time.sleep(30)
    assert time.monotonic() - started < 10
    watch.stop()
    daemon.wait()
    assert signal.getsignal(signal.SIGUSR1) is handler


def test_an_interrupt_by_the_user_stays_one() -> None:
    watch = DaemonWatch([])
    watch.start()
    with pytest.raises(KeyboardInterrupt), explained(watch):
        raise KeyboardInterrupt
    watch.stop()
