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

import json
import os
import shutil
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

#: Stages whose bundles answer questions about a result: they are no results, and are kept as long as theirs is.
ANSWERS = ("resolved_flop", "subgame", "match_hands", "lbr_hands", "flop_spot")


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
        bundle = open_bundle(self.path(stage, key))
        if bundle.manifest.name != bundle.path.name:
            raise BundleError(
                f"{bundle.path / MANIFEST}: of bundle {bundle.manifest.name}, so its folder has the wrong name"
            )
        return bundle

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
            self.appear(staging, self.path(stage, key))
        finally:
            shutil.rmtree(staging, ignore_errors=True)
        shutil.rmtree(self.checkpoints(stage, key), ignore_errors=True)
        return self.open(stage, key)

    def appear(self, staging: Path, final: Path) -> None:
        """Give a finished folder its name in the store; a bundle that is there already stays."""
        if final.is_dir() and not (final / MANIFEST).is_file():
            # What a removal left behind that was cut short: out of the way, for `gc`.
            final.rename(staging.with_name(f"{staging.name}.old"))
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
        """Manifests of all finished bundles, oldest use first.

        A folder that has another name than its bundle, such as a copy that somebody made, is not one of them.
        """
        folders = [
            path.parent for path in self.root.glob(f"*/{MANIFEST}") if not path.parent.name.startswith(".")
        ]
        folders.sort(key=lambda folder: (folder.stat().st_mtime_ns, folder.name))
        manifests = [(folder, read_manifest(folder)) for folder in folders]
        return [manifest for folder, manifest in manifests if folder.name == manifest.name]

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
        try:
            with lock:
                record.write_text(json.dumps(sorted(names)))
                try:
                    yield
                finally:
                    record.unlink(missing_ok=True)
        finally:
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
                names.update(_names_in(record))
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


def _names_in(record: Path) -> list[str]:
    """Bundles that a live run keeps; none if it has just ended."""
    try:
        return [str(name) for name in json.loads(record.read_text())]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError):
        # Its bundles are unknown, so nothing may be removed.
        raise BundleError(f"{record}: not readable; the run that holds it may just be starting") from None


def _closure(manifests: list[Manifest], keep: int) -> set[str]:
    """Names of the last `keep` results and of everything they were made from."""
    by_key = {manifest.key: manifest for manifest in manifests}
    made = [manifest for manifest in manifests if manifest.stage not in ANSWERS]
    used = {key for manifest in made for key in manifest.inputs.values()}
    results = [manifest for manifest in made if manifest.key not in used]
    todo = results[max(0, len(results) - keep) :]
    names: set[str] = set()
    while todo:
        manifest = todo.pop()
        if manifest.name not in names:
            names.add(manifest.name)
            todo += [by_key[key] for key in manifest.inputs.values() if key in by_key]
    kept = {manifest.key for manifest in made if manifest.name in names}
    answers = [manifest for manifest in manifests if manifest.stage in ANSWERS]
    # An answer may go on from another one, as the solve of a turn does from that of its flop.
    while found := [
        each for each in answers if each.name not in names and kept.issuperset(each.inputs.values())
    ]:
        names |= {answer.name for answer in found}
        kept |= {answer.key for answer in found}
    return names
