"""A dict of named arrays of any shapes as two tables: the values end to end, and where each array lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from artifacts.bundle import Bundle
from artifacts.format.arrow_file import ArrowFile, Column

Arrays = Mapping[str, NDArray[Any]]


def pack_arrays(name: str, arrays: Arrays) -> dict[str, dict[str, Column]]:
    """Tables ``NAME_index`` (array, dtype, start, shape) and ``NAME_DTYPE`` (value) for `write_bundle`.

    >>> sorted(pack_arrays("state", {"a": np.zeros((2, 3), np.float32), "b": np.ones(4, np.int64)}))
    ['state_float32', 'state_index', 'state_int64']
    """
    order = sorted(arrays)
    flat: dict[str, list[NDArray[Any]]] = {}
    starts: list[int] = []
    for key in order:
        parts = flat.setdefault(arrays[key].dtype.name, [])
        starts.append(sum(len(part) for part in parts))
        parts.append(np.ascontiguousarray(arrays[key]).reshape(-1))
    tables: dict[str, dict[str, Column]] = {
        f"{name}_{dtype}": {"value": np.concatenate(parts)} for dtype, parts in flat.items()
    }
    tables[f"{name}_index"] = {
        "array": order,
        "dtype": [arrays[key].dtype.name for key in order],
        "start": np.array(starts, dtype=np.int64),
        "shape": ["x".join(map(str, arrays[key].shape)) for key in order],
    }
    return tables


def unpack_arrays(bundle: Bundle, name: str) -> dict[str, NDArray[Any]]:
    """The arrays of `pack_arrays`, as views of the mapped files."""
    index = bundle[f"{name}_index"]
    values: dict[str, ArrowFile] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for key, dtype, start, text in zip(*(index[column] for column in ("array", "dtype", "start", "shape"))):
        shape = tuple(int(size) for size in text.split("x") if size)
        stop = int(start) + int(np.prod(shape, dtype=np.int64))
        if dtype not in values:
            values[dtype] = bundle[f"{name}_{dtype}"]
        arrays[str(key)] = values[dtype]["value"][int(start) : stop].reshape(shape)
    return arrays
