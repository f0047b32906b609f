"""A checkpoint is there whole or not at all, and a full disk is not made fuller."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipelines.training.checkpoints import Checkpoint, Checkpoints


def checkpoint(iteration: int) -> Checkpoint:
    return Checkpoint({"counters": np.array([0, iteration, 0])}, (), 1.0)


def test_a_checkpoint_that_does_not_fit_leaves_the_one_before_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(tmp_path)
    checkpoints.save(checkpoint(1))

    def fill_the_disk(file: Any, **_: object) -> None:
        file.write(bytes(100))
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(np, "savez", fill_the_disk)
    with pytest.raises(OSError, match="full"):
        checkpoints.save(checkpoint(2))
    assert [path.name for path in tmp_path.iterdir()] == ["000000001.npz"]
    newest = checkpoints.newest()
    assert newest is not None
    assert newest.iteration == 1
