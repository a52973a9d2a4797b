"""Valleys between cells, by released votes: what counts is the votes, not a variance that was measured too small."""

import numpy as np
import pytest

from knoll.numeric.valleys import Evidence, join


def pair(votes, width=2.7, apart=40.0, error=8.0):
    """Return the evidence of one pair of cells, of which 70 votes are expected if they are one."""
    one = np.array([70.0])
    return Evidence(np.array([[0, 1]]), np.array([apart]), one, np.array([float(votes)]), error, np.array([width]))


@pytest.mark.parametrize(("width", "apart"), [(2.3, 75.0), (2.7, 40.0), (8.1, 1.0)])
def test_halves_are_joined_whatever_their_variances_seem_to_be(width, apart):
    assert join(pair(80, width, apart), 2).tolist() == [0, 0]


@pytest.mark.parametrize("width", [5.0, 8.0, 20.0])
def test_clusters_with_a_valley_stay_apart(width):
    assert join(pair(10, width, apart=5.0), 2).tolist() == [0, 1]


def test_doubt_keeps_cells_apart():
    assert join(pair(80), 2, doubt=30.0).tolist() == [0, 1]
