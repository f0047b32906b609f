"""Memory is counted where it cannot be dropped: in this process and in its children."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from pipelines.run.meter import Meter

MIB = 1 << 20


def test_arrays_count_and_memory_mapped_files_do_not(tmp_path: Path) -> None:
    np.save(tmp_path / "file.npy", np.ones(64 * MIB, dtype=np.uint8))
    with Meter() as before:
        pass
    with Meter() as mapped:
        file = np.load(tmp_path / "file.npy", mmap_mode="r")
        assert file.sum() == len(file)
    with Meter() as held:
        kept = np.ones(256 * MIB, dtype=np.uint8)
    assert mapped.peak_bytes - before.peak_bytes < 32 * MIB
    assert held.peak_bytes - before.peak_bytes > 200 * MIB
    assert kept.sum() == len(kept)


def test_children_count(tmp_path: Path) -> None:
    program = "import sys; kept = bytearray(b'x' * (128 << 20)); print('ready', flush=True); sys.stdin.read()"
    with Meter() as alone:
        pass
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    with Meter() as both:
        pass
    child.communicate()
    assert both.peak_bytes - alone.peak_bytes > 100 * MIB
