"""An archive gives back the bundle that was packed, or one line about the file and an untouched store."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from artifacts import BundleError
from artifacts.archive import pack, unpack
from artifacts.bundle import Bundle
from artifacts.bundle_store import BundleStore
from artifacts.errors import ArchiveError

#: Name, contents, and what else the header says.
Member = tuple[str, bytes, dict[str, Any]]
Signed = Callable[[dict[str, Any]], bytes]


def commit(store: BundleStore, stage: str, key: str, rows: int = 10) -> Bundle:
    fields = {"code": "c", "config": {"rows": rows}, "inputs": {}, "metrics": {"rows": rows}}
    return store.commit({"t": {"x": np.arange(rows)}, "u": {"x": [stage]}}, stage=stage, key=key, **fields)


def test_pack_and_unpack_give_the_same_bundle(tmp_path: Path) -> None:
    bundle = commit(BundleStore(tmp_path / "one"), "a", "1")
    archive = pack(bundle, tmp_path / "a.tar")
    assert archive.read_bytes() == pack(bundle, tmp_path / "b.tar").read_bytes()
    copy = unpack(archive, BundleStore(tmp_path / "two"))
    assert copy.manifest == bundle.manifest
    assert (copy.path / "t.arrow").read_bytes() == (bundle.path / "t.arrow").read_bytes()


@pytest.mark.parametrize("damage", ["truncate", "alter", "not a tar"])
def test_a_damaged_archive_is_refused_and_leaves_nothing(tmp_path: Path, damage: str) -> None:
    bundle = commit(BundleStore(tmp_path / "one"), "a", "1", rows=10_000)
    archive = pack(bundle, tmp_path / "a.tar")
    data = bytearray(archive.read_bytes())
    if damage == "truncate":
        data = data[: len(data) // 2]
    elif damage == "alter":
        data[data.index(b"ARROW1") + 700] ^= 1
    else:
        data = bytearray(b"hello")
    archive.write_bytes(bytes(data))
    store = BundleStore(tmp_path / "two")
    with pytest.raises(BundleError, match=r"a\.tar"):
        unpack(archive, store)
    assert store.bundles() == []
    assert not any((store.root / ".tmp").glob("*"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Member]:
    """The members of an archive of bundle `a-1`: manifest.json, t.arrow and u.arrow."""
    folder = tmp_path_factory.mktemp("whole")
    archive = pack(commit(BundleStore(folder / "store"), "a", "1"), folder / "a.tar")
    with tarfile.open(archive) as opened:
        return [(member.name, opened.extractfile(member).read(), {}) for member in opened]


def write_tar(path: Path, members: list[Member]) -> Path:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, data, header in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for field, value in header.items():
                setattr(info, field, value)
            archive.addfile(info, io.BytesIO(data))
    return path


def everything(folder: Path) -> list[str]:
    """Whatever lies under a folder, and its contents."""
    return sorted(f"{path}: {path.read_bytes() if path.is_file() else ''}" for path in folder.rglob("*"))


def link(kind: bytes, target: str = "../../etc/passwd") -> dict[str, Any]:
    return {"type": kind, "linkname": target}


EXTRA: list[tuple[str, Member, str]] = [
    ("unlisted", ("a-1/extra.arrow", b"x", {}), "a-1/extra.arrow is not in the manifest"),
    ("symbolic link", ("a-1/l", b"", link(tarfile.SYMTYPE)), "member 'a-1/l' is a symbolic link"),
    ("hard link", ("a-1/l", b"", link(tarfile.LNKTYPE, "a-1/t.arrow")), "member 'a-1/l' is a hard link"),
    ("folder", ("a-1", b"", {"type": tarfile.DIRTYPE}), "member 'a-1' is a folder"),
    ("character device", ("a-1/d", b"", {"type": tarfile.CHRTYPE}), "member 'a-1/d' is a device"),
    ("block device", ("a-1/d", b"", {"type": tarfile.BLKTYPE}), "member 'a-1/d' is a device"),
    ("pipe", ("a-1/p", b"", {"type": tarfile.FIFOTYPE}), "member 'a-1/p' is a pipe"),
    ("sparse", ("a-1/s", b"", {"type": tarfile.GNUTYPE_SPARSE}), ""),
    ("absolute", ("/a-1/x", b"x", {}), "member '/a-1/x' is not named like STAGE-KEY/FILE"),
    ("parent", ("a-1/..", b"x", {}), "member 'a-1/..' is not named like STAGE-KEY/FILE"),
    ("itself", ("a-1/.", b"x", {}), "member 'a-1/.' is not named like STAGE-KEY/FILE"),
    ("parent of parent", ("../x", b"x", {}), "member '../x' is not named like STAGE-KEY/FILE"),
    ("up and down", ("a-1/../a-1/x", b"x", {}), "is not named like STAGE-KEY/FILE"),
    ("deeper", ("a-1/b/x", b"x", {}), "member 'a-1/b/x' is not named like STAGE-KEY/FILE"),
    ("hidden", ("a-1/.x", b"x", {}), "member 'a-1/.x' is not named like STAGE-KEY/FILE"),
    ("over-long", ("a-1/" + "x" * 300, b"x", {}), "is not named like STAGE-KEY/FILE"),
    ("over-long folder", ("a-" + "1" * 5000 + "/x", b"x", {}), "is not named like STAGE-KEY/FILE"),
    ("line break", ("a-1/x\ny", b"x", {}), r"member 'a-1/x\ny' is not named like STAGE-KEY/FILE"),
    ("twice", ("a-1/t.arrow", b"x", {}), "member 'a-1/t.arrow' is there twice"),
    ("twice by another name", ("./a-1/t.arrow", b"x", {}), "member './a-1/t.arrow' is there twice"),
    ("another folder", ("b-1/x", b"x", {}), "not an archive of one bundle; it has a-1 and b-1"),
    ("no folder", ("x", b"x", {}), "member 'x' is not named like STAGE-KEY/FILE"),
]


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize(("member", "message"), [pytest.param(m, t, id=name) for name, m, t in EXTRA])
def test_a_member_that_does_not_belong_to_the_bundle_is_refused_and_nothing_is_written(
    tmp_path: Path, whole: list[Member], member: Member, message: str, stored: bool
) -> None:
    file = write_tar(tmp_path / "a.tar", [*whole, member])
    store = BundleStore(tmp_path / "sub" / "store")
    if stored:
        commit(store, "other", "1")
    before = everything(tmp_path)
    with pytest.raises(ArchiveError) as error:
        unpack(file, store)
    text = str(error.value)
    assert text.startswith(f"{file}: ")
    assert message in text
    assert len(text.removeprefix(str(file))) < 200
    assert "\n" not in text
    assert ".tmp" not in text
    assert everything(tmp_path) == before


def change_manifest(whole: list[Member], signed: Signed, **fields: Any) -> list[Member]:
    (name, data, header), *rest = whole
    return [(name, signed(json.loads(data) | fields), header), *rest]


def renamed(members: list[Member], folder: str) -> list[Member]:
    return [(f"{folder}/{name.partition('/')[2]}", data, header) for name, data, header in members]


def forged(whole: list[Member], signed: Signed) -> Iterator[tuple[list[Member], str]]:
    """Archives that are wrong in one way, and what is said about each."""
    manifest, t, u = whole
    files = json.loads(manifest[1])["files"]
    flipped = bytearray(t[1])
    flipped[len(flipped) // 2] ^= 1
    spoiled = bytearray(manifest[1])
    spoiled[len(spoiled) // 2] ^= 1
    yield [], "not an archive of one bundle; it is empty"
    yield [t, u], "a-1/manifest.json is missing"
    yield [manifest, u], "a-1/t.arrow is missing"
    yield renamed(whole, "b-1"), "its folder is b-1, the manifest says a-1"
    yield renamed(whole, "a-2"), "its folder is a-2, the manifest says a-1"
    yield renamed(whole, ".a-1"), "is not named like STAGE-KEY/FILE"
    yield renamed(whole, ".locks"), "is not named like STAGE-KEY/FILE"
    yield change_manifest(whole, signed, key="2"), "its folder is a-1, the manifest says a-2"
    hidden = change_manifest(whole, signed, stage=".a")
    yield hidden, "a-1/manifest.json: not a valid manifest (stage '.a' is no name"
    yield change_manifest(whole, signed, stage="../a"), "a-1/manifest.json: not a valid manifest"
    listed = {"../x": files["t.arrow"]}
    yield change_manifest(whole, signed, files=files | listed), "file name '../x' leaves the bundle"
    more = {"v.arrow": files["t.arrow"]}
    yield change_manifest(whole, signed, files=files | more), "a-1/v.arrow is missing"
    small = {"t.arrow": files["t.arrow"] | {"bytes": 1}}
    sizes = f"a-1/t.arrow has {len(t[1])} bytes, the manifest says 1"
    yield change_manifest(whole, signed, files=files | small), sizes
    yield [manifest, (t[0], t[1] + b"x", {}), u], f"a-1/t.arrow has {len(t[1]) + 1} bytes"
    yield [manifest, (t[0], bytes(flipped), {}), u], "a-1/t.arrow: altered"
    yield [(manifest[0], bytes(spoiled), {}), t, u], "a-1/manifest.json: "
    yield [(manifest[0], b"\xff", {}), t, u], "a-1/manifest.json: not a valid manifest"
    yield [(manifest[0], b" " * ((16 << 20) + 1), {}), t, u], "a-1/manifest.json has 16777217 bytes"
    yield [(f"a-1/x{n}", b"", {}) for n in range(10_001)], "more than 10000 members"


def test_a_forged_archive_is_refused_and_nothing_is_written(
    tmp_path: Path, whole: list[Member], signed: Signed
) -> None:
    store = BundleStore(tmp_path / "store")
    for members, message in forged(whole, signed):
        file = write_tar(tmp_path / "a.tar", members)
        with pytest.raises(ArchiveError) as error:
            unpack(file, store)
        text = str(error.value)
        assert text.startswith(f"{file}: ")
        assert message in text
        assert "\n" not in text
        assert [path.name for path in tmp_path.iterdir()] == ["a.tar"]


def test_every_changed_bit_of_an_archive_is_found_or_harmless(tmp_path: Path, whole: list[Member]) -> None:
    data = bytearray(write_tar(tmp_path / "a.tar", whole).read_bytes())
    files = {name.removeprefix("a-1/"): content for name, content, _ in whole}
    rng = np.random.default_rng(5)
    refused = 0
    for place in rng.integers(len(data), size=100).tolist():
        bit = 1 << int(rng.integers(8))
        data[place] ^= bit
        (tmp_path / "a.tar").write_bytes(data)
        data[place] ^= bit
        store = BundleStore(tmp_path / str(place))
        try:
            folder = unpack(tmp_path / "a.tar", store).path
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
        except ArchiveError:
            refused += 1
            assert not store.root.exists()
    assert refused > 7


@pytest.mark.parametrize("cut", [0, 1, 511, 512, 600, 2000])
def test_a_file_cut_short_is_no_archive(tmp_path: Path, whole: list[Member], cut: int) -> None:
    file = write_tar(tmp_path / "a.tar", whole)
    os.truncate(file, cut)
    with pytest.raises(ArchiveError, match=r"a\.tar: "):
        unpack(file, BundleStore(tmp_path / "store"))
    assert not (tmp_path / "store").exists()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    store = BundleStore(tmp_path / "store")
    for name, message in (
        ("folder", "not a file"),
        ("pipe", "not a file"),
        ("x", "missing"),
        ("x" * 300, "missing"),
    ):
        with pytest.raises(ArchiveError, match=f"{name}: {message}"):
            unpack(tmp_path / name, store)
    assert not store.root.exists()


def test_a_compressed_archive_is_read_and_a_damaged_one_refused(tmp_path: Path, whole: list[Member]) -> None:
    data = gzip.compress(write_tar(tmp_path / "a.tar", whole).read_bytes())
    file = tmp_path / "a.tar.gz"
    file.write_bytes(data)
    assert unpack(file, BundleStore(tmp_path / "store")).manifest.name == "a-1"
    for bad in (data[: len(data) // 2], data[:40] + b"\xff" * 40 + data[80:]):
        file.write_bytes(bad)
        with pytest.raises(ArchiveError, match=r"a\.tar\.gz: "):
            unpack(file, BundleStore(tmp_path / "other"))
    assert not (tmp_path / "other").exists()


def test_a_bundle_that_is_there_already_stays_and_is_verified(tmp_path: Path, whole: list[Member]) -> None:
    file = write_tar(tmp_path / "a.tar", whole)
    store = BundleStore(tmp_path / "store")
    inode = (unpack(file, store).path / "t.arrow").stat().st_ino
    assert (unpack(file, store).path / "t.arrow").stat().st_ino == inode
    os.truncate(store.root / "a-1" / "t.arrow", 5)
    with pytest.raises(BundleError, match=r"store/a-1/t\.arrow: 5 bytes"):
        unpack(file, store)


def test_a_folder_that_lost_its_manifest_gives_way(tmp_path: Path, whole: list[Member]) -> None:
    file = write_tar(tmp_path / "a.tar", whole)
    store = BundleStore(tmp_path / "store")
    (unpack(file, store).path / "manifest.json").unlink()
    assert unpack(file, store)["t"]["x"].tolist() == list(range(10))
    assert (commit(store, "b", "1").path / "manifest.json").unlink() is None
    assert len(commit(store, "b", "1")["t"]) == 10
    store.gc()
    assert list((store.root / ".tmp").iterdir()) == []


def test_a_store_that_cannot_be_written_is_not_the_fault_of_the_archive(
    whole: list[Member], unprivileged: Callable[[], AbstractContextManager[Path]]
) -> None:
    with unprivileged() as folder:
        file = write_tar(folder / "a.tar", whole)
        (folder / "store").mkdir()
        (folder / "store").chmod(0o500)
        with pytest.raises(PermissionError):
            unpack(file, BundleStore(folder / "store"))
        assert list((folder / "store").iterdir()) == []
