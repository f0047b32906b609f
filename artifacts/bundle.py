"""Bundles: a folder with a manifest and Arrow files, written once and never changed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abstractions.streets import BOARD_STREETS
from artifacts.errors import BundleError, unreadable
from artifacts.format.arrow_file import ArrowFile, Column, write_arrow
from artifacts.format.manifest import (
    MANIFEST,
    FileEntry,
    Manifest,
    parse_manifest,
    read_manifest,
    sha256_of,
)
from artifacts.format.settings import Settings
from artifacts.format.verified_files import FileState, file_state, remember_verified, verified_before

Verify = Literal["first", "always", "never"]
#: Larger files are hashed when they are first read rather than when the bundle is opened.
HASH_AT_OPEN_BYTES = 2 << 20


class Bundle:
    """A read-only bundle. `bundle["flops"]["weight"]` is a memory-mapped numpy array.

    Parameters
    ----------
    verified : states in which files are known to have the hashes of the manifest. A file in any other state is hashed
        before it is read. None trusts all files that have their size.
    """

    def __init__(
        self, path: Path, manifest: Manifest, verified: Mapping[str, FileState] | None = None
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._open: dict[str, ArrowFile] = {}
        self._verified = None if verified is None else dict(verified)

    @property
    def key(self) -> str:
        """Content address of the bundle."""
        return self.manifest.key

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The resolved config slice the bundle was made from."""
        return Settings(self.manifest.config, self.path / MANIFEST)

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
        name = f"{table}.arrow"
        self.check([name])
        if table not in self._open:
            opened = ArrowFile(self.path / name)
            self.check([name])  # it may have been replaced since it was hashed
            self._open[table] = opened
        return self._open[table]

    def __contains__(self, table: str) -> bool:
        return table in self.tables

    def text(self, name: str) -> str:
        """A text file of the bundle, such as `config.yaml`."""
        if name not in self.manifest.files:
            raise BundleError(f"{self.path / name}: not in the bundle")
        self.check([name])
        try:
            text = (self.path / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(self.path / name, error) from None
        self.check([name])
        return text

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
        self._verified = {}
        for name in self.manifest.files:
            self._state(name)
        self.check(self.manifest.files)

    def check(self, names: Iterable[str]) -> None:
        """Refuse files that are not those of the manifest: hash what is new to this user, or changed since."""
        hashed = False
        for name in names:
            state = self._state(name)
            if self._verified is not None and self._verified.get(name) != state:
                self._verified.pop(name, None)
                hashed |= self._hash(name, state, self._verified)
        if hashed and self._verified is not None:
            remember_verified(self.path, self.manifest.hashes, self._verified)

    def _hash(self, name: str, state: FileState, verified: dict[str, FileState]) -> bool:
        """Hash a file, and keep its state where a later change is sure to alter it; returns whether it is kept."""
        path, started = self.path / name, time.time_ns()
        if sha256_of(path) != self.manifest.files[name].sha256:
            raise BundleError(f"{path}: altered (its sha256 is not the one in the manifest)")
        keep = state.settled(started) and file_state(path) == state
        if keep:
            verified[name] = state
        return keep

    def _state(self, name: str) -> FileState:
        """State of a file, which must be there with its size."""
        path, expected = self.path / name, self.manifest.files[name].bytes
        state = file_state(path)
        if state.size != expected:
            raise BundleError(
                f"{path}: {state.size} bytes, the manifest says {expected} (truncated or altered)"
            )
        return state


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
        `artifacts.blueprint.preflop_bundle.PreflopBundle` for `preflop_solve`, an
        `artifacts.spot_bundle.SpotBundle` for `postflop_solve`, and an
        `artifacts.subgame_bundle.SubgameBundle` for `subgame`.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    known = verified_before(folder, manifest.hashes) if verify == "first" else {}
    bundle = _bundle_type(manifest)(folder, manifest, None if verify == "never" else known)
    if verify == "always":
        bundle.verify()
        return bundle
    for name in manifest.files:
        bundle._state(name)
    bundle.check([name for name, entry in manifest.files.items() if entry.bytes < HASH_AT_OPEN_BYTES])
    return bundle


def _bundle_type(manifest: Manifest) -> type[Bundle]:
    # The types extend this module's class, so they are imported when a bundle of their stage is opened.
    stage = manifest.stage
    if stage == "export" and "seats" in manifest.config:
        from artifacts.blueprint.multiway_bundle import MultiwayBundle

        return MultiwayBundle
    if stage == "export":
        from artifacts.blueprint.bundle import BlueprintBundle

        return BlueprintBundle
    if stage == "preflop_solve":
        from artifacts.blueprint.preflop_bundle import PreflopBundle

        return PreflopBundle
    if stage == "postflop_solve":
        from artifacts.spot_bundle import SpotBundle

        return SpotBundle
    if stage == "subgame":
        from artifacts.subgame_bundle import SubgameBundle

        return SubgameBundle
    return Bundle


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
    text = manifest.to_json()
    parse_manifest(text.encode(), folder / MANIFEST)  # never write what cannot be read again
    (folder / MANIFEST).write_text(text, encoding="utf-8")
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
