"""One bundle as one tar file, for shipping. An archive is checked to its last byte before anything of it is written.

STAGE-KEY/manifest.json   first
STAGE-KEY/...             every file that the manifest lists, and nothing else
"""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import tarfile
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import IO

from artifacts.bundle import Bundle, open_bundle, sync
from artifacts.bundle_store import BundleStore
from artifacts.errors import ArchiveError, BundleError
from artifacts.format.manifest import FILE_NAME, LARGEST_MANIFEST, MANIFEST, NAME, Manifest, parse_manifest

#: A bundle has a few dozen files. An archive with more members than this is not read on.
MOST_MEMBERS = 10_000
_CHUNK = 1 << 20
_KINDS = {
    tarfile.DIRTYPE: "a folder",
    tarfile.SYMTYPE: "a symbolic link",
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}


def pack(bundle: Bundle, file: str | Path) -> Path:
    """Put a verified bundle into one uncompressed tar file (the same bytes every time)."""
    bundle.verify()
    path = Path(file)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with tarfile.open(temporary, "w", format=tarfile.PAX_FORMAT) as archive:
            for name in (MANIFEST, *sorted(bundle.manifest.files)):
                info = tarfile.TarInfo(f"{bundle.manifest.name}/{name}")
                info.size = (bundle.path / name).stat().st_size
                with (bundle.path / name).open("rb") as source:
                    archive.addfile(info, source)
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def unpack(file: str | Path, store: BundleStore) -> Bundle:
    """Install an archive of `pack` in a store, where the bundle appears whole.

    Raises
    ------
    ArchiveError
        Of a file that is not such an archive, or a damaged one. The store is left as it was.
    OSError
        Of a store that cannot be written.
    """
    path = Path(file)
    with _archive_errors(path, OSError):
        if not os.path.isfile(path):
            raise ArchiveError(f"{path}: {'not a file' if os.path.exists(path) else 'missing'}")
        archive = tarfile.open(path)  # noqa: SIM115 (closed below; the store's errors are not the archive's)
    with archive:
        with _archive_errors(path, OSError):
            contents = _check_archive(path, archive)
        if not store.has(contents.manifest.stage, contents.manifest.key):
            with store.active(["unpack"]):
                _install(path, archive, contents, store)
    return open_bundle(store.root / contents.manifest.name, verify="always")


@dataclass(frozen=True)
class _Contents:
    """A checked archive: its manifest, also as bytes, and the member of every other file."""

    manifest: Manifest
    manifest_bytes: bytes
    members: dict[str, tarfile.TarInfo]


#: What reading a tar file raises that is none, or a damaged one; it may be compressed.
_BROKEN: tuple[type[Exception], ...] = (
    tarfile.TarError,
    EOFError,
    ValueError,
    ArithmeticError,
    zlib.error,
    lzma.LZMAError,
)


@contextmanager
def _archive_errors(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Whatever goes wrong while an archive is read is an `ArchiveError` that names it."""
    try:
        yield
    except ArchiveError:
        raise
    except BundleError as error:
        raise ArchiveError(str(error)) from None
    except (*_BROKEN, *more) as error:
        reason = next(iter(str(getattr(error, "strerror", None) or error).splitlines()), type(error).__name__)
        raise ArchiveError(f"{path}: not a readable archive ({reason})") from None


def _check_archive(path: Path, archive: tarfile.TarFile) -> _Contents:
    folder, members = _members(path, archive)
    manifest_member = members.pop(MANIFEST, None)
    if manifest_member is None:
        raise ArchiveError(f"{path}: {folder}/{MANIFEST} is missing")
    if manifest_member.size > LARGEST_MANIFEST:
        raise ArchiveError(f"{path}: {folder}/{MANIFEST} has {manifest_member.size} bytes, too many")
    data = _content(archive, manifest_member).read()
    manifest = parse_manifest(data, f"{path}: {folder}/{MANIFEST}")
    if manifest.name != folder:
        raise ArchiveError(f"{path}: its folder is {folder}, the manifest says {manifest.name}")
    for name in sorted(members.keys() ^ manifest.files.keys()):
        problem = "is not in the manifest" if name in members else "is missing"
        raise ArchiveError(f"{path}: {folder}/{name} {problem}")
    for name, entry in manifest.files.items():
        if members[name].size != entry.bytes:
            sizes = f"{members[name].size} bytes, the manifest says {entry.bytes}"
            raise ArchiveError(f"{path}: {folder}/{name} has {sizes}")
    for name, entry in manifest.files.items():
        if _sha256(_content(archive, members[name])) != entry.sha256:
            raise ArchiveError(
                f"{path}: {folder}/{name}: altered (its sha256 is not the one in the manifest)"
            )
    return _Contents(manifest, data, members)


def _members(path: Path, archive: tarfile.TarFile) -> tuple[str, dict[str, tarfile.TarInfo]]:
    """The folder of an archive and its members by file name; all are plain files of one folder."""
    found: dict[str, tarfile.TarInfo] = {}
    folders: set[str] = set()
    for number, member in enumerate(archive):
        if number >= MOST_MEMBERS:
            raise ArchiveError(f"{path}: more than {MOST_MEMBERS} members, so not an archive of one bundle")
        if not member.isreg() or member.issparse():
            kind = _KINDS.get(member.type, "no plain file")
            raise ArchiveError(f"{path}: member {shown(member.name)} is {kind}; a bundle has files only")
        folder, _, name = member.name.removeprefix("./").partition("/")
        if not (_is_folder(folder) and FILE_NAME.fullmatch(name)):
            raise ArchiveError(f"{path}: member {shown(member.name)} is not named like STAGE-KEY/FILE")
        if name in found:
            raise ArchiveError(f"{path}: member {shown(member.name)} is there twice")
        found[name] = member
        folders.add(folder)
        if len(folders) > 1:
            raise ArchiveError(
                f"{path}: not an archive of one bundle; it has {' and '.join(sorted(folders))}"
            )
    if not folders:
        raise ArchiveError(f"{path}: not an archive of one bundle; it is empty")
    return folders.pop(), found


def _is_folder(name: str) -> bool:
    """Whether a folder is named after a stage and a key."""
    stage, dash, key = name.partition("-")
    return bool(dash and NAME.fullmatch(stage) and NAME.fullmatch(key))


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    source = archive.extractfile(member)
    assert source is not None  # it is a plain file
    return source


def _install(path: Path, archive: tarfile.TarFile, contents: _Contents, store: BundleStore) -> None:
    manifest = contents.manifest
    staging = store.root / ".tmp" / f"unpack.{os.getpid()}.{uuid.uuid4().hex[:8]}"
    staging.mkdir(parents=True)
    try:
        for name, member in contents.members.items():
            with (staging / name).open("wb") as target, _archive_errors(path):
                digest = _sha256(_content(archive, member), target)
            if digest != manifest.files[name].sha256:
                raise ArchiveError(f"{path}: changed while it was read")
        (staging / MANIFEST).write_bytes(contents.manifest_bytes)
        for name in (*contents.members, MANIFEST, "."):
            sync(staging / name)
        store.appear(staging, store.path(manifest.stage, manifest.key))
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _sha256(source: IO[bytes], copy: IO[bytes] | None = None) -> str:
    """Hex digest of what is left of a file, which is copied on the way."""
    digest = hashlib.sha256()
    while chunk := source.read(_CHUNK):
        digest.update(chunk)
        if copy is not None:
            copy.write(chunk)
    return digest.hexdigest()
