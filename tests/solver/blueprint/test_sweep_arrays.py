"""Hands by bucket: every hand once, with its own bucket, however far the numbers of buckets lie apart."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.blueprint.sweep_arrays import bucket_runs

NUMBERS = st.one_of(st.integers(0, 5), st.integers(0, 2_000_000_000))


@settings(deadline=None)
@given(st.lists(NUMBERS, max_size=60))
def test_runs_hold_the_rows_of_each_bucket_in_ascending_order(buckets):
    runs = bucket_runs(np.array(buckets, dtype=np.int64))

    found = {
        int(bucket): runs.order[first:end].tolist()
        for bucket, first, end in zip(runs.bucket, runs.start, runs.start[1:])
    }

    expected = {bucket: [k for k, other in enumerate(buckets) if other == bucket] for bucket in set(buckets)}
    assert found == expected
    assert runs.bucket.tolist() == sorted(expected)
