"""Bundles: a folder with a manifest and Arrow files, written once and never changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from artifacts.arrow_file import ArrowFile, Column, write_arrow
from artifacts.errors import BundleError
from artifacts.manifest import MANIFEST, FileEntry, Manifest, read_manifest, sha256_of

STREETS = {3: "flop", 4: "turn", 5: "river"}
Verify = Literal["first", "always", "never"]


class Bundle:
    """A read-only bundle. `bundle["flops"]["weight"]` is a memory-mapped numpy array."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self._open: dict[str, ArrowFile] = {}

    @property
    def key(self) -> str:
        """Content address of the bundle."""
        return self.manifest.key

    @property
    def config(self) -> Mapping[str, Any]:
        """The resolved config slice the bundle was made from."""
        return self.manifest.config

    @property
    def metrics(self) -> Mapping[str, float]:
        """Figures the stage measured about its own output."""
        return self.manifest.metrics

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """Names of the Arrow tables, without their suffix."""
        return tuple(
            sorted(name[: -len(".arrow")] for name in self.manifest.files if name.endswith(".arrow"))
        )

    def __getitem__(self, table: str) -> ArrowFile:
        if table not in self.tables:
            raise BundleError(f"{self.path}: no table {table!r}; it has {', '.join(self.tables)}")
        if table not in self._open:
            self._open[table] = ArrowFile(self.path / f"{table}.arrow")
        return self._open[table]

    def __contains__(self, table: str) -> bool:
        return table in self.tables

    def text(self, name: str) -> str:
        """A text file of the bundle, such as `config.yaml`."""
        if name not in self.manifest.files:
            raise BundleError(f"{self.path / name}: not in the bundle")
        return (self.path / name).read_text(encoding="utf-8")

    def bucket_table(self, num_cards: int) -> NDArray[np.uint16]:
        """Bucket of every combo by row of a street's table, for `abstractions.buckets.bucket_of`."""
        return self[f"buckets_{STREETS[num_cards]}"]["bucket"]

    def bucket_rows(self, num_cards: int) -> NDArray[np.int64] | None:
        """Keys of those rows; None if there is a row for every canonical board."""
        table = self[f"buckets_{STREETS[num_cards]}"]
        return table["row_key"] if "row_key" in table.names else None

    def flop_textures(self) -> NDArray[np.int16] | None:
        """Texture of each canonical flop where buckets belong to textures."""
        return self["flop_textures"]["texture"] if "flop_textures" in self else None

    def verify(self) -> None:
        """Hash every file against the manifest; raise `BundleError` naming the first that differs."""
        check_sizes(self.path, self.manifest)
        for name, entry in self.manifest.files.items():
            if sha256_of(self.path / name) != entry.sha256:
                raise BundleError(f"{self.path / name}: altered (its sha256 is not the one in the manifest)")
        _remember_verified(self.path, self.manifest)


def open_bundle(path: str | Path, *, verify: Verify = "first") -> Bundle:
    """Open a bundle folder for reading.

    Parameters
    ----------
    path : the folder that holds `manifest.json`.
    verify : `first` hashes all files unless this user has done so before and no file has changed since,
        `always` hashes, `never` checks presence and size only.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    bundle = Bundle(folder, manifest)
    if verify == "always" or (verify == "first" and not _is_verified(folder, manifest)):
        bundle.verify()
    else:
        check_sizes(folder, manifest)
    return bundle


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Every file of the manifest is there with its size."""
    for name, entry in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise BundleError(f"{path}: missing") from None
        if size != entry.bytes:
            raise BundleError(f"{path}: {size} bytes, the manifest says {entry.bytes} (truncated or altered)")


def write_bundle(
    folder: Path,
    tables: Mapping[str, Mapping[str, Column]],
    *,
    texts: Mapping[str, str] | None = None,
    stage: str,
    key: str,
    code: str,
    config: Mapping[str, Any],
    inputs: Mapping[str, str],
    metrics: Mapping[str, float],
) -> Manifest:
    """Write tables, texts and manifest into the empty folder `folder`, each file synced to disk.

    The caller makes the folder appear under its final name (`BundleStore.commit`).
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, FileEntry] = {}
    for table, columns in sorted(tables.items()):
        write_arrow(folder / f"{table}.arrow", columns)
        files[f"{table}.arrow"] = _seal(folder / f"{table}.arrow")
    for name, text in sorted((texts or {}).items()):
        (folder / name).write_text(text, encoding="utf-8")
        files[name] = _seal(folder / name)
    manifest = Manifest(
        stage=stage,
        key=key,
        code=code,
        config=dict(config),
        inputs=dict(inputs),
        metrics={name: float(value) for name, value in metrics.items()},
        files=files,
    )
    (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    sync(folder / MANIFEST)
    sync(folder)
    return manifest


def sync(path: Path) -> None:
    """Flush a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _seal(path: Path) -> FileEntry:
    sync(path)
    return FileEntry(sha256_of(path), path.stat().st_size)


def _verified_stamp(folder: Path) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    name = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:32]
    return cache / "holdem-blueprint" / "verified" / f"{name}.json"


def _fingerprint(folder: Path, manifest: Manifest) -> dict[str, list[int]]:
    """Inode, size and modification time of each file: changes when a file is written or replaced."""
    stats = {name: (folder / name).stat() for name in (*manifest.files, MANIFEST)}
    return {name: [stat.st_ino, stat.st_size, stat.st_mtime_ns] for name, stat in stats.items()}


def _is_verified(folder: Path, manifest: Manifest) -> bool:
    try:
        return bool(json.loads(_verified_stamp(folder).read_text()) == _fingerprint(folder, manifest))
    except (OSError, ValueError):
        return False


def _remember_verified(folder: Path, manifest: Manifest) -> None:
    stamp = _verified_stamp(folder)
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        temporary = stamp.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(_fingerprint(folder, manifest)))
        temporary.replace(stamp)
    except OSError:
        return  # a read-only home only costs the next opener one more hash
