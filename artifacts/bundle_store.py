"""A folder of bundles, addressed by stage and key, safe for several processes at once.

root/flops-4c0a.../manifest.json   a finished bundle; its folder appears by one rename
root/.tmp/                         bundles being written
root/.checkpoints/flops-4c0a.../   what an unfinished stage has saved so far
root/.pictures/flops-4c0a.../      drawings of a finished bundle; losing them costs drawing them again
root/.runs/export-4c0a....json     the run that made or last used a bundle, for captions
root/.locks/                       one lock file per key: whoever computes it holds the lock
root/.active/                      one file per live run, with the bundles it needs (kept from `gc`)
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from artifacts.bundle import Bundle, open_bundle, sync, write_bundle
from artifacts.errors import BundleError
from artifacts.format.arrow_file import Column
from artifacts.format.manifest import MANIFEST, Manifest, read_manifest


@dataclass(frozen=True)
class GcReport:
    """What `gc` removed, or would remove."""

    removed: tuple[str, ...]
    freed_bytes: int


class BundleStore:
    """Reads, commits, lists and prunes the bundles under `root`."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def path(self, stage: str, key: str) -> Path:
        """Folder of the bundle of `stage` with `key`."""
        return self.root / f"{stage}-{key}"

    def has(self, stage: str, key: str) -> bool:
        """Whether the bundle is finished."""
        return (self.path(stage, key) / MANIFEST).is_file()

    def open(self, stage: str, key: str) -> Bundle:
        """Open a finished bundle, verified on first open."""
        return open_bundle(self.path(stage, key))

    @contextmanager
    def lock(self, stage: str, key: str, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
        """Hold the right to compute a key. The lock dies with its process, however that ends."""
        folder = self.root / ".locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{stage}-{key}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if on_wait:
                on_wait()
            lock.acquire(poll_interval=0.2)
        try:
            yield
        finally:
            lock.release()

    def commit(
        self,
        tables: Mapping[str, Mapping[str, Column]],
        *,
        texts: Mapping[str, str] | None = None,
        stage: str,
        key: str,
        code: str,
        config: Mapping[str, Any],
        inputs: Mapping[str, str],
        metrics: Mapping[str, float],
    ) -> Bundle:
        """Write a bundle under a temporary name, sync it, and make it appear by one rename."""
        staging = self.root / ".tmp" / f"{stage}-{key}.{os.getpid()}.{uuid.uuid4().hex[:8]}"
        staging.mkdir(parents=True)
        try:
            write_bundle(
                staging,
                tables,
                texts=texts,
                stage=stage,
                key=key,
                code=code,
                config=config,
                inputs=inputs,
                metrics=metrics,
            )
            self._appear(staging, self.path(stage, key))
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        shutil.rmtree(self.checkpoints(stage, key), ignore_errors=True)
        return self.open(stage, key)

    def _appear(self, staging: Path, final: Path) -> None:
        try:
            staging.rename(final)
        except OSError:
            if not (final / MANIFEST).is_file():
                raise
        sync(final.parent)

    def pictures(self, stage: str, key: str) -> Path:
        """Folder for drawings of a finished bundle."""
        return self.root / ".pictures" / f"{stage}-{key}"

    def checkpoints(self, stage: str, key: str) -> Path:
        """Folder where an unfinished stage keeps what it has; removed when its bundle is committed."""
        return self.root / ".checkpoints" / f"{stage}-{key}"

    def discard_leftovers(self, stage: str, key: str) -> None:
        """Remove half-written copies of a key. Call with its lock held."""
        for folder in (self.root / ".tmp").glob(f"{stage}-{key}.*"):
            shutil.rmtree(folder, ignore_errors=True)

    def bundles(self) -> list[Manifest]:
        """Manifests of all finished bundles, oldest use first."""
        folders = [
            path.parent for path in self.root.glob(f"*/{MANIFEST}") if not path.parent.name.startswith(".")
        ]
        return [
            read_manifest(folder) for folder in sorted(folders, key=lambda f: (f.stat().st_mtime_ns, f.name))
        ]

    def mark_used(self, stage: str, key: str) -> None:
        """Remember that a bundle was used now (the order in which `gc` keeps bundles)."""
        os.utime(self.path(stage, key))

    @contextmanager
    def active(self, names: Iterable[str]) -> Iterator[None]:
        """Keep the named bundles and checkpoints from `gc` for as long as this process lives."""
        folder = self.root / ".active"
        folder.mkdir(parents=True, exist_ok=True)
        record = folder / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.json"
        lock = FileLock(record.with_suffix(".lock"))
        with lock:
            record.write_text(json.dumps(sorted(names)))
            try:
                yield
            finally:
                record.unlink(missing_ok=True)
        Path(lock.lock_file).unlink(missing_ok=True)

    def _in_use(self) -> set[str]:
        names: set[str] = set()
        for record in (self.root / ".active").glob("*.json"):
            lock = FileLock(record.with_suffix(".lock"))
            try:
                with lock.acquire(timeout=0):
                    record.unlink(missing_ok=True)
                Path(lock.lock_file).unlink(missing_ok=True)
            except Timeout:
                names.update(json.loads(record.read_text()))
        return names

    def gc(self, *, keep: int | None = None, dry_run: bool = False) -> GcReport:
        """Remove leftovers of dead runs and, with `keep`, all but what the newest results need.

        Parameters
        ----------
        keep : keep the `keep` most recently used results (bundles that no other bundle was made from) and
            everything they were made from. None keeps every finished bundle.
        """
        in_use = self._in_use()
        doomed = [
            folder for folder in (self.root / ".tmp").glob("*") if folder.name.split(".")[0] not in in_use
        ]
        doomed += [folder for folder in (self.root / ".checkpoints").glob("*") if folder.name not in in_use]
        if keep is not None:
            needed = _closure(self.bundles(), keep) | in_use
            doomed += [self.root / m.name for m in self.bundles() if m.name not in needed]
            doomed += [folder for folder in (self.root / ".pictures").glob("*") if folder.name not in needed]
        report = GcReport(
            tuple(str(folder.relative_to(self.root)) for folder in doomed),
            sum(file.stat().st_size for folder in doomed for file in folder.rglob("*") if file.is_file()),
        )
        if not dry_run:
            for folder in doomed:
                # The manifest goes first: a bundle is either whole or not there.
                (folder / MANIFEST).unlink(missing_ok=True)
                shutil.rmtree(folder)
        return report


def _closure(manifests: list[Manifest], keep: int) -> set[str]:
    """Names of the last `keep` results and of everything they were made from."""
    by_key = {manifest.key: manifest for manifest in manifests}
    used = {key for manifest in manifests for key in manifest.inputs.values()}
    results = [manifest for manifest in manifests if manifest.key not in used]
    todo = results[max(0, len(results) - keep) :]
    names: set[str] = set()
    while todo:
        manifest = todo.pop()
        if manifest.name not in names:
            names.add(manifest.name)
            todo += [by_key[key] for key in manifest.inputs.values() if key in by_key]
    return names


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
    """Unpack an archive of `pack` into a store, verified before the bundle appears."""
    with store.active(["unpack"]):
        return _unpack(Path(file), store)


def _unpack(file: Path, store: BundleStore) -> Bundle:
    staging = store.root / ".tmp" / f"unpack.{os.getpid()}.{uuid.uuid4().hex[:8]}"
    try:
        with tarfile.open(file) as archive:
            members = archive.getmembers()
            folders = {Path(member.name).parent for member in members}
            if len(folders) != 1 or not all(m.isfile() and len(Path(m.name).parts) == 2 for m in members):
                raise BundleError(f"{file}: not an archive of one bundle")
            staging.mkdir(parents=True)
            for member in members:
                source = archive.extractfile(member) or io.BytesIO()
                with (staging / Path(member.name).name).open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        manifest = read_manifest(staging)
        if folders != {Path(manifest.name)}:
            raise BundleError(f"{file}: its folder is {folders.pop()}, the manifest says {manifest.name}")
        try:
            open_bundle(staging, verify="always")
        except BundleError as error:
            raise BundleError(f"{file}: {str(error).removeprefix(f'{staging}/')}") from None
        for name in (*manifest.files, MANIFEST):
            sync(staging / name)
        store._appear(staging, store.root / manifest.name)
        return open_bundle(store.root / manifest.name, verify="always")
    except (tarfile.TarError, EOFError) as error:
        raise BundleError(f"{file}: not a readable archive ({error})") from None
    except FileNotFoundError:
        raise BundleError(f"{file}: missing") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
