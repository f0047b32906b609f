"""`python -m pipelines.store list|verify|gc|pack|unpack`: look after the artifact store."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from artifacts.archive import pack, unpack
from artifacts.bundle import Bundle, open_bundle
from artifacts.bundle_store import BundleStore
from artifacts.errors import ArchiveError, BundleError
from pipelines.commands.options import writable
from pipelines.config.composition import compose_config
from pipelines.run.command import FAILED, run_app
from pipelines.run.errors import UserError
from pipelines.run.progress import plain_console, size

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
#: What a disk, not a person, does wrong.
MACHINE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
Overrides = Annotated[list[str] | None, typer.Argument(help="config overrides, for example store.root=DIR")]


def _store(overrides: list[str] | None) -> BundleStore:
    store = BundleStore(compose_config(overrides or []).store.root)
    if not os.path.isdir(store.root):
        found = "is not a folder" if os.path.exists(store.root) else "does not exist; a run creates it"
        raise UserError(f"store.root: {store.root} {found}")
    return store


@contextmanager
def _user_files(name: str) -> Iterator[None]:
    """Files that cannot be read or written here are the user's mistake; a full or failing disk is not."""
    try:
        yield
    except OSError as error:
        where = f"{name}: {error.filename}" if error.filename else name
        kind = BundleError if error.errno in MACHINE_ERRORS else UserError
        raise kind(f"{where}: {error.strerror or error}") from None


def _find(store: BundleStore, bundle: str) -> Bundle:
    """A bundle by folder, by its name in the store, or by the start of its name."""
    if (Path(bundle) / "manifest.json").is_file():
        return open_bundle(bundle, verify="never")
    names = [m.name for m in store.bundles() if m.name.startswith(bundle)]
    if len(names) != 1:
        found = f"matches {len(names)} bundles" if names else "is no bundle"
        raise UserError(f"{bundle}: {found} of {store.root}; `python -m pipelines.store list` shows them")
    return open_bundle(store.root / names[0], verify="never")


@app.command("list")
def list_bundles(overrides: Overrides = None) -> None:
    """List the finished bundles, oldest use first."""
    store = _store(overrides)
    table = Table("bundle", "size", "files", "made from")
    with _user_files("store.root"):
        manifests = store.bundles()
    stage_of = {manifest.key: manifest.stage for manifest in manifests}
    for manifest in manifests:
        inputs = ", ".join(f"{stage_of.get(key, 'gone')}-{key[:6]}" for key in manifest.inputs.values())
        table.add_row(manifest.name, size(manifest.total_bytes), str(len(manifest.files)), inputs)
    plain_console().print(table)
    total = sum(manifest.total_bytes for manifest in manifests)
    print(f"{len(manifests)} bundles, {size(total)} in {os.path.relpath(store.root)}")


@app.command()
def verify(overrides: Overrides = None) -> None:
    """Hash every file of every bundle against its manifest; exit 1 when any differs."""
    store = _store(overrides)
    with _user_files("store.root"):
        folders = sorted(
            f for f in store.root.iterdir() if f.is_dir() and not f.name.startswith(".") and "-" in f.name
        )
    damaged = 0
    for folder in folders:
        try:
            name = open_bundle(folder, verify="always").manifest.name
            if name != folder.name:
                raise BundleError(f"{folder}: holds bundle {name}, so it has the wrong name")
            print(f"ok       {folder.name}")
        except BundleError as error:
            damaged += 1
            print(f"damaged  {folder.name}: {error}")
    print(f"{len(folders) - damaged} of {len(folders)} bundles are whole")
    if damaged:
        print("remove a damaged folder and run the pipeline again: it computes what is missing")
        raise typer.Exit(FAILED)


@app.command()
def gc(
    overrides: Overrides = None,
    keep: Annotated[
        int | None, typer.Option(min=0, help="keep only the last KEEP results and their inputs")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would go, remove nothing")] = False,
) -> None:
    """Remove leftovers of dead runs (half-written bundles, checkpoints) and, with --keep, old bundles."""
    store = _store(overrides)
    if not dry_run and not os.access(store.root, os.W_OK):
        raise UserError(f"store.root: {store.root} is not writable")
    with _user_files("store.root"):
        report = store.gc(keep=keep, dry_run=dry_run)
    for name in report.removed:
        print(f"{'would remove' if dry_run else 'removed'} {name}")
    print(f"{len(report.removed)} folders, {size(report.freed_bytes)} {'to free' if dry_run else 'freed'}")


@app.command("pack")
def pack_bundle(
    bundle: Annotated[str, typer.Argument(help="folder or name of a bundle (a unique start will do)")],
    file: Annotated[Path, typer.Argument(help="archive to write, for example blueprint.tar")],
    overrides: Overrides = None,
) -> None:
    """Put one bundle into a single file, for shipping."""
    writable(file)
    found = _find(BundleStore(compose_config(overrides or []).store.root), bundle)
    with _user_files(str(file)):
        pack(found, file)
    print(f"packed {found.manifest.name} into {file}, {size(file.stat().st_size)}")


@app.command("unpack")
def unpack_bundle(
    file: Annotated[Path, typer.Argument(help="archive written by pack")], overrides: Overrides = None
) -> None:
    """Verify an archive and put its bundle into the store."""
    store = BundleStore(compose_config(overrides or []).store.root)
    if not os.path.isfile(file):
        raise UserError(f"{file}: no such file")
    try:
        with _user_files("store.root"):
            bundle = unpack(file, store)
    except ArchiveError as error:
        raise UserError(str(error)) from None
    print(f"bundle: {os.path.relpath(bundle.path)}")


if __name__ == "__main__":
    run_app(app)
