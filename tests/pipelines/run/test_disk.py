"""A full disk, or a store that cannot be one, is found where it can still be told in one line."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from artifacts.bundle_store import BundleStore
from pipelines.run import disk
from pipelines.run.disk import Room, check_store, check_writable, folder_bytes, make_store, scratch_table
from pipelines.run.errors import MachineError, UserError
from pipelines.run.progress import PlanRow, StageDisk

MIB = 1 << 20


def refuse(code: int) -> Callable[..., None]:
    def call(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    return call


def test_a_scratch_table_has_its_space_before_it_is_written(tmp_path: Path) -> None:
    table = scratch_table(tmp_path / "new" / "t.u16", (512, 1024))
    stat = (tmp_path / "new" / "t.u16").stat()
    assert stat.st_size == MIB
    assert stat.st_blocks * 512 >= MIB
    assert table.shape == (512, 1024)
    assert not table.any()
    table[3] = 7
    assert np.fromfile(tmp_path / "new" / "t.u16", np.uint16).sum() == 7 * 1024


@pytest.mark.parametrize("code", [errno.EOPNOTSUPP, errno.EINVAL])
def test_where_space_cannot_be_reserved_zeros_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", refuse(code))
    table = scratch_table(tmp_path / "t.u16", (1000, 1500))
    stat = (tmp_path / "t.u16").stat()
    assert stat.st_size == table.nbytes
    assert stat.st_blocks * 512 >= table.nbytes


def test_a_full_disk_names_the_scratch_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "posix_fallocate", refuse(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left") as failure:
        scratch_table(tmp_path / "t.u16", (10, 10))
    assert failure.value.errno == errno.ENOSPC
    assert failure.value.filename == str(tmp_path / "t.u16")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("file", "store.root: file is not a folder"),
        ("file/below", "file in file/below is not a folder"),
        ("file/below/further", "file in file/below/further is not a folder"),
        ("x" * 300, "(300 characters) cannot be used (File name too long)"),
        ("/".join(["x" * 200] * 20), "cannot be used (File name too long)"),
        ("loop/store", "cannot be used (Too many levels of symbolic links)"),
    ],
)
def test_a_store_that_cannot_be_one_is_the_users_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for check in (check_store, lambda path: make_store(BundleStore(path))):
        with pytest.raises(UserError) as failure:
            check(Path(root))
        assert str(failure.value).startswith("store.root: ")
        assert message in str(failure.value)
        assert len(str(failure.value)) < 250
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_an_unwritable_store_is_the_users_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(disk.tempfile, "TemporaryFile", refuse(code))
    with pytest.raises(UserError, match=rf"store\.root: .*new/store is not writable \({os.strerror(code)}\)"):
        make_store(BundleStore(tmp_path / "new" / "store"))
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_leads_nowhere_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(UserError, match=r"store\.root: .*link cannot be created \(File exists\)"):
        make_store(BundleStore(tmp_path / "link"))


def test_the_system_refuses_to_write_below_proc() -> None:
    with pytest.raises(UserError, match=r"store\.root: /proc/no is not writable"):
        check_writable(Path("/proc/no"))


def test_a_full_disk_is_not_the_users_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk.tempfile, "TemporaryFile", refuse(errno.ENOSPC))
    with pytest.raises(OSError, match="No space left"):
        make_store(BundleStore(tmp_path))


def test_a_good_store_is_made_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "new" / "store"
    check_store(root)
    check_writable(root)
    assert list(tmp_path.iterdir()) == []
    make_store(BundleStore(root))
    assert list(root.iterdir()) == []


def rows(*stages: tuple[bool, float, float]) -> list[PlanRow]:
    return [
        PlanRow(f"s{number}", "k", cached, [], 1.0, StageDisk(bundle * MIB, scratch * MIB))
        for number, (cached, bundle, scratch) in enumerate(stages)
    ]


def on_a_disk(monkeypatch: pytest.MonkeyPatch, free: float) -> None:
    usage = shutil._ntuple_diskusage(0, 0, int(free * MIB))  # type: ignore[attr-defined]
    monkeypatch.setattr(disk.shutil, "disk_usage", lambda _: usage)


def test_scratch_is_freed_after_its_stage_and_cached_stages_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_disk(monkeypatch, 500)
    room = Room.of_plan(BundleStore(tmp_path), rows((True, 900, 900), (False, 10, 300), (False, 20, 300)))
    assert room.written == 630 * MIB
    assert room.needed == 330 * MIB
    assert room.words() == f"writes about 630.0 MB, at most 330.0 MB at a time; 500.0 MB free at {tmp_path}"
    room.check()


def test_a_run_that_does_not_fit_is_refused_with_need_and_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_disk(monkeypatch, 290)
    room = Room.of_plan(BundleStore(tmp_path / "store"), rows((False, 10, 300), (False, 20, 300)))
    assert room.words().endswith("290.0 MB free at " + str(tmp_path / "store") + ", which is not enough")
    with pytest.raises(
        MachineError, match=r"store\.root: .* has 290\.0 MB free .* needs about 330\.0 MB"
    ) as refusal:
        room.check()
    assert not refusal.value.resumable


def test_what_an_unfinished_stage_holds_counts_as_free_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_a_disk(monkeypatch, 1)
    store = BundleStore(tmp_path)
    for folder in (
        store.checkpoints("s0", "k"),
        tmp_path / ".tmp" / "s0-k.scratch",
        tmp_path / ".tmp" / "s1-k.1",
    ):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(bytes(MIB))
    assert Room.of_plan(store, rows((False, 1, 1), (True, 1, 1))).free == 3 * MIB
    assert folder_bytes([tmp_path, tmp_path / "missing"]) == 3 * MIB
