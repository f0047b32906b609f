"""A store shows whole bundles only, whoever writes, dies or prunes at the same time."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from artifacts import BundleError
from artifacts.bundle_store import BundleStore


def commit(store: BundleStore, stage: str, key: str, inputs: dict[str, str] | None = None, rows: int = 10):
    fields = {"code": "c", "config": {"rows": rows}, "inputs": inputs or {}, "metrics": {"rows": rows}}
    return store.commit({"t": {"x": np.arange(rows)}}, stage=stage, key=key, **fields)


def test_a_committed_bundle_is_whole_and_leaves_nothing_behind(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    store.checkpoints("a", "1").mkdir(parents=True)
    assert not store.has("a", "1")
    bundle = commit(store, "a", "1")
    assert store.has("a", "1")
    assert bundle["t"]["x"].tolist() == list(range(10))
    assert not store.checkpoints("a", "1").exists()
    assert list((tmp_path / ".tmp").iterdir()) == []


def test_the_second_of_two_writers_of_a_key_keeps_the_first_bundle(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    first = commit(store, "a", "1")
    inode = (first.path / "t.arrow").stat().st_ino
    second = commit(store, "a", "1")
    assert (second.path / "t.arrow").stat().st_ino == inode


def test_a_failed_write_leaves_no_bundle(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    fields = {"code": "c", "config": {}, "inputs": {}, "metrics": {}}
    with pytest.raises(ValueError, match="not stored"):
        store.commit({"t": {"x": np.array([1j])}}, stage="a", key="1", **fields)
    assert not store.has("a", "1")
    assert list((tmp_path / ".tmp").iterdir()) == []


def _hold(root: Path, ready: str) -> None:
    with BundleStore(root).lock("a", "1"):
        Path(ready).touch()
        time.sleep(60)


def test_a_lock_is_waited_for_and_dies_with_its_process(tmp_path: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(
        target=_hold, args=(tmp_path, str(tmp_path / "ready"))
    )
    process.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.02)
    waited: list[bool] = []

    def on_wait() -> None:
        waited.append(True)
        process.kill()

    with BundleStore(tmp_path).lock("a", "1", on_wait=on_wait):
        assert waited == [True]
    process.join()


def test_gc_removes_leftovers_and_keeps_bundles(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    commit(store, "a", "1")
    (tmp_path / ".tmp" / "b-2.1.x").mkdir(parents=True)
    (tmp_path / ".tmp" / "b-2.1.x" / "t.arrow").write_bytes(b"half")
    store.checkpoints("b", "2").mkdir(parents=True)
    dry = store.gc(dry_run=True)
    assert dry == store.gc()
    assert set(dry.removed) == {".tmp/b-2.1.x", ".checkpoints/b-2"}
    assert dry.freed_bytes == 4
    assert store.has("a", "1")
    assert store.gc().removed == ()


def test_gc_keeps_the_newest_results_and_all_they_were_made_from(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    commit(store, "flops", "f")
    for number in range(3):
        commit(store, "export", f"e{number}", {"flops": "f"})
        os.utime(store.path("export", f"e{number}"), ns=(number, number))
    commit(store, "stray", "s")
    os.utime(store.path("stray", "s"), ns=(0, 0))
    assert set(store.gc(keep=2).removed) == {"export-e0", "stray-s"}
    assert {manifest.name for manifest in store.bundles()} == {"flops-f", "export-e1", "export-e2"}
    store.gc(keep=0)
    assert store.bundles() == []


def test_gc_keeps_answers_as_long_as_the_result_they_are_about(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    for number in range(2):
        commit(store, "export", f"e{number}")
        os.utime(store.path("export", f"e{number}"), ns=(number, number))
    commit(store, "subgame", "s0", {"export": "e0"})
    commit(store, "subgame", "s0turn", {"export": "e0", "subgame": "s0"})
    commit(store, "resolved_flop", "r1", {"export": "e1"})
    commit(store, "subgame", "s1river", {"export": "e1", "subgame": "s1turn"})
    commit(store, "subgame", "s1turn", {"export": "e1", "subgame": "s1flop"})
    commit(store, "subgame", "s1flop", {"export": "e1"})
    # Answers count neither as results nor as something that a result was made from.
    assert set(store.gc(keep=1).removed) == {"export-e0", "subgame-s0", "subgame-s0turn"}
    # A solve that goes on from another one is kept with it.
    solves = {f"subgame-s1{street}" for street in ("flop", "turn", "river")}
    assert {manifest.name for manifest in store.bundles()} == {"export-e1", "resolved_flop-r1"} | solves


def test_gc_spares_what_a_live_run_needs(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    commit(store, "a", "1")
    store.checkpoints("b", "2").mkdir(parents=True)
    with store.active(["a-1", "b-2"]):
        assert store.gc(keep=0).removed == ()
    assert set(store.gc(keep=0).removed) == {"a-1", ".checkpoints/b-2"}


def test_a_run_that_was_killed_protects_nothing(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    commit(store, "a", "1")
    (tmp_path / ".active").mkdir()
    (tmp_path / ".active" / "999-dead.json").write_text('["a-1"]')
    assert store.gc(keep=0).removed == ("a-1",)


def test_a_run_that_fails_leaves_no_record_behind(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)

    def fail() -> None:
        with store.active(["a-1"]):
            assert len(list((tmp_path / ".active").iterdir())) == 2
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list((tmp_path / ".active").iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "5", "\0"])
def test_nothing_is_removed_while_the_record_of_a_live_run_cannot_be_read(tmp_path: Path, text: str) -> None:
    store = BundleStore(tmp_path)
    commit(store, "a", "1")
    with store.active(["a-1"]):
        (record,) = (tmp_path / ".active").glob("*.json")
        record.write_text(text)
        with pytest.raises(BundleError, match=r"\.json: not readable"):
            store.gc(keep=0)
    assert store.has("a", "1")


def test_a_bundle_under_another_name_is_not_opened_and_not_removed(tmp_path: Path) -> None:
    store = BundleStore(tmp_path)
    shutil.copytree(commit(store, "a", "1").path, tmp_path / "a-2")
    with pytest.raises(BundleError, match=r"a-2/manifest\.json: of bundle a-1"):
        store.open("a", "2")
    assert [manifest.name for manifest in store.bundles()] == ["a-1"]
    assert store.gc(keep=0).removed == ("a-1",)
    assert (tmp_path / "a-2").is_dir()
