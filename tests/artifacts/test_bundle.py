"""A bundle gives back exactly what was put in, or an error that names the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

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
    open_bundle(bundle_folder)
    monkeypatch.setattr("artifacts.bundle.sha256_of", lambda _: pytest.fail("hashed again"))
    open_bundle(bundle_folder)


def test_a_missing_file_is_named(bundle_folder: Path) -> None:
    (bundle_folder / "u.arrow").unlink()
    with pytest.raises(BundleError, match=r"u\.arrow: missing"):
        open_bundle(bundle_folder)


@pytest.mark.parametrize("version", [0, 2, 99, "1", None])
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


def test_a_manifest_cannot_point_outside_its_bundle(bundle_folder: Path) -> None:
    path = bundle_folder / "manifest.json"
    data = json.loads(path.read_text())
    data["files"]["../evil"] = {"sha256": "0", "bytes": 1}
    path.write_text(json.dumps(data))
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
