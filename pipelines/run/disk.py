"""The disk under the store: whether it can be used, what a run needs of it, and files whose space is reserved."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from artifacts.bundle_store import BundleStore
from pipelines.run.errors import MachineError, UserError, is_full
from pipelines.run.progress import PlanRow, size

_CANNOT_RESERVE = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.ENODEV)
#: Longest path of a file below the store's root.
_LONGEST_NAME = ".tmp/" + "x" * 120
#: A run is refused when even this share of the estimate does not fit: an estimate may be a tenth too high.
_CERTAIN = 0.9
_ZEROS = bytes(1 << 20)


def check_store(root: Path) -> None:
    """Refuse a store that cannot be one. Nothing is written."""
    shown = _shortened(root)
    try:
        os.stat(root / _LONGEST_NAME)
    except FileNotFoundError:
        pass  # as it should be
    except NotADirectoryError:
        blocking = next(path for path in (root, *root.parents) if os.path.lexists(path))
        found = "" if blocking == root else f"{_shortened(blocking)} in "
        raise UserError(f"store.root: {found}{shown} is not a folder") from None
    except OSError as error:
        raise UserError(f"store.root: {shown} cannot be used ({error.strerror})") from None


def check_writable(root: Path) -> None:
    """Refuse a store that this user cannot write to. Nothing stays there."""
    try:
        with tempfile.TemporaryFile(dir=_existing_folder(root)):
            return
    except OSError as error:
        if is_full(error):
            raise
        reason = os.strerror(error.errno or 0)
        raise UserError(f"store.root: {_shortened(root)} is not writable ({reason})") from None


def make_store(store: BundleStore) -> None:
    """Create the store's folder, or say why that cannot be."""
    check_store(store.root)
    check_writable(store.root)
    try:
        store.root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if is_full(error):
            raise
        raise UserError(
            f"store.root: {_shortened(store.root)} cannot be created ({error.strerror})"
        ) from None


@dataclass(frozen=True)
class Room:
    """Room on the disk of a store for a run.

    Attributes
    ----------
    root
        Folder of the store.
    free
        Bytes that the run can use: what is free, and what its own unfinished stages hold already.
    rows
        The plan of the run.
    """

    root: Path
    free: int
    rows: Sequence[PlanRow]

    @classmethod
    def of_plan(cls, store: BundleStore, rows: Sequence[PlanRow]) -> Room:
        """Look at the disk."""
        free = shutil.disk_usage(_existing_folder(store.root)).free
        for row in rows:
            if not row.cached:
                leftovers = (store.root / ".tmp").glob(f"{row.stage}-{row.key}.*")
                free += folder_bytes([store.checkpoints(row.stage, row.key), *leftovers])
        return cls(store.root, free, rows)

    @property
    def written(self) -> float:
        """Bytes that the stages write in all."""
        return sum(row.disk.bundle + row.disk.scratch for row in self.rows if row.disk and not row.cached)

    @property
    def needed(self) -> float:
        """Most bytes that the stages hold at a time: what a stage needs on the way is freed when it ends."""
        kept = most = 0.0
        for row in self.rows:
            if row.disk is not None and not row.cached:
                most = max(most, kept + row.disk.bundle + row.disk.scratch)
                kept += row.disk.bundle
        return most

    def words(self) -> str:
        """What is written and what is free, for the plan."""
        free = f"{size(self.free)} free at {_shortened(self.root)}"
        if not self.written:
            return free
        enough = "" if self._fits else ", which is not enough"
        return f"writes about {size(self.written)}, at most {size(self.needed)} at a time; {free}{enough}"

    @property
    def _fits(self) -> bool:
        return _CERTAIN * self.needed <= self.free

    def check(self) -> None:
        """Refuse a run that clearly does not fit."""
        if not self._fits:
            raise MachineError(
                f"store.root: {_shortened(self.root)} has {size(self.free)} free and the run needs about "
                f"{size(self.needed)}; free some space, or set store.root to another disk",
                resumable=False,
            )


def folder_bytes(folders: Iterable[Path]) -> int:
    """Bytes of all files in folders. Files may come and go meanwhile."""
    total = 0
    for folder in folders:
        for path, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    total += os.stat(os.path.join(path, name)).st_size
    return total


def scratch_table(path: Path, shape: tuple[int, int]) -> NDArray[np.uint16]:
    """A table of zeros in a file, as it may exceed memory.

    Its space is reserved first. Without that, a full disk would end the process by a signal (SIGBUS) at some later
    write to the table; so it is an `OSError` here.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("wb") as file:
            _reserve(file.fileno(), int(np.prod(shape)) * np.dtype(np.uint16).itemsize)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, os.strerror(error.errno or 0), str(path)) from None
    return np.asarray(np.memmap(path, dtype=np.uint16, mode="r+", shape=shape))


def _reserve(descriptor: int, count: int) -> None:
    """Give an empty file so many bytes that are really there; they read as zeros."""
    try:
        os.posix_fallocate(descriptor, 0, count)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _CANNOT_RESERVE:
            raise
        for start in range(0, count, len(_ZEROS)):
            left = memoryview(_ZEROS)[: count - start]
            while left:
                left = left[os.write(descriptor, left) :]


def _existing_folder(path: Path) -> Path:
    """The path, or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())


def _shortened(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 120 else f"{text[:60]}...{text[-20:]} ({len(text)} characters)"
