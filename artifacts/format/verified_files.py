"""Which files of a bundle this user has hashed already, remembered by what the file system says about them."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from artifacts.errors import BundleError, MissingFile, unreadable

#: Kernels stamp files with a clock that ticks every few milliseconds. Two changes within a tick look the same, so a
#: file is remembered only if its last change is older than this when its hashing starts.
SETTLED_NS = 100_000_000
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link"}


class FileState(NamedTuple):
    """What the file system says about a file. The change time cannot be set back by a program, unlike the others."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    def settled(self, now_ns: int) -> bool:
        """Whether a change of the file from now on is sure to give it another change time."""
        return abs(now_ns - self.changed_ns) > SETTLED_NS


def file_state(path: Path) -> FileState:
    """State of a regular file; anything else is a `BundleError`. Links are refused, since they may point anywhere."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile(f"{path}: missing") from None
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a device or pipe")
        raise BundleError(f"{path}: {kind}, not a file")
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def verified_before(folder: Path, hashes: Mapping[str, str]) -> dict[str, FileState]:
    """States in which files had the hashes of the manifest, as far as this user has looked."""
    try:
        entries = json.loads(_memory(folder).read_bytes())
        return {
            name: FileState(*state)
            for name, (sha256, *state) in entries.items()
            if hashes.get(name) == sha256 and len(state) == len(FileState._fields)
        }
    except (OSError, ValueError, TypeError, AttributeError, RuntimeError):
        return {}  # whatever is wrong with the memory only costs hashing again


def remember_verified(folder: Path, hashes: Mapping[str, str], states: Mapping[str, FileState]) -> None:
    """Remember that files had their hashes in these states."""
    entries = {name: [hashes[name], *state] for name, state in sorted(states.items())}
    try:
        memory = _memory(folder)
        memory.parent.mkdir(parents=True, exist_ok=True)
        temporary = memory.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(entries))
        temporary.replace(memory)
    except (OSError, RuntimeError):
        return  # a read-only or missing home only costs the next opener one more hash


def _memory(folder: Path) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(str(folder.resolve()).encode(errors="surrogateescape")).hexdigest()[:32]
    return cache / "holdem-blueprint" / "verified" / f"{name}.json"
