"""A column whose lower and upper bounds are equal: every estimator takes it, whatever records hold there."""

import numpy as np
import pytest

import knoll
from knoll.privacy.errors import BoundsError, PrivacyError
from knoll.queries import Box, Nearest
from knoll.testing import recorded_noise, replayed_noise
from tests.contract.registry import ESTIMATORS, make_estimator

CENTRES = np.array([[-0.5, -0.5], [0.5, 0.5], [0.5, -0.5]])
BOUNDS = ([-1.0, 3.0, -1.0], [1.0, 3.0, 1.0])
POINTS = {"cluster_centers_": "centers_stderr_", "means_": "means_stderr_", "modes_": "modes_stderr_"}
GIVEN = [name for name in ESTIMATORS if ESTIMATORS[name]().bounds == (-1.0, 1.0)]  # neither a ball nor bought


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    plane = CENTRES[rng.integers(0, 3, 3000)] + 0.08 * rng.normal(size=(3000, 2))
    return np.column_stack([plane[:, 0], rng.normal(5, 1, 3000), plane[:, 1]])


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("name", GIVEN)
def test_every_estimator_takes_a_constant_column(name, scale, rows, tmp_path):
    model = make_estimator(name, 3, bounds=BOUNDS, scale_by_bounds=scale, epsilon=2.0).fit(rows)
    for points, errors in POINTS.items():
        if hasattr(model, points):
            assert (getattr(model, points)[:, 1] == 3.0).all()
            assert (getattr(model, errors, np.zeros((1, 3)))[:, 1] == 0.0).all()
    if name in ("KMeans", "Lloyd", "Cubes", "ModeClustering", "GaussianMixture", "ModeSeeking"):
        found = next(getattr(model, points) for points in POINTS if hasattr(model, points))[:, [0, 2]]
        assert np.linalg.norm(CENTRES[:, None] - found, axis=2).min(axis=1).max() < 0.1
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert again.bounds_ == model.bounds_
    if hasattr(model, "predict"):
        assert np.array_equal(again.predict(rows[:50]), model.predict(rows[:50]))
    if hasattr(model, "sample") and hasattr(model, "means_"):
        assert (model.sample(20)[:, 1] == 3.0).all()


RAW = {"KernelDensity", "ModeSeeking, mini-batches"}
"""What a private bandwidth counts, and which part of the records a mini-batch is, follow from columns as they are."""


@pytest.mark.parametrize("name", [name for name in GIVEN if name not in RAW])
def test_what_records_hold_in_a_constant_column_changes_nothing(name, rows):
    other = rows.copy()
    other[:, 1] = -1e9
    make = lambda: make_estimator(name, 3, bounds=BOUNDS)  # noqa: E731
    with recorded_noise() as seen:
        make().fit(rows)
    with replayed_noise(seen) as again:
        make().fit(other)
    assert all(np.array_equal(a, b) for a, b in zip(seen.exact, again.exact, strict=True))


def test_the_grid_of_a_constant_column_is_one_point():
    box = Box((0.0, 7.0), (2.0, 7.0))
    grid = box.clip_to_grid(np.array([[0.0, 7.0], [2.0, 1e9], [1.0, -np.inf]]))
    assert (grid[:, 1] == 0).all()
    assert box.constant.tolist() == [False, True]
    assert box.half.tolist() == [1.0, 1.0]
    assert box.clip(np.array([[5.0, 5.0]])).tolist() == [[2.0, 7.0]]
    cells = Nearest([[0.5, 0.0], [1.5, 100.0]], box, [1.0, 0.01])
    assert cells.labels(np.array([[0.4, 100.0], [1.6, 0.0]])).tolist() == [0, 1]
    assert (cells.metric_grid(np.array([[0.4, 100.0]]))[:, 1] == 0).all()


def test_a_mixture_of_clusters_keeps_constants(rows):
    mixture = knoll.KMeans(3, bounds=BOUNDS, epsilon=2.0).fit(rows).to_mixture(rows)
    assert (mixture.means[:, 1] == 3.0).all()


@pytest.mark.parametrize("value", [0.0, 1e-25, -4.2e6, 1e30])
def test_any_constant_can_be_computed_with(value, rows):
    model = knoll.KMeans(3, bounds=([-1, value, -1], [1, value, 1]), random_state=0).fit(rows)
    assert (model.cluster_centers_[:, 1] == value).all()
    assert np.isfinite(model.cluster_centers_).all()


def test_constant_columns_alone_are_refused_and_so_are_local_reports_of_them():
    with pytest.raises(BoundsError, match="every record would be the same"):
        Box((1.0, 2.0), (1.0, 2.0))
    with pytest.raises((PrivacyError, BoundsError), match="leave it out"):
        knoll.LocalGaussianMixture(2, bounds=BOUNDS).client(3)
