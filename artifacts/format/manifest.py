"""The manifest of a bundle: what it is, what it was made from, and the hash of every file in it.

A manifest holds nothing that varies between two runs of the same work (no times, hosts or paths), so that
equal keys mean equal bytes; durations and memory go to the tracker.

Its second line is a checksum of all others: `sed 2d manifest.json | sha256sum` prints it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from artifacts.errors import BundleError, MissingFile, unreadable
from artifacts.format.settings import check_settings
from artifacts.format.verified_files import file_state

SCHEMA_VERSION = 2
#: The layout before checksums. No damage makes a version 2 pass for it: version 1 has no checksum, so the second line
#: would have to go and the version near the end to change, with every line between them left whole.
WITHOUT_CHECKSUM = 1
MANIFEST = "manifest.json"
CHECKSUM = "checksum"
#: Manifests are a few kilobytes. Larger ones are not read into memory.
LARGEST_MANIFEST = 16 << 20

#: Stages and keys name folders. They have no dot: what starts with one belongs to the store itself.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LARGEST_FILE = 1 << 62


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

    @property
    def hashes(self) -> dict[str, str]:
        """The sha256 of every file."""
        return {name: entry.sha256 for name, entry in self.files.items()}

    def to_json(self) -> str:
        """Canonical text: sorted keys, two-space indent, trailing newline; the checksum comes first."""
        text = json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"
        return text if self.schema_version == WITHOUT_CHECKSUM else with_checksum(text)


def with_checksum(text: str) -> str:
    """The text of a manifest that has none, with its checksum as the second line."""
    first, rest = text.split("\n", 1)
    return f'{first}\n  "{CHECKSUM}": "{_digest(text)}",\n{rest}'


def read_manifest(folder: Path) -> Manifest:
    """Read and check `folder/manifest.json`."""
    path = folder / MANIFEST
    try:
        size = file_state(path).size
    except MissingFile:
        raise MissingFile(f"{path}: missing, so {folder} is not a bundle") from None
    if size > LARGEST_MANIFEST:
        raise BundleError(f"{path}: not a valid manifest ({size} bytes are too many)")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    return parse_manifest(data, path)


def parse_manifest(data: bytes, source: Path | str) -> Manifest:
    """Read and check the bytes of a manifest; errors name `source`."""
    try:
        text = data.decode()
        fields = json.loads(text, object_pairs_hook=_without_repeats)
        _check(isinstance(fields, dict), "it is no JSON object")
        version = fields.pop("schema_version", None)
        _check(type(version) is int, "schema_version is not a whole number")
        if version not in (WITHOUT_CHECKSUM, SCHEMA_VERSION):
            readable = f"{WITHOUT_CHECKSUM} and {SCHEMA_VERSION}"
            raise BundleError(f"{source}: schema version {version}; this program reads versions {readable}")
        checksum = fields.pop(CHECKSUM, None)
        if version == WITHOUT_CHECKSUM:
            _check(checksum is None, f"version {version} has no {CHECKSUM}")
        else:
            _check(checksum is not None, f"version {version} needs a {CHECKSUM}")
            if not _fits(checksum, text):
                raise BundleError(f"{source}: altered (its checksum is not that of its other lines)")
        return _manifest(fields, version)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{source}: not a valid manifest ({error})") from None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _fits(checksum: object, text: str) -> bool:
    lines = text.split("\n")
    line = f'  "{CHECKSUM}": "{checksum}",'
    return lines[1:2] == [line] and checksum == _digest("\n".join(lines[:1] + lines[2:]))


def _manifest(fields: dict[str, Any], version: int) -> Manifest:
    expected = set(Manifest.__dataclass_fields__) - {"schema_version"}
    _check(fields.keys() >= expected, f"it lacks {', '.join(sorted(expected - fields.keys()))}")
    _check(fields.keys() <= expected, f"it has unknown keys: {shown(sorted(fields.keys() - expected))}")
    for field in ("stage", "key"):
        fits = isinstance(fields[field], str) and NAME.fullmatch(fields[field])
        _check(fits, f"{field} {shown(fields[field])} is no name of letters, digits, - and _")
    _check(isinstance(fields["code"], str), "code is no text")
    for field in ("config", "inputs", "metrics", "files"):
        _check(isinstance(fields[field], dict), f"{field} is no JSON object")
    for name, key in fields["inputs"].items():
        _check(isinstance(key, str), f"inputs.{shown(name)} is no text")
    for name, value in fields["metrics"].items():
        _check(type(value) in (int, float), f"metrics.{shown(name)} is no number")
    check_settings(fields["stage"], fields["config"])
    files = {name: _file_entry(name, entry) for name, entry in fields.pop("files").items()}
    return Manifest(**fields, files=files, schema_version=version)


def _file_entry(name: str, entry: Any) -> FileEntry:
    _check("/" not in name and name not in ("", ".", ".."), f"file name {shown(name)} leaves the bundle")
    _check(FILE_NAME.fullmatch(name) and name != MANIFEST, f"{shown(name)} is no name of a file of a bundle")
    _check(
        isinstance(entry, dict) and entry.keys() == {"sha256", "bytes"},
        f"files.{name} needs sha256 and bytes",
    )
    sha256, size = entry["sha256"], entry["bytes"]
    _check(isinstance(sha256, str) and _SHA256.fullmatch(sha256), f"files.{name}.sha256 is no sha256")
    _check(type(size) is int and 0 <= size <= _LARGEST_FILE, f"files.{name}.bytes is no size")
    return FileEntry(sha256, size)


def _check(holds: object, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    _check(len(fields) == len(pairs), "a key is there twice")
    return fields


def sha256_of(path: Path) -> str:
    """Hex digest of a file's bytes."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None
