"""Non-private mean shift agrees with the released sum."""

import numpy as np

import knoll
from knoll.reference import nonprivate_mean_shift
from knoll.testing import zero_noise
from tests.made import CORNERS, corners


def test_references_agree_with_the_released_sum():
    X = corners(2000)
    ends = nonprivate_mean_shift(X, CORNERS + 0.7, 1.2)
    with zero_noise():
        model = knoll.ModeSeeking(4, bandwidth=1.2, scale_by_bounds=False, bounds=(-10, 10)).fit(X)
    gaps = np.linalg.norm(ends[:, None] - model.modes_, axis=2)
    assert gaps.min(axis=1).max() < 0.02
