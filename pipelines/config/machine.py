"""What this machine can give to Ray."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil

#: Bytes over which Ray refuses an object store that the shared memory of the system cannot hold.
_SHARED_ONLY = 10**10


def largest_object_store_mb() -> int:
    """Largest object store, in MiB, that Ray starts on this machine."""
    largest = int(psutil.virtual_memory().total)
    shared = Path("/dev/shm")
    if shared.is_dir():
        largest = min(largest, max(shutil.disk_usage(shared).free, _SHARED_ONLY))
    return largest >> 20
