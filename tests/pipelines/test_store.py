"""`python -m pipelines.store` with bad files and bad stores: one line, an exit code, nothing written."""

from __future__ import annotations

import errno
import io
import signal
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from artifacts.archive import pack
from artifacts.bundle_store import BundleStore
from pipelines import store as store_commands
from pipelines.run.command import run_app


class Done(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Command]:
    """`command("gc", "store.root=DIR")`: the command as a person types it, in this process."""
    before = signal.getsignal(signal.SIGTERM)

    def run(*words: str) -> Done:
        monkeypatch.setattr("sys.argv", ["store", *words])
        with pytest.raises(SystemExit) as done:
            run_app(store_commands.app)
        return Done(int(done.value.code or 0), *capsys.readouterr())

    yield run
    signal.signal(signal.SIGTERM, before)


def refused(done: Done, message: str, code: int = 2) -> None:
    assert (done.code, done.out) == (code, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1


def commit(root: Path, **changes: Any) -> Path:
    fields: dict[str, Any] = {"stage": "a", "key": "1", "code": "", "config": {}, "inputs": {}, "metrics": {}}
    return BundleStore(root).commit({"t": {"x": np.arange(5)}}, **(fields | changes)).path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive of bundle a-1."""
    folder = commit(tmp_path / "packed")
    return pack(store_commands.open_bundle(folder), tmp_path / "a.tar")


def with_member(file: Path, name: str, kind: bytes = tarfile.REGTYPE) -> None:
    info = tarfile.TarInfo(name)
    info.type = kind
    with tarfile.open(file, "a") as opened:
        opened.addfile(info, io.BytesIO())


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("a-1/extra", tarfile.REGTYPE, "a-1/extra is not in the manifest"),
        ("a-1/..", tarfile.REGTYPE, "member 'a-1/..' is not named like STAGE-KEY/FILE"),
        ("/etc/x", tarfile.REGTYPE, "member '/etc/x' is not named like STAGE-KEY/FILE"),
        ("a-1/" + "x" * 300, tarfile.REGTYPE, "member 'a-1/xxx"),
        ("a-1/t.arrow", tarfile.REGTYPE, "member 'a-1/t.arrow' is there twice"),
        ("a-1/link", tarfile.SYMTYPE, "member 'a-1/link' is a symbolic link"),
        ("a-1/device", tarfile.CHRTYPE, "member 'a-1/device' is a device"),
    ],
)
def test_a_crafted_archive_is_one_line_exit_2_and_no_store(
    command: Command, archive: Path, tmp_path: Path, name: str, kind: bytes, message: str
) -> None:
    with_member(archive, name, kind)
    refused(command("unpack", str(archive), f"store.root={tmp_path}/store"), f"{archive}: {message}")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\0" * 10_240, b"\x1f\x8b\x08 no gzip", b"PK\3\4 a zip file"]
)
def test_a_file_that_is_no_archive_is_one_line_exit_2_and_no_store(
    command: Command, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "a.tar"
    file.write_bytes(content)
    refused(command("unpack", str(file), f"store.root={tmp_path}/store"), f"{file}: not a")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]


@pytest.mark.parametrize("name", ["nothing.tar", "folder", "x" * 300, "a.tar/x"])
def test_a_name_that_is_no_file_is_one_line_exit_2(command: Command, archive: Path, name: str) -> None:
    (archive.parent / "folder").mkdir()
    file = archive.parent / name
    refused(command("unpack", str(file), f"store.root={archive.parent}/store"), f"{file}: no such file")
    assert not (archive.parent / "store").exists()


@pytest.mark.parametrize(
    ("words", "root", "message"),
    [
        (("unpack", "ARCHIVE"), "a.tar", "store.root: "),
        (("unpack", "ARCHIVE"), "a.tar/below", "store.root: "),
        (("unpack", "ARCHIVE"), "x" * 300, "store.root: "),
        (("gc",), "a.tar", "store.root: ROOT is not a folder"),
        (("list",), "a.tar/below", "store.root: ROOT does not exist"),
        (("verify",), "x" * 300, "store.root: ROOT does not exist"),
    ],
)
def test_a_store_that_cannot_be_one_is_one_line_exit_2(
    command: Command, archive: Path, words: tuple[str, ...], root: str, message: str
) -> None:
    place = archive.parent / root
    before = sorted(path.name for path in archive.parent.iterdir())
    given = [str(archive) if word == "ARCHIVE" else word for word in words]
    refused(command(*given, f"store.root={place}"), message.replace("ROOT", str(place)))
    assert sorted(path.name for path in archive.parent.iterdir()) == before


def test_a_read_only_store_is_one_line_and_stays_as_it_is(
    command: Command, archive: Path, unprivileged: Callable[[], AbstractContextManager[Path]]
) -> None:
    data = archive.read_bytes()
    assert command("list", f"store.root={archive.parent}/packed").code == 0  # everything is imported as root
    with unprivileged() as folder:
        root = folder / "store"
        commit(root, key="2")
        (root / ".tmp" / "left").mkdir(parents=True)
        (folder / "a.tar").write_bytes(data)
        for path in (root, *root.rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)
        before = sorted(root.rglob("*"))
        here = f"store.root={root}"
        refused(command("gc", here), f"store.root: {root} is not writable")
        refused(command("gc", "--keep", "0", here), f"store.root: {root} is not writable")
        root.chmod(0o700)
        refused(command("gc", "--keep", "0", here), f"store.root: {root}")
        root.chmod(0o500)
        unpacked = command("unpack", str(folder / "a.tar"), here)
        refused(unpacked, "store.root: ")
        assert str(root) in unpacked.err
        assert "Permission denied" in unpacked.err
        assert command("gc", "--dry-run", here).code == 0
        assert command("list", here).code == 0
        root.chmod(0)
        refused(command("verify", here), f"store.root: {root}: Permission denied")
        root.chmod(0o500)
        assert sorted(root.rglob("*")) == before


def test_a_full_disk_is_not_the_users_mistake(
    command: Command, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "somewhere")

    monkeypatch.setattr("artifacts.archive.sync", full)
    done = command("unpack", str(archive), f"store.root={archive.parent}/store")
    refused(done, "store.root: somewhere: No space left on device", code=1)
    assert BundleStore(archive.parent / "store").bundles() == []
    assert list((archive.parent / "store" / ".tmp").iterdir()) == []


def test_an_archive_cannot_be_written_over_a_folder(command: Command, tmp_path: Path) -> None:
    bundle = commit(tmp_path / "store")
    (tmp_path / "out").mkdir()
    done = command("pack", str(bundle), str(tmp_path / "out"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert str(tmp_path / "out") in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "store"]


def test_verify_names_what_is_damaged_or_misnamed(command: Command, tmp_path: Path) -> None:
    for key in "123":
        commit(tmp_path, key=key)
    (tmp_path / "a-1" / "manifest.json").write_bytes(b"\xff")
    (tmp_path / "a-2").rename(tmp_path / "a-9")
    done = command("verify", f"store.root={tmp_path}")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0].startswith(f"damaged  a-1: {tmp_path}/a-1/manifest.json: not a valid manifest")
    assert lines[1:3] == [
        "ok       a-3",
        f"damaged  a-9: {tmp_path}/a-9: holds bundle a-2, so it has the wrong name",
    ]
    assert lines[3] == "1 of 3 bundles are whole"
