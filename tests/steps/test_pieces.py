"""Pieces that seem to hold several clusters are halved."""

import numpy as np

from knoll.steps.centres import Centres
from knoll.steps.pieces import halved


def centres(variance):
    at = np.arange(12.0).reshape(6, 2)
    return Centres(at, np.array(variance, dtype=float), np.full(6, 100.0), np.zeros(6))


def test_a_wide_and_heavy_piece_is_halved_across_its_widest_column():
    before = centres([[1, 1]] * 5 + [[1, 40]])
    after = halved(before, most=20, usual=30.0)
    assert len(after.at) == 7
    assert after.weight.sum() == before.weight.sum()
    np.testing.assert_allclose((after.at[5] + after.at[6]) / 2, before.at[5])
    assert after.at[5, 0] == after.at[6, 0]
    assert after.at[5, 1] > after.at[6, 1]
    assert after.variance[5, 1] < before.variance[5, 1]


def test_pieces_that_are_alike_or_light_or_too_many_stay():
    assert len(halved(centres([[1, 1]] * 6), most=20, usual=30.0).at) == 6
    wide = centres([[1, 1]] * 5 + [[1, 40]])
    assert len(halved(wide, most=20, usual=60.0).at) == 6
    assert len(halved(wide, most=6, usual=30.0).at) == 6
