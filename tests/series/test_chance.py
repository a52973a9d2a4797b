"""How high noise rises by chance."""

import numpy as np
import pytest

from knoll.series.chance import significance_threshold
from knoll.series.conditional import row_peaks


def smooth_noise(sides, runs, seed=0, per=6):
    """Gaussian fields of unit variance whose correlation falls off as exp(-r^2 / 2), on meshes of `per` to a length."""
    rng = np.random.default_rng(seed)
    cells = [int(side * per) + 1 for side in sides]
    sizes = [n + 6 * per for n in cells]
    square = sum(np.meshgrid(*((2 * np.pi * np.fft.fftfreq(n, 1 / per)) ** 2 for n in sizes), indexing="ij"))
    waves = np.fft.fftn(rng.normal(size=(runs, *sizes)), axes=range(1, 1 + len(sides))) * np.exp(-square / 4)
    fields = np.fft.ifftn(waves, axes=range(1, 1 + len(sides))).real
    return (fields / fields.std())[(slice(None), *(slice(0, n) for n in cells))]


@pytest.mark.parametrize("sides", [(40.0,), (12.0, 12.0), (4.0, 4.0, 4.0)])
def test_noise_exceeds_its_level_with_the_chance_that_is_said(sides):
    fields = smooth_noise(sides, 300, per=6 if len(sides) < 3 else 3).reshape(300, -1)
    assert 0.04 < (fields.max(axis=1) > significance_threshold(0.1, np.array(sides))).mean() < 0.14


def test_noise_along_a_line_rises_over_its_passes_no_more_often_than_said():
    fields = smooth_noise((150.0,), 400)
    row, column, low, where = row_peaks(fields)
    met = np.isfinite(low)
    alike = np.exp(-(((column - where)[met] / 6) ** 2) / 2)
    sure = (fields[row, column][met] - low[met]) / np.sqrt(2 * (1 - alike))
    most = np.zeros(400)
    np.maximum.at(most, row[met], sure)
    assert 0.03 < (most > significance_threshold(0.1, np.array([150.0]), line=150.0)).mean() < 0.14
    assert (most > significance_threshold(0.1, np.array([150.0]))).mean() > 0.3  # if tops alone were counted
