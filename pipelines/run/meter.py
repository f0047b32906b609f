"""Time, memory and disk of a piece of work, workers on this machine included."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import psutil

_PERIOD_SECONDS = 0.5
# The kernel walks all pages of a process to count them, which takes a while with large mappings.
_MOST_OF_TIME = 0.01


class Meter:
    """Measure a `with` block: `seconds`, and `peak_bytes` of this process and its children together.

    Memory is what cannot be dropped: private pages, and shared ones (Ray's object store) counted once. Pages of
    memory-mapped bundles and of libraries are the system's file cache. Where the system tells only the resident
    size, it is that.

    Parameters
    ----------
    disk_bytes
        What the work holds on disk now; the most that was seen is `peak_disk_bytes`.
    """

    def __init__(self, disk_bytes: Callable[[], int] = lambda: 0) -> None:
        self.seconds = 0.0
        self.peak_bytes = 0
        self.peak_disk_bytes = 0
        self._disk_bytes = disk_bytes
        self._stop = threading.Event()

    def __enter__(self) -> Meter:
        self._start = time.perf_counter()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self.seconds = time.perf_counter() - self._start

    def look_at_disk(self) -> None:
        """Measure the disk now, when it may hold more than at the regular times."""
        self.peak_disk_bytes = max(self.peak_disk_bytes, self._disk_bytes())

    def _sample(self) -> None:
        ended = False
        while True:
            started = time.perf_counter()
            self.peak_bytes = max(self.peak_bytes, _tree_bytes())
            self.look_at_disk()
            if ended:
                return
            taken = time.perf_counter() - started
            ended = self._stop.wait(max(_PERIOD_SECONDS, taken / _MOST_OF_TIME))


def _tree_bytes() -> int:
    total = 0
    process = psutil.Process()
    for member in (process, *process.children(recursive=True)):
        try:
            total += _bytes(member)
        except (psutil.Error, OSError):
            continue
    return total


def _bytes(process: psutil.Process) -> int:
    rollup = Path(f"/proc/{process.pid}/smaps_rollup")
    if not rollup.exists():
        return int(process.memory_info().rss)
    sizes = {}
    for line in rollup.read_text().splitlines()[1:]:
        name, _, rest = line.partition(":")
        sizes[name] = int(rest.split()[0]) << 10
    if "Pss_Anon" not in sizes:  # Linux before 5.9
        return sizes["Pss"]
    return sizes["Pss_Anon"] + sizes["Pss_Shmem"]
