"""The sphere as a domain: a record's direction depends on that record alone, and none is longer than one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import knoll
from knoll.compiled.sphere import onto_sphere
from knoll.privacy.errors import BoundsError
from knoll.queries import Ball, Directions, Sphere, domain_from
from knoll.queries.query import UNIT

ANY = st.floats(width=64, allow_nan=False)


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 9)), elements=ANY))
def test_no_record_is_longer_than_one_whatever_it_holds(rows):
    grid = Sphere(rows.shape[1]).clip_to_grid(rows)
    assert grid.shape == rows.shape
    assert (grid == np.trunc(grid)).all()
    assert (np.square(grid.astype(np.int64)).sum(axis=1) <= UNIT**2).all()


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 64, 385, 768])
def test_directions_do_not_depend_on_block_order_layout_or_scale(d):
    rng = np.random.default_rng(d)
    rows = rng.normal(size=(50, d)) * rng.choice([1e-200, 1e-3, 1.0, 1e5, 1e200], size=(50, 1))
    whole = Sphere(d).clip_to_grid(rows)
    alone = np.vstack([Sphere(d).clip_to_grid(row[None]) for row in rows])
    assert np.array_equal(whole, alone)
    assert np.array_equal(whole, Sphere(d).clip_to_grid(np.asfortranarray(rows)))
    assert np.array_equal(whole[::-1], Sphere(d).clip_to_grid(rows[::-1]))
    assert np.array_equal(whole, Sphere(d).clip_to_grid(rows * 2.0**20))
    assert np.allclose(np.linalg.norm(whole, axis=1), UNIT, atol=d**0.5)


def test_compiled_code_does_what_it_says():
    rows = np.random.default_rng(0).normal(size=(20, 7))
    rows[3] = 0.0
    rows[5, 2] = np.nan
    one, other = np.empty(rows.shape), np.empty(rows.shape)
    kept = onto_sphere(rows, float(UNIT), one)
    assert kept == onto_sphere.plain(rows, float(UNIT), other) == 19
    assert np.array_equal(one[:kept], other[:kept])


def test_rows_without_direction_lie_in_the_middle_and_infinite_entries_alone_count():
    rows = np.array([[0.0, 0.0], [0.0, 5e-324], [np.inf, 1.0], [-np.inf, np.inf], [1e308, 1e308], [np.nan, 1.0]])
    found = Sphere(2).clip_to_grid(rows) / UNIT
    r = 0.5**0.5
    assert np.allclose(found, [[0, 0], [0, 1], [1, 0], [-r, r], [r, r]], atol=1e-5)  # the NaN is left out


def test_axes_and_diagonals_reach_the_bounds():
    sphere = Sphere(4)
    grid = sphere.clip_to_grid(np.vstack([np.eye(4), np.ones((1, 4))]))
    assert np.abs(grid[:4]).max() == UNIT == sphere.reach(np.ones(4, dtype=np.int64), 2)
    assert np.abs(grid[4]).sum() >= (1 - 1e-4) * sphere.reach(np.ones(4, dtype=np.int64), 1)


def test_directions_are_seen_from_a_point_along_axes():
    axes = np.eye(5)[:2]
    middle = np.array([0.2, 0.1, 0.0, 0.3, 0.0])
    domain = Directions(Sphere(5), axes, middle)
    rows = np.random.default_rng(1).normal(size=(30, 5))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expect = (unit - middle) @ axes.T
    expect /= np.linalg.norm(expect, axis=1, keepdims=True)
    assert np.allclose(domain.clip_to_grid(rows) / UNIT, expect, atol=1e-3)
    assert np.allclose(domain.seen(unit), expect)


def test_bounds_by_name_and_balls_without_a_middle():
    assert domain_from("sphere", 3, ["a", "b", "c"]) == Sphere(3, ("a", "b", "c"))
    assert domain_from(Ball(2.0), 3).middle == (0.0, 0.0, 0.0)
    with pytest.raises(BoundsError, match="radius"):
        Ball(0.0)
    with pytest.raises(BoundsError, match="between 1 and"):
        Sphere(0)


@pytest.mark.parametrize("estimator", [knoll.KMeans, knoll.Lloyd, knoll.GaussianMixture])
def test_estimators_take_the_sphere_and_a_ball_without_a_middle(estimator, tmp_path):
    rng = np.random.default_rng(2)
    X = np.repeat(np.eye(3)[:2], 1500, axis=0) + 0.1 * rng.normal(size=(3000, 3))
    X *= rng.uniform(0.1, 1e6, size=(3000, 1))
    model = estimator(2, epsilon=5.0, bounds="sphere", random_state=0).fit(X)
    labels = model.predict(X)
    assert np.array_equal(labels, model.predict(1e3 * X))  # lengths do not matter
    assert abs(np.mean(labels[:1500]) - np.mean(labels[1500:])) > 0.9
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert again.bounds_ == model.bounds_
    assert np.array_equal(again.predict(X), labels)
    assert estimator(2, epsilon=5.0, bounds=knoll.Ball(1e6), random_state=0).fit(X).bounds_.n_columns == 3


@pytest.mark.parametrize("d", [1, 40, 384])
@pytest.mark.parametrize("name", ["KMeans", "Lloyd", "FastLloyd", "PEMeans", "GaussianMixture"])
def test_a_ball_without_a_middle_has_as_many_columns_as_the_rows(name, d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(1000, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = getattr(knoll, name)(2, epsilon=2.0, bounds=knoll.Ball(1.0), random_state=0).fit(X)
    assert model.bounds_ == knoll.Ball(1.0, (0.0,) * d)
    centres = model.means_ if name == "GaussianMixture" else model.cluster_centers_
    assert centres.shape == (2, d)
    assert np.linalg.norm(centres, axis=1).max() < 1 + 1e-6


def test_on_the_sphere_labels_go_by_cosine():
    rng = np.random.default_rng(3)
    X = np.vstack(
        [[1.0, 0.0, 0.0] + 0.05 * rng.normal(size=(3000, 3)), [0.0, 1.0, 0.0] + 0.9 * rng.normal(size=(3000, 3))]
    )
    model = knoll.Lloyd(2, epsilon=20.0, bounds="sphere", random_state=0).fit(X)
    unit = model.cluster_centers_ / np.linalg.norm(model.cluster_centers_, axis=1, keepdims=True)
    assert np.ptp(np.linalg.norm(model.cluster_centers_, axis=1)) > 0.1  # so distance and cosine differ
    assert np.array_equal(model.predict(X), (X @ unit.T).argmax(axis=1))
    assert np.array_equal(model.transform(X).argmin(axis=1), model.predict(X))
