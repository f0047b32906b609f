"""Time and memory of a piece of work, workers on this machine included."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import psutil

_PERIOD_SECONDS = 0.5


class Meter:
    """Measure a `with` block: `seconds`, and `peak_bytes` of this process and its children together.

    Memory is proportional set size where the system tells it, so that pages shared between workers (Ray's
    object store, memory-mapped bundles) count once.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.peak_bytes = 0
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

    def _sample(self) -> None:
        while True:
            self.peak_bytes = max(self.peak_bytes, _tree_bytes())
            if self._stop.wait(_PERIOD_SECONDS):
                return


def _tree_bytes() -> int:
    total = 0
    process = psutil.Process()
    for member in (process, *process.children(recursive=True)):
        try:
            memory = member.memory_full_info()
            total += getattr(memory, "pss", memory.rss)
        except psutil.Error:
            continue
    return total
