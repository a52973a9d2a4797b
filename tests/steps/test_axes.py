"""Principal axes: noise is taken out of eigenvalues."""

import numpy as np
import pytest

from knoll.steps.axes import without_noise


def test_noise_is_taken_out_of_eigenvalues(rng):
    d, n = 60, rng.normal(size=(60, 60))
    noise = (n + n.T) / 2**0.5 * 0.1
    true = np.append(np.zeros(d - 1), 5.0)
    values = np.linalg.eigvalsh(np.diag(true) + noise)
    found = without_noise(values, 1.1 * 2 * 0.1 * d**0.5)
    assert found.sum() == pytest.approx(values.sum())
    assert found[:-1] == pytest.approx(true[:-1], abs=0.2)
    assert found[-1] == pytest.approx(5.0, abs=0.4)
