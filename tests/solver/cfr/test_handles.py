"""Handles: what kernels read through the pointer is what the arrays hold."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from solver.cfr.handles import Handle, HandleType

RECORD = np.dtype([("row", np.int16), ("pays", np.float64)], align=True)


class Arrays(NamedTuple):
    """One array of each kind that the solvers use."""

    flat: NDArray[Any]
    grid: NDArray[np.int64]
    records: NDArray[np.void]


def arrays(dtype: type = np.float32) -> Arrays:
    """Arrays with distinct entries."""
    records = np.zeros(3, dtype=RECORD)
    records["row"], records["pays"] = [5, 6, 7], [0.5, 1.5, 2.5]
    return Arrays(np.arange(4, dtype=dtype), np.arange(6).reshape(2, 3), records)


@njit
def _read(handle: Any) -> tuple[int, int, float, float, float]:
    flat, grid, records = handle.flat, handle.grid, handle.records
    return len(flat), len(records), flat[3], grid[1, 2] + 10.0 * grid[0, 1], records[2].pays + records[1].row


@njit
def _write(handles: Any, which: int) -> None:
    handle = handles[which]
    handle.flat[1] = 9.0
    handle.grid[1, 0] = -3
    handle.records[0].row = 77


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_a_kernel_reads_what_the_arrays_hold(dtype: type) -> None:
    assert _read(Handle(arrays(dtype))) == (4, 3, 3.0, 15.0, 8.5)


def test_a_kernel_writes_to_the_arrays_of_the_handle_it_chose() -> None:
    both = arrays(), arrays()
    _write((Handle(both[0]), Handle(both[1])), 1)
    assert both[0].flat[1] == 1.0
    assert (both[1].flat[1], both[1].grid[1, 0], both[1].records[0]["row"]) == (9.0, -3, 77)


def test_a_handle_keeps_its_arrays_alive() -> None:
    handle = Handle(arrays())
    gc.collect()
    filler = [np.full(4, 8.0, dtype=np.float32) for _ in range(100)]
    assert _read(handle)[2] == 3.0
    assert len(filler) == 100


def test_types_differ_by_element_and_agree_by_kind() -> None:
    assert Handle(arrays())._numba_type_ == Handle(arrays())._numba_type_
    assert Handle(arrays())._numba_type_ != Handle(arrays(np.float64))._numba_type_
    fields = Handle(arrays())._numba_type_.fields
    assert HandleType("Arrays", fields) != HandleType("Arrays", dict(reversed(fields.items())))


def test_arrays_with_gaps_are_refused() -> None:
    with pytest.raises(ValueError, match="flat: the array is not contiguous"):
        Handle(arrays()._replace(flat=np.arange(8.0)[::2]))
