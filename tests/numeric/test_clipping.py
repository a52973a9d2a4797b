"""What clipping takes from a Gaussian is put back."""

import numpy as np
import pytest

from knoll.numeric.clipping import clip_factors, clip_radius


def test_clipping_is_undone():
    rng = np.random.default_rng(0)
    for d in (1, 3, 10):
        radius = clip_radius(d)
        z = rng.standard_normal((200_000, d))
        factor = np.minimum(1.0, radius / np.linalg.norm(z, axis=1, keepdims=True))
        shorter, narrower = clip_factors(d, radius)
        assert np.square(z * factor).mean() == pytest.approx(narrower, rel=0.01)
        moved = z + 0.1
        clipped = moved * np.minimum(1.0, radius / np.linalg.norm(moved, axis=1, keepdims=True))
        assert (clipped - z * factor).mean() / 0.1 == pytest.approx(shorter, rel=0.02)
