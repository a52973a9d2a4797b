"""The elbow of points that lie in groups."""

import numpy as np
import pytest

from knoll.numeric.elbow import elbow, losses


@pytest.mark.parametrize("k", [3, 8, 20])
def test_groups_bend_the_loss_at_their_number(k):
    rng = np.random.default_rng(k)
    at = rng.normal(size=(k, 12))[np.repeat(np.arange(k), 10)] + 0.05 * rng.normal(size=(10 * k, 12))
    numbers, bend = elbow(at, rng.uniform(1, 2, len(at)))
    assert numbers[bend.argmax()] == k
    assert bend.max() > 0.5


def test_one_cloud_has_no_elbow():
    rng = np.random.default_rng(0)
    numbers, bend = elbow(rng.normal(size=(120, 20)), np.ones(120))
    assert bend[numbers > 3].max() < 0.12


def test_losses_are_sums_of_squares_within_groups():
    at, weight = np.array([[0.0], [1.0], [10.0]]), np.array([1.0, 1.0, 2.0])
    found = losses(at, weight)
    assert found[2] == 0
    assert found[1] == pytest.approx(0.5)
    assert found[0] == pytest.approx(4 * np.average(np.square(at[:, 0] - 5.25), weights=weight))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_few_points_and_equal_points(m):
    for at in (np.zeros((m, 2)), np.arange(2.0 * m).reshape(m, 2)):
        numbers, bend = elbow(at, np.ones(m))
        assert len(numbers) == len(bend) >= 1
        assert np.isfinite(bend).all()
