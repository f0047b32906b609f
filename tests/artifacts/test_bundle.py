"""A bundle gives back exactly what was put in, or an error that names the file."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from artifacts import BundleError, open_bundle
from artifacts.bundle import write_bundle
from artifacts.format.manifest import CHECKSUM, Manifest, parse_manifest, sha256_of
from artifacts.format.verified_files import SETTLED_NS

Signed = Callable[[dict[str, Any]], bytes]
Unprivileged = Callable[[], AbstractContextManager[Path]]

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64"]
arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5))
)


def write(folder: Path, tables: dict, **extra: object) -> Path:
    fields = {
        "stage": "test",
        "key": "0" * 20,
        "code": "c",
        "config": {},
        "inputs": {},
        "metrics": {},
    } | extra
    write_bundle(folder, tables, **fields)
    return folder


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(array=arrays)
def test_a_tensor_keeps_its_dtype_shape_and_every_bit(array: np.ndarray, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    back = open_bundle(write(folder, {"t": {"x": array}}))["t"]["x"]
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(rows=st.lists(st.tuples(st.text(), st.floats(allow_nan=False), st.one_of(st.none(), st.text()))))
def test_a_table_of_text_and_numbers_round_trips(rows: list, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    columns = {
        "line": pa.array([row[0] for row in rows], pa.string()),
        "probability": np.array([row[1] for row in rows], dtype=np.float64),
        "reason": pa.array([row[2] for row in rows], pa.string()),
    }
    table = open_bundle(write(folder, {"rows": columns}))["rows"].table()
    assert list(zip(*(table.column(name).to_pylist() for name in columns), strict=True)) == rows


def test_arrays_are_memory_mapped_not_copied(tmp_path: Path) -> None:
    bundle = open_bundle(write(tmp_path, {"t": {"x": np.arange(1000, dtype=np.uint16).reshape(10, 100)}}))
    array = bundle["t"]["x"]
    assert not array.flags.owndata
    assert not array.flags.writeable


def test_other_tools_read_the_files_without_our_code(tmp_path: Path) -> None:
    columns = {"hand": ["AA", "72o"], "weights": np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint16)}
    path = write(tmp_path, {"t": columns}) / "t.arrow"
    frame = polars.read_ipc(path)
    assert frame["hand"].to_list() == ["AA", "72o"]
    assert frame["weights"].to_list() == [[1, 2, 3], [4, 5, 6]]
    arrow = pa.ipc.open_file(path).read_all()
    assert duckdb.sql("select hand, weights[2] from arrow").fetchall() == [("AA", 2), ("72o", 5)]
    assert arrow.num_rows == 2


def test_equal_contents_have_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path / name, {"t": {"x": np.linspace(0, 1, 50)}}, metrics={"sd": 0.1})
    for file in ("t.arrow", "manifest.json"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.fixture
def bundle_folder(tmp_path: Path) -> Path:
    return write(
        tmp_path / "b", {"t": {"x": np.arange(100)}, "u": {"y": ["AA"]}}, texts={"config.yaml": "a: 1\n"}
    )


def test_a_truncated_file_is_named(bundle_folder: Path) -> None:
    file = bundle_folder / "t.arrow"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(BundleError, match=r"t\.arrow.*truncated"):
        open_bundle(bundle_folder, verify="never")


def test_an_altered_file_is_named_on_first_open(bundle_folder: Path) -> None:
    file = bundle_folder / "t.arrow"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(BundleError, match=r"t\.arrow.*altered"):
        open_bundle(bundle_folder)


def test_a_file_altered_after_the_first_open_is_found_again(bundle_folder: Path) -> None:
    open_bundle(bundle_folder)
    file = bundle_folder / "u.arrow"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(BundleError, match=r"u\.arrow.*altered"):
        open_bundle(bundle_folder)


def test_a_second_open_does_not_hash_again(bundle_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time.sleep(2 * SETTLED_NS / 1e9)
    open_bundle(bundle_folder)
    monkeypatch.setattr("artifacts.bundle.sha256_of", lambda _: pytest.fail("hashed again"))
    open_bundle(bundle_folder)


def test_a_missing_file_is_named(bundle_folder: Path) -> None:
    (bundle_folder / "u.arrow").unlink()
    with pytest.raises(BundleError, match=r"u\.arrow: missing"):
        open_bundle(bundle_folder)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 99, True, "2", None])
def test_another_schema_version_is_refused_by_name(bundle_folder: Path, version: object) -> None:
    path = bundle_folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema_version": version}))
    with pytest.raises(BundleError, match=r"manifest\.json"):
        open_bundle(bundle_folder)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 1}', '"x"'])
def test_a_broken_manifest_is_named(bundle_folder: Path, text: str) -> None:
    (bundle_folder / "manifest.json").write_text(text)
    with pytest.raises(BundleError, match=r"manifest\.json"):
        open_bundle(bundle_folder)


def test_a_manifest_cannot_point_outside_its_bundle(bundle_folder: Path, signed: Signed) -> None:
    path = bundle_folder / "manifest.json"
    data = json.loads(path.read_text())
    data["files"]["../evil"] = {"sha256": "0", "bytes": 1}
    path.write_bytes(signed(data))
    with pytest.raises(BundleError, match="leaves the bundle"):
        open_bundle(bundle_folder)


def test_no_bundle_there(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="is not a bundle"):
        open_bundle(tmp_path / "nothing")


def test_unknown_tables_and_columns_list_what_there_is(bundle_folder: Path) -> None:
    bundle = open_bundle(bundle_folder)
    assert bundle.tables == ("t", "u")
    assert bundle.text("config.yaml") == "a: 1\n"
    with pytest.raises(BundleError, match="it has t, u"):
        bundle["v"]
    with pytest.raises(BundleError, match="it has x"):
        bundle["t"]["y"]


def test_columns_of_different_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="differ in length"):
        write(tmp_path / "b", {"t": {"x": np.arange(3), "y": np.arange(4)}})


def test_a_read_only_home_does_not_prevent_reading(
    bundle_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert len(open_bundle(bundle_folder)["t"]) == 100


def test_the_checksum_is_the_hash_of_the_other_lines(bundle_folder: Path) -> None:
    lines = (bundle_folder / "manifest.json").read_bytes().splitlines(keepends=True)
    others = hashlib.sha256(b"".join(lines[:1] + lines[2:])).hexdigest()
    assert json.loads(b"".join(lines))[CHECKSUM] == others


def test_every_changed_bit_of_a_manifest_is_found(bundle_folder: Path) -> None:
    data = bytearray((bundle_folder / "manifest.json").read_bytes())
    assert parse_manifest(bytes(data), "whole").schema_version == 2
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(BundleError, match=r"^damaged: "):
                parse_manifest(bytes(data), "damaged")
            data[place] ^= 1 << bit


def test_every_line_of_a_manifest_is_needed(bundle_folder: Path) -> None:
    lines = (bundle_folder / "manifest.json").read_bytes().splitlines(keepends=True)
    for number in range(len(lines)):
        for rest in (lines[:number] + lines[number + 1 :], lines[:number], lines[number + 1 :]):
            with pytest.raises(BundleError, match=r"^damaged: "):
                parse_manifest(b"".join(rest), "damaged")


def as_version_1(folder: Path) -> Path:
    """Write the manifest of a bundle as it was before there were checksums."""
    path = folder / "manifest.json"
    fields = json.loads(path.read_text()) | {"schema_version": 1}
    del fields[CHECKSUM]
    path.write_text(json.dumps(fields, indent=2, sort_keys=True) + "\n")
    return folder


def test_a_bundle_from_before_checksums_still_opens(bundle_folder: Path) -> None:
    before = open_bundle(bundle_folder).manifest
    bundle = open_bundle(as_version_1(bundle_folder))
    assert bundle["t"]["x"].tolist() == list(range(100))
    assert bundle.manifest.schema_version == 1
    assert bundle.manifest.files == before.files
    assert bundle.manifest.to_json() == (bundle_folder / "manifest.json").read_text()


def test_a_damaged_byte_of_a_manifest_without_checksum_never_escapes_as_another_error(
    bundle_folder: Path,
) -> None:
    data = bytearray((as_version_1(bundle_folder) / "manifest.json").read_bytes())
    files = parse_manifest(bytes(data), "whole").files
    refused = 0
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            try:
                found = parse_manifest(bytes(data), "damaged").files
                refused += found != files  # another hash or size: refused when the file is looked at
            except BundleError:
                refused += 1
            data[place] ^= 1 << bit
    assert refused > 0.8 * 8 * len(data)


@pytest.mark.parametrize(
    ("stage", "change", "message"),
    [
        ("test", {"schema_version": 1}, "version 1 has no checksum"),
        ("test", {CHECKSUM: None}, "version 2 needs a checksum"),
        ("test", {CHECKSUM: "0" * 64}, "altered"),
        ("test", {"stage": ".tmp"}, "stage '.tmp' is no name"),
        ("test", {"stage": "a/b"}, "stage 'a/b' is no name"),
        ("test", {"stage": 5}, "stage 5 is no name"),
        ("test", {"key": ""}, "key '' is no name"),
        ("test", {"key": "k" * 101}, "is no name"),
        ("test", {"key": "a\n"}, "is no name"),
        ("test", {"code": None}, "code is no text"),
        ("test", {"config": []}, "config is no JSON object"),
        ("test", {"inputs": {"a": 1}}, "inputs.'a' is no text"),
        ("test", {"metrics": {"a": "1"}}, "metrics.'a' is no number"),
        ("test", {"metrics": {"a": True}}, "metrics.'a' is no number"),
        ("test", {"surprise": 1}, r"unknown keys: \['surprise'\]"),
        ("test", {"files": {"..": {}}}, "leaves the bundle"),
        ("test", {"files": {".hidden": {}}}, "is no name of a file"),
        ("test", {"files": {"manifest.json": {}}}, "is no name of a file"),
        ("test", {"files": {"n" * 201: {}}}, "is no name of a file"),
        ("test", {"files": {"t.arrow": 1}}, "needs sha256 and bytes"),
        ("test", {"files": {"t.arrow": {"sha256": "A" * 64, "bytes": 1}}}, "is no sha256"),
        ("test", {"files": {"t.arrow": {"sha256": "a" * 64, "bytes": -1}}}, "is no size"),
        ("test", {"files": {"t.arrow": {"sha256": "a" * 64, "bytes": 1.0}}}, "is no size"),
        ("test", {"files": {"t.arrow": {"sha256": "a" * 64, "bytes": 1 << 63}}}, "is no size"),
        ("export", {"config": {"reach_rule": "mbx"}}, "reach_rule 'mbx': accepted are max, total"),
        ("export", {"config": {"reach_rule": ["max"]}}, "accepted are max, total"),
        ("buckets", {"config": {"scope": "texturf"}}, "accepted are global, texture"),
        ("buckets", {"config": {"boards": "none"}}, "accepted are all, medoids"),
        ("buckets", {"config": {"flop": 0}}, "whole numbers from 1 to 65535"),
        ("buckets", {"config": {"river": "12"}}, "whole numbers from 1 to 65535"),
    ],
)
def test_what_a_manifest_says_is_checked(
    stage: str, change: dict[str, Any], message: str, signed: Signed
) -> None:
    fields = json.loads(Manifest(stage, "k", "c", {}, {}, {}, {}).to_json())
    del fields[CHECKSUM]
    data = signed(fields | change)
    if CHECKSUM in change:
        text = signed(fields).decode()
        new = {key: value for key, value in change.items() if value is not None}
        lines = text.splitlines(keepends=True)
        data = "".join(lines[:1] + [f'  "{k}": "{v}",\n' for k, v in new.items()] + lines[2:]).encode()
    with pytest.raises(BundleError, match=f"^source: .*{message}") as error:
        parse_manifest(data, "source")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("data", [b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000, b"1" * 5_000, b'{"a":1,"a":1}'])
def test_what_is_no_json_at_all_is_a_bundle_error(data: bytes) -> None:
    with pytest.raises(BundleError, match=r"^source: not a valid manifest"):
        parse_manifest(data, "source")


def test_a_huge_manifest_is_not_read(bundle_folder: Path) -> None:
    os.truncate(bundle_folder / "manifest.json", 1 << 40)
    with pytest.raises(BundleError, match=r"manifest\.json: .*too many"):
        open_bundle(bundle_folder)


def test_what_cannot_be_read_again_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"stage '\.hidden' is no name"):
        write(tmp_path / "b", {"t": {"x": np.arange(3)}}, stage=".hidden")


def test_a_setting_that_is_missing_is_named_with_its_manifest(bundle_folder: Path) -> None:
    with pytest.raises(BundleError, match=r"manifest\.json: config has no 'scope'"):
        open_bundle(bundle_folder).config["scope"]


def alter(path: Path) -> None:
    """Change one byte and keep size, modification time and inode."""
    found = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    with path.open("r+b") as file:
        file.write(data)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def replace(path: Path) -> None:
    """Put another file in the place of this one, with the same size and modification time."""
    copy = shutil.copy2(path, path.with_suffix(".copy"))
    alter(Path(copy))
    Path(copy).replace(path)


@pytest.mark.parametrize("change", [alter, replace])
@pytest.mark.parametrize("wait", [0.0, 2 * SETTLED_NS / 1e9])
def test_a_change_that_keeps_size_and_modification_time_is_found(
    bundle_folder: Path, change: Callable[[Path], None], wait: float
) -> None:
    time.sleep(wait)
    opened = open_bundle(bundle_folder)
    assert opened["t"]["x"][0] == 0
    assert opened.text("config.yaml") == "a: 1\n"
    change(bundle_folder / "t.arrow")
    with pytest.raises(BundleError, match=r"t\.arrow: altered"):
        opened["t"]
    with pytest.raises(BundleError, match=r"t\.arrow: altered"):
        open_bundle(bundle_folder)
    change(bundle_folder / "config.yaml")
    with pytest.raises(BundleError, match=r"config\.yaml: altered"):
        opened.text("config.yaml")


def test_a_file_that_was_only_touched_is_hashed_and_read_on(bundle_folder: Path) -> None:
    bundle = open_bundle(bundle_folder)
    os.utime(bundle_folder / "t.arrow")
    os.link(bundle_folder / "t.arrow", bundle_folder / "backup")
    assert len(bundle["t"]) == 100


def test_a_file_changed_a_moment_ago_is_not_remembered(
    bundle_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []
    monkeypatch.setattr("artifacts.bundle.sha256_of", lambda path: hashed.append(path) or sha256_of(path))
    monkeypatch.setattr("artifacts.format.verified_files.SETTLED_NS", 3_600 * 10**9)
    open_bundle(bundle_folder)
    open_bundle(bundle_folder)
    assert len(hashed) == 6
    monkeypatch.setattr("artifacts.format.verified_files.SETTLED_NS", 0)
    open_bundle(bundle_folder)
    open_bundle(bundle_folder)
    assert len(hashed) == 9


def remove(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def extend(path: Path) -> None:
    os.truncate(path, path.stat().st_size + 1)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_link(path: Path) -> None:
    path.symlink_to(path.rename(path.with_suffix(".target")).name)


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("verify", ["first", "always", "never"])
@pytest.mark.parametrize("name", ["t.arrow", "config.yaml", "manifest.json"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove, "missing"),
        (truncate, "truncated|altered|not a valid manifest"),
        (extend, "truncated|altered|not a valid manifest"),
        (make_folder, "a folder, not a file"),
        (make_link, "a symbolic link, not a file"),
        (make_pipe, "a device or pipe, not a file"),
    ],
)
def test_a_file_that_is_not_there_as_it_was_is_named(
    bundle_folder: Path, name: str, change: Callable[[Path], None], message: str, verify: Any
) -> None:
    opened = open_bundle(bundle_folder, verify=verify)
    assert len(opened["t"]) == 100
    change(bundle_folder / name)
    with pytest.raises(BundleError, match=f"{name}: .*({message})"):
        open_bundle(bundle_folder, verify=verify)
    if name != "manifest.json":
        with pytest.raises(BundleError, match=f"{name}: .*({message})"):
            opened["t"] if name == "t.arrow" else opened.text(name)


@pytest.mark.parametrize("name", ["t.arrow", "config.yaml", "manifest.json"])
def test_an_unreadable_file_is_named(unprivileged: Unprivileged, name: str) -> None:
    with unprivileged() as folder:
        write(folder / "b", {"t": {"x": np.arange(3)}}, texts={"config.yaml": "a: 1\n"})
        opened = open_bundle(folder / "b", verify="never")
        (folder / "b" / name).chmod(0)
        with pytest.raises(BundleError, match=rf"{name}: cannot be read \(Permission denied\)"):
            open_bundle(folder / "b")
        if name != "manifest.json":
            with pytest.raises(BundleError, match=f"{name}: .*Permission denied"):
                opened["t"] if name == "t.arrow" else opened.text(name)


@pytest.mark.parametrize("path", ["x" * 300, "a\0b", "/".join(["d" * 200] * 30)])
def test_a_path_that_no_file_can_have_is_a_bundle_error(path: str) -> None:
    with pytest.raises(BundleError, match=r"manifest\.json: cannot be read"):
        open_bundle(path)


def test_text_that_is_no_utf8_is_named(tmp_path: Path, signed: Signed) -> None:
    folder = write(tmp_path, {"t": {"x": np.arange(3)}}, texts={"config.yaml": "a: 1\n"})
    (folder / "config.yaml").write_bytes(b"\xff: 1\n")
    fields = json.loads((folder / "manifest.json").read_text())
    fields["files"]["config.yaml"]["sha256"] = hashlib.sha256(b"\xff: 1\n").hexdigest()
    (folder / "manifest.json").write_bytes(signed(fields))
    with pytest.raises(BundleError, match=r"config\.yaml: cannot be read \('utf-8' codec"):
        open_bundle(folder).text("config.yaml")


def test_an_arrow_file_that_was_never_one_is_named(tmp_path: Path, signed: Signed) -> None:
    folder = write(tmp_path, {"t": {"x": np.arange(3)}})
    (folder / "t.arrow").write_bytes(b"ARROW1\0\0nothing")
    fields = json.loads((folder / "manifest.json").read_text())
    entry = {"sha256": hashlib.sha256((folder / "t.arrow").read_bytes()).hexdigest(), "bytes": 15}
    (folder / "manifest.json").write_bytes(signed(fields | {"files": {"t.arrow": entry}}))
    with pytest.raises(BundleError, match=r"t\.arrow: not a readable Arrow file"):
        open_bundle(folder)["t"]


@pytest.mark.parametrize(
    "memory", [b"", b"[]", b"{", b'{"t.arrow": 1}', b'{"t.arrow": []}', b"\xff", b"[" * 100_000]
)
def test_a_damaged_memory_of_verified_files_only_costs_hashing_again(
    bundle_folder: Path, memory: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    time.sleep(2 * SETTLED_NS / 1e9)
    open_bundle(bundle_folder)
    (file,) = (tmp_path / "cache").rglob("*.json")
    file.write_bytes(memory)
    alter(bundle_folder / "t.arrow")
    with pytest.raises(BundleError, match=r"t\.arrow: altered"):
        open_bundle(bundle_folder)
