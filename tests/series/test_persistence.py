"""Peaks and passes."""

import numpy as np

from knoll.series.persistence import mesh_peaks


def test_peaks_and_passes_of_a_known_profile():
    values = np.array([0.0, 5.0, 1.0, 3.0, 2.0, 9.0, 0.0, 4.0])
    peaks, basin = mesh_peaks(values, [np.arange(8.0)])
    assert peaks.points[:, 0].tolist() == [5.0, 1.0, 7.0, 3.0]
    assert peaks.pass_heights.tolist() == [-np.inf, 1.0, 0.0, 2.0]
    assert basin.tolist() == [1, 1, 1, 3, 0, 0, 0, 2]
    keep = np.array([True, True, False, False])
    assert peaks.survivors(keep).tolist() == [0, 1, 0, 0]
