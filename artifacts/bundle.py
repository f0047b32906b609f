"""Bundles: a folder with a manifest and Arrow files, written once and never changed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abstractions.streets import BOARD_STREETS
from artifacts.errors import BundleError
from artifacts.format.arrow_file import ArrowFile, Column, write_arrow
from artifacts.format.manifest import MANIFEST, FileEntry, Manifest, read_manifest, sha256_of

Verify = Literal["first", "always", "never"]
#: Larger files are hashed when they are first read rather than when the bundle is opened.
HASH_AT_OPEN_BYTES = 2 << 20


class Bundle:
    """A read-only bundle. `bundle["flops"]["weight"]` is a memory-mapped numpy array.

    Files named in `unverified` are hashed before they are read for the first time.
    """

    def __init__(self, path: Path, manifest: Manifest, unverified: Iterable[str] = ()) -> None:
        self.path = path
        self.manifest = manifest
        self._open: dict[str, ArrowFile] = {}
        self._unverified = set(unverified)

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
            self._verify_once(f"{table}.arrow")
            self._open[table] = ArrowFile(self.path / f"{table}.arrow")
        return self._open[table]

    def __contains__(self, table: str) -> bool:
        return table in self.tables

    def text(self, name: str) -> str:
        """A text file of the bundle, such as `config.yaml`."""
        if name not in self.manifest.files:
            raise BundleError(f"{self.path / name}: not in the bundle")
        self._verify_once(name)
        return (self.path / name).read_text(encoding="utf-8")

    def bucket_table(self, num_cards: int) -> NDArray[np.uint16]:
        """Bucket of every combo by row of a street's table, for `abstractions.buckets.bucket_of`."""
        return self[f"buckets_{BOARD_STREETS[num_cards]}"]["bucket"]

    def bucket_rows(self, num_cards: int) -> NDArray[np.int64] | None:
        """Keys of those rows; None if there is a row for every canonical board."""
        table = self[f"buckets_{BOARD_STREETS[num_cards]}"]
        return table["row_key"] if "row_key" in table.names else None

    def flop_textures(self) -> NDArray[np.int16] | None:
        """Texture of each canonical flop where buckets belong to textures."""
        return self["flop_textures"]["texture"] if "flop_textures" in self else None

    def verify(self) -> None:
        """Hash every file against the manifest; raise `BundleError` naming the first that differs."""
        check_sizes(self.path, self.manifest)
        self._verify_files(self.manifest.files)

    def _verify_once(self, name: str) -> None:
        if name in self._unverified:
            self._verify_files([name])

    def _verify_files(self, names: Iterable[str]) -> None:
        for name in names:
            if sha256_of(self.path / name) != self.manifest.files[name].sha256:
                raise BundleError(f"{self.path / name}: altered (its sha256 is not the one in the manifest)")
            self._unverified.discard(name)
        _remember_verified(self.path, set(self.manifest.files) - self._unverified)


def open_bundle(path: str | Path, *, verify: Verify = "first") -> Bundle:
    """Open a bundle folder for reading.

    Parameters
    ----------
    path : the folder that holds `manifest.json`.
    verify : `first` hashes every file before this user reads it for the first time, and again when it has
        changed since: small files at once, large ones (2 MiB and more) when they are first read.
        `always` hashes all files now, `never` checks presence and size only.

    Returns
    -------
    Bundle
        Of the type of its stage: an `artifacts.blueprint.bundle.BlueprintBundle` for `export`, an
        `artifacts.blueprint.preflop_bundle.PreflopBundle` for `preflop_solve`, and an
        `artifacts.spot_bundle.SpotBundle` for `postflop_solve`.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    check_sizes(folder, manifest)
    unverified = set() if verify == "never" else set(manifest.files)
    if verify == "first":
        unverified -= _verified_files(folder)
    bundle = _bundle_type(manifest.stage)(folder, manifest, unverified)
    if verify == "always":
        bundle.verify()
    else:
        small = [name for name in unverified if manifest.files[name].bytes < HASH_AT_OPEN_BYTES]
        if small:
            bundle._verify_files(sorted(small))
    return bundle


def _bundle_type(stage: str) -> type[Bundle]:
    # The types extend this module's class, so they are imported when a bundle of their stage is opened.
    if stage == "export":
        from artifacts.blueprint.bundle import BlueprintBundle

        return BlueprintBundle
    if stage == "preflop_solve":
        from artifacts.blueprint.preflop_bundle import PreflopBundle

        return PreflopBundle
    if stage == "postflop_solve":
        from artifacts.spot_bundle import SpotBundle

        return SpotBundle
    return Bundle


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


def _fingerprint(path: Path) -> list[int]:
    """Inode, size and modification time of a file: changes when it is written or replaced."""
    stat = path.stat()
    return [stat.st_ino, stat.st_size, stat.st_mtime_ns]


def _verified_files(folder: Path) -> set[str]:
    """Files that this user has hashed and that have not changed since; none if the manifest has."""
    try:
        stamp = json.loads(_verified_stamp(folder).read_text())
        same = {name for name, fingerprint in stamp.items() if fingerprint == _fingerprint(folder / name)}
    except (OSError, ValueError, AttributeError):
        return set()
    return same if MANIFEST in same else set()


def _remember_verified(folder: Path, names: Iterable[str]) -> None:
    stamp = _verified_stamp(folder)
    try:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        temporary = stamp.with_suffix(f".{os.getpid()}")
        fingerprints = {name: _fingerprint(folder / name) for name in sorted({*names, MANIFEST})}
        temporary.write_text(json.dumps(fingerprints))
        temporary.replace(stamp)
    except OSError:
        return  # a read-only home only costs the next opener one more hash
