"""The manifest of a bundle: what it is, what it was made from, and the hash of every file in it.

A manifest holds nothing that varies between two runs of the same work (no times, hosts or paths), so that
equal keys mean equal bytes; durations and memory go to the tracker.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from artifacts.errors import BundleError

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class FileEntry:
    """Hash and size of one file of a bundle."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """Contents of `manifest.json`."""

    stage: str
    key: str
    code: str
    config: Mapping[str, Any]
    inputs: Mapping[str, str]
    metrics: Mapping[str, float]
    files: Mapping[str, FileEntry]
    schema_version: int = SCHEMA_VERSION

    @property
    def name(self) -> str:
        """Folder name of the bundle in a store."""
        return f"{self.stage}-{self.key}"

    @property
    def total_bytes(self) -> int:
        """Bytes of all data files."""
        return sum(entry.bytes for entry in self.files.values())

    def to_json(self) -> str:
        """Canonical text: sorted keys, two-space indent, trailing newline."""
        return json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Read and check `folder/manifest.json`."""
    path = folder / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BundleError(f"{path}: missing, so {folder} is not a bundle") from None
    try:
        data = json.loads(text)
        version = data["schema_version"]
        if not isinstance(version, int):
            raise TypeError("schema_version is not an integer")
        if version != SCHEMA_VERSION:
            raise BundleError(
                f"{path}: schema version {version}; this program reads version {SCHEMA_VERSION}"
            )
        files = {name: FileEntry(**entry) for name, entry in data.pop("files").items()}
        for name in files:
            if not name or Path(name).name != name:
                raise ValueError(f"file name {name!r} leaves the bundle")
        return Manifest(**data, files=files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BundleError(f"{path}: not a valid manifest ({error})") from None


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
