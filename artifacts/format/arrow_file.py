"""Columns of numpy arrays in one Arrow IPC file, memory-mapped on read.

A column is a one-dimensional array, a list of strings, or an array with more axes whose first axis is
the row. Extra axes become a FixedSizeList, so that any Arrow reader opens the file; the exact numpy dtype
and shape travel in the field's metadata and are restored on read without a copy.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from artifacts.errors import BundleError, MissingFile

Column: TypeAlias = "np.ndarray | Sequence[Any] | pa.Array"

_SHAPE = b"shape"
_DTYPE = b"dtype"


def _to_arrow(name: str, column: Column) -> tuple[pa.Field, pa.Array]:
    if isinstance(column, pa.Array):
        return pa.field(name, column.type), column
    if not isinstance(column, np.ndarray):
        array = pa.array(column)
        return pa.field(name, array.type), array
    if column.ndim == 0:
        raise ValueError(f"column {name}: a scalar is a metric, not a column")
    if column.dtype.kind in "US":
        array = pa.array(column.tolist(), pa.string())
        return pa.field(name, array.type), array
    if column.dtype.kind not in "biuf" or column.dtype.itemsize > 8:
        raise ValueError(
            f"column {name}: dtype {column.dtype} is not stored; use bool, int, uint, float or str"
        )
    metadata = {_DTYPE: column.dtype.name.encode(), _SHAPE: json.dumps(column.shape).encode()}
    # Arrow packs booleans into bits, which numpy cannot map: keep a byte each. Arrow is little-endian.
    stored = column.view(np.uint8) if column.dtype == np.bool_ else column
    stored = np.ascontiguousarray(stored, dtype=stored.dtype.newbyteorder("<"))
    flat = pa.array(stored.reshape(-1))
    width = int(np.prod(column.shape[1:]))
    array = flat
    if column.ndim > 1:
        array = pa.FixedSizeListArray.from_arrays(flat, width) if width else pa.nulls(len(column), pa.int8())
    return pa.field(name, array.type, metadata=metadata), array


def _to_numpy(field: pa.Field, array: pa.Array) -> np.ndarray:
    # `array.to_numpy` would do, but imports pandas when there is one: half a second for the first query.
    metadata = field.metadata or {}
    if _DTYPE not in metadata:
        if pa.types.is_string(array.type):
            return np.array(array.to_pylist(), dtype=object)
        if pa.types.is_float64(array.type):
            return _null_as_nan(array)
        return array.to_numpy(zero_copy_only=False)
    dtype = np.dtype(metadata[_DTYPE].decode())
    shape = tuple(json.loads(metadata[_SHAPE]))
    if not np.prod(shape):
        return np.empty(shape, dtype)
    flat = array.flatten() if pa.types.is_fixed_size_list(array.type) else array
    return _values(flat, dtype).reshape(shape)


def _values(array: pa.Array, dtype: np.dtype) -> np.ndarray:
    """The values of an array in place; whatever is stored where one is null."""
    return np.frombuffer(
        array.buffers()[1], dtype=dtype, count=len(array), offset=array.offset * dtype.itemsize
    )


def _null_as_nan(array: pa.Array) -> np.ndarray:
    if not len(array):
        return np.empty(0)
    values = _values(array, np.dtype(np.float64))
    if not array.null_count:
        return values
    bits = np.unpackbits(np.frombuffer(array.buffers()[0], dtype=np.uint8), bitorder="little")
    return np.where(bits[array.offset : array.offset + len(array)], values, np.nan)


def write_arrow(path: Path, columns: Mapping[str, Column]) -> int:
    """Write `columns` to `path` as one record batch and return the number of rows."""
    fields, arrays = zip(*(_to_arrow(name, column) for name, column in columns.items()), strict=True)
    rows = {len(array) for array in arrays}
    if len(rows) != 1:
        lengths = {field.name: len(array) for field, array in zip(fields, arrays)}
        raise ValueError(f"{path.name}: columns differ in length: {lengths}")
    schema = pa.schema(fields)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(list(arrays), schema=schema))
    return rows.pop()


class ArrowFile:
    """A memory-mapped Arrow IPC file; columns come back as numpy arrays of their dtype and shape."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._source = pa.memory_map(str(path), "r")
            self._table = pa.ipc.open_file(self._source).read_all()
        except FileNotFoundError:
            raise MissingFile(f"{path}: missing") from None
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._unreadable(error) from None

    @property
    def names(self) -> list[str]:
        """Column names in file order."""
        return list(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._table.column_names:
            raise BundleError(f"{self.path}: no column {name!r}; it has {', '.join(self.names)}")
        column = self._table.column(name)
        try:
            array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
            return _to_numpy(self._table.schema.field(name), array)
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> BundleError:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        return BundleError(f"{self.path}: not a readable Arrow file ({reason})")

    def columns(self) -> dict[str, Column]:
        """All columns, as `write_arrow` takes them: written again they make the same file."""
        schema = self._table.schema
        return {
            name: self[name]
            if _DTYPE in (schema.field(name).metadata or {})
            else self._table.column(name).combine_chunks()
            for name in self.names
        }

    def table(self) -> pa.Table:
        """The file as a `pyarrow.Table` (zero-copy)."""
        return self._table
