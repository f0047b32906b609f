"""Named arrays come back with their bits, dtypes and shapes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from artifacts import open_bundle
from artifacts.bundle import write_bundle
from artifacts.format.array_pack import pack_arrays, unpack_arrays

some_arrays = st.sampled_from(["float32", "float64", "int32", "uint16"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, max_side=4))
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(arrays=st.dictionaries(st.text("abc/-0", min_size=1), some_arrays, min_size=1, max_size=6))
def test_arrays_round_trip(arrays: dict, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("bundle")
    fields = {"stage": "s", "key": "k", "code": "c", "config": {}, "inputs": {}, "metrics": {}}
    write_bundle(folder, pack_arrays("state", arrays), **fields)
    back = unpack_arrays(open_bundle(folder), "state")
    assert back.keys() == arrays.keys()
    for key, array in arrays.items():
        assert back[key].dtype == array.dtype
        assert back[key].shape == array.shape
        assert back[key].tobytes() == array.tobytes()
