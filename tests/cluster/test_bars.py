"""Error bars cover, clusters that are only noise are marked, and may be left out."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

import knoll
from benchmarks.coverage.run import errors
from benchmarks.mixed.made import make
from knoll.numeric.bars import clear_level, counted, counted_together, told_apart
from knoll.numeric.made_up import Measured, as_records
from knoll.privacy import PrivacyError
from knoll.queries import Corners, Line, Product
from knoll.rows import points_of
from knoll.steps.shapes import Shapes, beyond_clip, measured_shapes

CLUSTERERS = ["KMeans", "Lloyd", "FastLloyd", "PEMeans", "LSHTree", "Cubes", "MorseClustering", "ModeClustering"]
MIXTURES = ["GaussianMixture", "EMGaussianMixture", "HardEMGaussianMixture"]


def blobs(n, seed, d=2):
    rng = np.random.default_rng(seed)
    return rng.uniform(-8, 8, (5, d))[rng.integers(5, size=n)] + rng.normal(size=(n, d))


def fit(name, X, k, seed=0, **more):
    return getattr(knoll, name)(k, bounds=(-12, 12), random_state=seed, **more).fit(X)


@pytest.mark.parametrize("name", CLUSTERERS + MIXTURES)
def test_two_standard_errors_cover(name):
    hits = {"centres": [], "sizes": []}
    for seed, k in [(0, 5), (1, 5), (2, 15), (3, 15), (4, 15)]:
        X = blobs(2000, seed)
        for what, (error, bar) in errors(fit(name, X, k, seed), X).items():
            hits[what] += (np.abs(error) <= 2 * bar)[np.isfinite(bar)].tolist()
    assert min(np.mean(each) for each in hits.values()) > 0.85  # of about 100, which are not independent


@pytest.mark.parametrize("name", CLUSTERERS + MIXTURES)
def test_right_clusters_are_seen(name):
    model = fit(name, blobs(20_000, 3), 5, epsilon=4.0)
    seen = getattr(model, "clusters_seen_", getattr(model, "components_seen_", None))
    assert seen.dtype == bool
    assert seen.mean() >= 0.8


@pytest.mark.parametrize("name", ["KMeans", "Lloyd", "FastLloyd", "PEMeans", "Cubes"])
def test_far_too_many_clusters_are_not_seen(name):
    model = fit(name, blobs(300, 0), 200)
    assert model.clusters_seen_.mean() < 0.05
    assert np.isinf(model.centers_stderr_[~model.clusters_seen_]).all()


@pytest.mark.parametrize("name", [*CLUSTERERS, *MIXTURES])
def test_unseen_can_be_left_out(name, tmp_path):
    X = blobs(400, 1, d=3)
    model = fit(name, X, 20, drop_unseen=True)
    mixture = name in MIXTURES
    k = model.n_components_ if mixture else model.n_clusters_
    assert 1 <= k < 20
    assert set(model.predict(X)) <= set(range(k))
    places = model.means_ if mixture else model.cluster_centers_
    assert len(places) == k
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    what = "components_seen_" if mixture else "clusters_seen_"
    assert getattr(again, what).dtype == bool
    np.testing.assert_array_equal(getattr(again, what), getattr(model, what))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_drop_unseen_changes_nothing_else():
    X = blobs(20_000, 5)
    with knoll.testing.zero_noise():
        plain, dropping = (fit("KMeans", X, 5, drop_unseen=drop) for drop in (False, True))
    np.testing.assert_array_equal(plain.cluster_centers_, dropping.cluster_centers_)


def test_a_bad_flag_is_refused():
    with pytest.raises(PrivacyError, match="drop_unseen"):
        fit("KMeans", blobs(100, 0), 2, drop_unseen="yes")


def test_more_clusters_need_larger_counts():
    levels = [clear_level(k, pure=False) for k in (1, 10, 1000)]
    assert levels == sorted(levels)
    assert clear_level(1000, pure=True) > levels[-1]  # Laplace noise has longer tails


def test_the_largest_of_many_noisy_counts_shrink_and_clear_ones_stay(rng):
    count = np.concatenate([7 + 13 * rng.standard_normal(2000), [4000.0]])
    excess, doubt = counted(count, np.full(2001, 13.0), pure=False)
    assert np.abs(count - excess)[:2000].max() < 45
    assert abs(excess[-1]) < 1
    assert (doubt <= 13).all()


def test_counts_of_a_grid_shrink_as_those_of_clusters(rng):
    noise, m = np.full(600, 4.0), 600
    plain = np.zeros((m, 2))
    cells = Measured(
        plain, plain, plain, 10 + 4 * rng.standard_normal(m), noise, np.arange(m) % 3, np.zeros(2), np.eye(2)
    )
    excess, doubt = counted_together(cells, 3, pure=False)
    assert abs(excess.sum()) < 3 * 4 * m**0.5  # what noise makes of the sum
    assert counted(cells.count, noise, pure=False)[0][cells.count > 10].sum() > 200  # cell by cell it was far more
    assert np.linalg.norm(doubt) <= 4 * m**0.5 + 1e-9
    each = Measured(plain, plain, plain, cells.count, noise, np.arange(m), np.zeros(2), np.eye(2))
    np.testing.assert_allclose(counted_together(each, m, pure=False), counted(cells.count, noise, pure=False))


def test_sizes_of_bent_clusters_have_bars_of_their_size():
    error, bar = [], []
    for seed in range(6):
        X, _ = make_moons(4000, noise=0.1, random_state=seed)
        model = knoll.MorseClustering(2, bounds=[(-1.5, 2.5), (-1.0, 1.5)], random_state=seed).fit(X)
        away, wide = errors(model, X)["sizes"]
        error, bar = [*error, *away], [*bar, *wide]
    assert (np.abs(error) <= 2 * np.array(bar)).mean() > 0.8
    assert np.sqrt(np.mean(np.square(bar))) < 5 * np.sqrt(np.mean(np.square(error)))


def test_sizes_of_leaves_cover_in_many_columns():
    hits = []
    for seed in range(6):
        X = blobs(4000, seed, d=10)
        error, bar = errors(fit("LSHTree", X, 10, seed), X)["sizes"]
        hits += (np.abs(error) <= 2 * bar)[np.isfinite(bar)].tolist()
    assert np.mean(hits) > 0.85


def test_shares_of_levels_have_bars_of_their_size():
    table = make("dominant", "25/75", 0, 6000)
    model = knoll.KMeans(table.k, epsilon=4.0, bounds=table.bounds, random_state=0).fit(table.frame)
    rows, labels = points_of(model, table.frame), model.predict(table.frame)
    where = [at for _, at, m in model.bounds_.levels if m > 2]
    error, bar = [], []
    for i in np.flatnonzero(model.clusters_seen_):
        away = model.cluster_centers_[i] - rows[labels == i].mean(axis=0)
        error += [away[at] for at in where]
        bar += [model.centers_stderr_[i, at] for at in where]
    error, bar = np.concatenate(error), np.concatenate(bar)
    assert (np.abs(error) <= 2 * bar).mean() > 0.93
    assert np.sqrt(np.mean(bar**2)) < 4 * np.sqrt(np.mean(error**2))


def test_made_up_records_have_one_level_each(rng):
    domain = Product.of((Line(0.0, 10.0), Corners(3)))
    usual = np.tile([5.0, 0.7, 0.2, 0.1], (4000, 1))
    rows = as_records(domain, usual + rng.normal(size=usual.shape), usual, np.random.RandomState(0))
    assert set(rows[:, 1:].sum(axis=1)) == {1.0}
    assert np.abs(rows[:, 1:].mean(axis=0) - [0.7, 0.2, 0.1]).max() < 0.03
    assert rows[:, 0].std() > 0.8


def test_a_centre_that_noise_may_have_moved_off_another_is_not_told_apart():
    at = np.array([[0.0, 0.0], [0.3, 0.3], [5.0, 5.0]])
    noise = np.array([[0.01, 0.01], [0.3, 0.3], [0.3, 0.3]])
    np.testing.assert_array_equal(told_apart(at, noise), [True, False, True])


def test_a_cell_whose_records_were_clipped_on_one_side_is_hidden():
    ones, radii = np.ones((2, 2)), np.full(2, 0.1)
    moved = np.array([[0.08, 0.02], [0.01, 0.0]])
    seen = Shapes(np.full(2, 500.0), 500 * moved, np.full((2, 2), 1.0), 5.0, 0.5 * ones, 0.05 * ones)
    measured = measured_shapes(seen, np.zeros((2, 2)), moved, 0.001 * ones, ones, radii)
    np.testing.assert_array_equal(np.isfinite(measured.noise).all(axis=1), [False, True])


def test_few_counts_do_not_tell_that_all_are_alike():
    count, noise = np.array([200.0, 261.0, 196.0]), np.full(3, 147.0)
    assert (counted(count, noise, pure=False)[1] > 0.5 * noise).all()  # their median is as uncertain
    many = 1000 + 100 * np.random.default_rng(0).normal(size=400)
    assert (counted(many, np.full(400, 100.0), pure=False)[1] < 60).mean() > 0.9


def test_cells_are_as_wide_as_their_squares_say():
    ones, radii, n = np.ones((3, 2)), np.ones(3), np.full((3, 1), 500.0)
    for filled in (0.02, 0.4):
        seen = Shapes(n[:, 0], 0 * ones, n * filled / 2 * ones, 5.0, ones, ones)
        wider = beyond_clip(seen, n, 0.01 * ones, ones, radii)[0]
        np.testing.assert_allclose(wider, filled / 0.02, rtol=0.3)


def test_a_component_without_records_is_not_seen():
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(20_000, 2)), -12, 12)
    model = knoll.HardEMGaussianMixture(12, epsilon=4.0, bounds=(-12, 12), random_state=0).fit(X)
    empty = np.bincount(model.predict(X), minlength=12) == 0
    assert not model.components_seen_[empty].any()


def test_a_weight_of_which_nothing_is_known_has_no_bar():
    model = fit("GaussianMixture", blobs(300, 0), 8, epsilon=0.05)
    known = np.isfinite(model.weights_stderr_)
    assert not known.all()
    assert (model.weights_stderr_[known] < 0.3).all()
    assert model.quality_ is not None


@pytest.mark.parametrize(("n", "d", "epsilon"), [(20_000, 12, 4.0), (5000, 4, 1.0), (20_000, 64, 1.0)])
def test_bars_of_directions_cover(n, d, epsilon):
    hits = {"centres": [], "sizes": []}
    for seed in range(3):
        X = blobs(n, seed, d)
        model = knoll.SphericalKMeans(5, epsilon=epsilon, random_state=seed).fit(X)
        assert model.clusters_seen_.mean() >= 0.5
        for what, (error, bar) in errors(model, X).items():
            hits[what] += (np.abs(error) <= 2 * bar)[np.isfinite(bar)].tolist()
    assert min(np.mean(each) for each in hits.values()) > 0.85
