"""Made-up records: fewer in many columns, and coordinates that are turned or only scaled."""

import numpy as np
import pytest

from knoll.numeric.made_up import MOST_MADE, Measured, made_up


def measured(k, d, turn):
    flat = np.zeros((k, d))
    noise = np.ones(k)
    return Measured(flat, flat, flat + 1.0, 1e6 * noise, noise, np.arange(k), np.zeros(d), turn)


@pytest.mark.parametrize(("k", "d", "expected"), [(3, 8, MOST_MADE), (5, 400, 2**20 // 400), (60, 400, 6000)])
def test_many_columns_have_fewer_records_but_a_hundred_for_each_cell(k, d, expected, rng):
    cells = measured(k, d, np.eye(d))
    made, weight, _ = made_up(cells, cells.count, np.zeros(k), np.random.RandomState(0), even=False)
    assert abs(len(made) - expected) < 6 * expected**0.5
    assert weight.sum() == pytest.approx(k * 1e6)


def test_scales_are_a_product_with_their_diagonal_bit_for_bit(rng):
    points, scales = rng.normal(size=(50, 4)), np.array([1.0, 1e-8, 0.3, 7e5])
    assert np.array_equal(measured(1, 4, np.diag(scales)).outside(points), points @ np.diag(scales))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert np.array_equal(measured(1, 4, turn).outside(points), points @ turn)
