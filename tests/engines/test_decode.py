"""Numbers become doubles by themselves: a gap in another record changes no bit of theirs, however they are cast."""

import numpy as np
import pyarrow as pa
import pytest

from knoll.engines.decode import doubles


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_whole_numbers_are_the_same_beside_a_gap(kind):
    ends = np.iinfo(kind)
    drawn = np.random.default_rng(0).integers(ends.min, ends.max, 5000, dtype=kind, endpoint=True)
    values = [*drawn.tolist(), ends.min, ends.max, 2**53 + 1 if ends.bits == 64 else 1]
    kept = pa.from_numpy_dtype(kind)
    alone, beside = doubles(pa.array(values, kept)), doubles(pa.array([*values, None], kept))
    assert np.array_equal(alone, beside[:-1])
    assert np.array_equal(alone, [float(value) for value in values])  # the nearest double to each
    assert np.isnan(beside[-1])
