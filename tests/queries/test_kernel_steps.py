"""Kernel sums and gradients at points: values, and the norm of one record."""

import numpy as np
import pytest

from knoll.queries import Box, KernelSteps
from knoll.queries.kernel_steps import joint_covariance
from tests.made import CORNERS, corners


def test_steps_without_noise_are_kernel_sums_and_gradients():
    X, points, h = corners(400), CORNERS + 0.5, np.array([1.2, 0.9])
    query = KernelSteps(Box((-10.0, -10.0), (10.0, 10.0)), points, h)
    found = query.unwhiten @ (query.summarise(X) * query.step)
    gaps = (query.points[:, None] - X) / h
    kernel = np.exp(-np.square(gaps).sum(axis=2) / 2)
    assert found[:4] == pytest.approx(kernel.sum(axis=1), abs=1.0)
    assert found[4:8] == pytest.approx(-(gaps[..., 0] * kernel).sum(axis=1), abs=1.0)


def test_a_record_has_mahalanobis_norm_of_at_most_one():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(6, 2)) * 2
    covariance = joint_covariance(points)
    for record in rng.normal(size=(50, 2)) * 3:
        gap = points - record
        kernel = np.exp(-np.square(gap).sum(axis=1) / 2)
        both = np.concatenate([kernel, *(-(gap * kernel[:, None]).T)])
        assert both @ np.linalg.solve(covariance, both) <= 1 + 1e-6
