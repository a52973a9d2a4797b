"""Bounds as users give them."""

import numpy as np
import pytest

from knoll.privacy.errors import BoundsError
from knoll.queries import Ball, Box, domain_from


def test_bounds_as_scalars_arrays_and_dicts():
    expected = Box((0, 0), (1, 1))
    assert domain_from((0, 1), 2) == expected
    assert domain_from([0, [1, 1]], 2) == expected
    assert domain_from((np.zeros(2), np.ones(2)), 2) == expected
    assert domain_from({0: (0, 1), 1: (0, 1)}, 2) == expected
    assert domain_from({"b": (0, 2), "a": (0, 1)}, 2, ["a", "b"]) == Box((0, 0), (1, 2), ("a", "b"))
    ball = Ball(1.0, (0.0, 0.0))
    assert domain_from(ball, 2) is ball


def test_missing_bounds_explain_both_ways():
    with pytest.raises(BoundsError, match='bounds="private"') as caught:
        domain_from(None, 2)
    assert "bounds=(0, 100)" in str(caught.value)
