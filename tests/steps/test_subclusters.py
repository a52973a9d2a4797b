"""Subclusters: shapes drawn together, and drawn again."""

import numpy as np

from knoll.mixture import Mixture
from knoll.morse import landscape
from knoll.steps.subclusters import Subclusters, unit, volume
from tests.made import random_mixture


def test_steadying_keeps_volumes_and_draws_shapes_together():
    covariances = np.array([np.diag([1.0, 0.01, 1.0]), 9 * np.eye(3)])
    quiet = [np.full(2, 1.0), np.zeros((2, 3)), np.zeros(2)]
    cells = Subclusters(Mixture([0.5, 0.5], np.eye(3)[:2], covariances), np.full(2, 1e4), *quiet)
    found = cells.steadied(np.full(3, 1e-9)).mixture.covariances
    target = volume(covariances) * unit(unit(covariances).mean(axis=0))
    np.testing.assert_allclose(found, 0.75 * covariances + 0.25 * target)
    np.testing.assert_allclose(np.linalg.det(target), np.linalg.det(covariances))
    noisy = Subclusters(cells.mixture, cells.counts, *quiet[:2], np.full(2, 1e3)).steadied(np.full(3, 1e-9))
    np.testing.assert_allclose(noisy.mixture.covariances, target)


def test_redrawing_nothing_changes_nothing():
    mixture = random_mixture(11, k=8)
    found = landscape(mixture)
    again = found.redrawn(mixture)
    np.testing.assert_allclose(again.height, found.tree.height, atol=1e-9)
    np.testing.assert_allclose(again.persistence, found.tree.persistence, atol=1e-8)
