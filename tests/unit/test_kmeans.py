"""The flagship: close to non-private k-means, on data that it was not made for."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import knoll
from knoll.cluster.kmeans import without_noise
from knoll.numeric.breathe import breathe
from knoll.numeric.ward import ward
from knoll.steps.refine import Centres, averaged, expected, fused
from knoll.steps.shapes import Shapes
from knoll.testing import zero_noise


def ratio(X, k, *, average=np.mean, runs=3, **kw):
    """Loss of the private centres over that of non-private k-means."""
    box = knoll.Box(tuple(X.min(axis=0)), tuple(X.max(axis=0)))
    best = KMeans(k, n_init=5, random_state=0).fit(X).inertia_
    return average([-knoll.KMeans(k, bounds=box, random_state=r, **kw).fit(X).score(X) / best for r in range(runs)])


@pytest.mark.parametrize(
    ("d", "k", "limit"), [(2, 10, 1.1), (4, 6, 1.1), (8, 12, 1.1), (16, 10, 1.1), (32, 8, 1.25), (64, 6, 1.25)]
)
def test_near_the_non_private_loss_at_300_records_a_cluster(d, k, limit):
    X, _ = make_blobs(300 * k, d, centers=k, cluster_std=1.5, random_state=d)
    assert ratio(X, k, epsilon=1.0, delta=len(X) ** -1.1) < limit  # the delta of the PE-means benchmark


def test_many_clusters_in_many_columns_are_not_missed():
    X, _ = make_blobs(300 * 40, 32, centers=40, cluster_std=1.5, random_state=1)
    assert ratio(X, 40, average=np.median, runs=7, epsilon=1.0, delta=len(X) ** -1.1) < 1.15


def test_no_centre_stays_where_no_record_is():
    """Tight clusters in wide bounds, two of them close: a centre kept for records that are not there would miss one."""
    rng = np.random.default_rng(5)
    centres = rng.uniform(-1, 1, size=(15, 2))
    X = centres[rng.integers(0, 15, 5000)] + 0.03 * rng.normal(size=(5000, 2))
    assert ratio(X, 15, runs=15, epsilon=1.0, delta=len(X) ** -1.1) < 1.08


def test_what_a_cell_weighs_in_which_nothing_is_seen():
    clear = expected(np.array([100.0, 100.0, -3.0]), np.full(3, 5.0**2), 3)
    assert clear == pytest.approx([100, 100, 1], rel=0.01)  # empty: a fifth of the standard error
    blind = expected(np.array([100.0, 100.0, -3.0]), np.full(3, 1000.0**2), 3)
    assert blind == pytest.approx([200] * 3)  # nothing is known: no less than the usual count, and the least


def test_k_means_that_breathes_finds_what_restarts_miss():
    X, _, centres = make_blobs(6000, 12, centers=60, random_state=2, return_centers=True)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(X))
    best = KMeans(60, init=centres, n_init=1).fit(X, sample_weight=weights).inertia_
    found = breathe(X, weights, 60, np.random.RandomState(0))
    assert found.inertia_ < 1.001 * best
    assert KMeans(60, n_init=3, random_state=0).fit(X, sample_weight=weights).inertia_ > 1.01 * best


def test_spare_centres_are_merged_where_it_costs_least():
    at = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.5, 0.0]])
    found = fused(Centres(at, np.ones((4, 2)), np.array([100.0, 50.0, 100.0, 150.0]), np.zeros(4)), 3)
    assert found.at == pytest.approx(np.array([[0.0, 0.0], [10.375, 0.0], [0.0, 10.0]]))
    assert found.weight == pytest.approx([100.0, 200.0, 100.0])
    assert found.variance[1] == pytest.approx([1 + 0.25 * 0.75 * 0.25, 1.0])


def test_groups_of_centres_are_those_of_plain_agglomeration():
    rng = np.random.default_rng(0)
    at, weight = rng.normal(size=(40, 3)), rng.uniform(0.1, 5, 40)
    groups = [[i] for i in range(40)]

    def loss(rows):
        return (weight[rows, None] * (at[rows] - np.average(at[rows], axis=0, weights=weight[rows])) ** 2).sum()

    while len(groups) > 7:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
        costs = [loss(groups[a] + groups[b]) - loss(groups[a]) - loss(groups[b]) for a, b in pairs]
        a, b = pairs[int(np.argmin(costs))]
        groups[b] += groups.pop(a)
    found = ward(at, weight, 7)
    assert {frozenset(np.flatnonzero(row)) for row in found} == {frozenset(rows) for rows in groups}
    means = sorted(np.average(at[rows], axis=0, weights=weight[rows])[0] for rows in groups)
    assert np.sort((found @ at)[:, 0]) == pytest.approx(means)


def test_what_a_merge_costs_is_not_what_noise_makes_of_it():
    at, error = np.array([[0.0], [4.0], [9.0]]), np.array([0.0, 0.0, 20.0])
    pair = Centres(at, np.ones((3, 1)), np.full(3, 100.0), error)
    assert fused(pair, 2).at[:, 0] == pytest.approx([0.0, 6.5])  # 25 - 20 is less than 16


def test_counts_are_averaged_over_steps():
    seen = Shapes(np.array([120.0, -30.0]), *(np.zeros((2, 1)),) * 2, 20.0, *(np.zeros((2, 1)),) * 2)
    count, doubt = averaged(np.array([100.0, 10.0]), np.inf, seen)
    assert (count == seen.count).all()
    assert doubt == pytest.approx([400.0, 400.0])
    count, doubt = averaged(np.array([100.0, 10.0]), np.full(2, 300.0), seen)
    assert count == pytest.approx([110.0, 10 - 40 * 301 / 701])
    assert doubt == pytest.approx([200.0, 400 * 301 / 701])


def test_heavy_tails_and_uneven_clusters(rng):
    parts = [rng.standard_t(3, size=(n, 3)) * s + c for n, s, c in ((9000, 1.0, -8), (900, 0.3, 0), (3000, 2.0, 9))]
    assert ratio(np.clip(np.vstack(parts), -40, 40), 3, epsilon=1.0) < 1.15


def _stretched(rng, centres, label):
    d = centres.shape[1]
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0] * np.geomspace(0.2, 3.0, d)
    return centres[label] + rng.normal(size=(len(label), d)) @ turn.T


def _with_background(rng, centres, label):
    X = centres[label] + rng.normal(size=(len(label), centres.shape[1]))
    return np.vstack([X, rng.uniform(-12, 12, size=(len(X) // 10, X.shape[1]))])


KINDS = {
    "stretched": _stretched,
    "heavy tails": lambda rng, centres, label: (
        centres[label] + np.clip(rng.standard_t(3, size=(len(label), centres.shape[1])), -30, 30)
    ),
    "background": _with_background,
    "overlapping": lambda rng, centres, label: centres[label] + 4 * rng.normal(size=(len(label), centres.shape[1])),
    "uneven": lambda rng, centres, label: np.vstack(
        [(x := centres[label] + rng.normal(size=(len(label), centres.shape[1]))), x[label == 0] + 0.1]
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("d", "k", "limit"), [(8, 8, 1.1), (16, 8, 1.1), (48, 6, 1.25)])
def test_other_kinds_of_data(kind, d, k, limit):
    rng = np.random.default_rng(d)
    centres, label = rng.uniform(-10, 10, size=(k, d)), np.repeat(np.arange(k), 300)
    X = KINDS[kind](rng, centres, label)
    assert ratio(X, k, average=np.median, runs=5, epsilon=1.0, delta=len(X) ** -1.1) < limit


@pytest.mark.parametrize("method", ["KMeans", "PEMeans", "Lloyd", "FastLloyd", "LSHTree", "Cubes"])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(300, 3, 1), (2000, 2, 1000), (200, 784, 3), (500, 1, 4), (3, 2, 5)], ids=str
)
def test_extreme_numbers_of_clusters_and_columns(method, n, d, k, rng):
    X = rng.uniform(-1, 1, size=(n, d))
    model = getattr(knoll, method)(k, bounds=(-1, 1), random_state=0).fit(X)
    assert model.cluster_centers_.shape == (k, d)
    assert (np.abs(model.cluster_centers_) <= 1).all()


@pytest.mark.parametrize("method", ["KMeans", "PEMeans", "Lloyd", "FastLloyd", "LSHTree", "Cubes"])
def test_fewer_distinct_points_than_clusters(method):
    X = np.repeat([[-0.5, 0.5], [0.5, -0.5]], 2000, axis=0)
    model = getattr(knoll, method)(5, epsilon=4.0, bounds=(-1, 1), random_state=0).fit(X)
    assert -model.score(X) / len(X) < 0.25


def test_pe_means_is_near_k_means_and_ahead_of_its_paper():
    X, _ = make_blobs(6000, 6, centers=8, random_state=4)
    best = KMeans(8, n_init=5, random_state=0).fit(X).inertia_
    loss = {
        preset: np.mean(
            [-knoll.PEMeans(8, bounds=(-15, 15), preset=preset, random_state=r).fit(X).score(X) for r in range(runs)]
        )
        for preset, runs in (("default", 15), ("paper", 5))
    }
    assert loss["default"] < 1.1 * best
    assert loss["default"] < loss["paper"]


@pytest.mark.parametrize(
    ("method", "other"),
    [
        ("Lloyd", {"n_steps": 9, "restart": True}), ("FastLloyd", {"n_steps": 9, "clip": 0.1, "restart": True}),
        ("LSHTree", {"max_depth": 3}), ("Cubes", {"max_depth": 3, "projection": 1}),
    ],
)  # fmt: skip
def test_the_papers_presets_do_not_look_at_other_parameters(method, other, rng):
    X = rng.uniform(-1, 1, size=(500, 2))
    kind = getattr(knoll, method)
    first, second = (kind(3, bounds=(-1, 1), preset="paper", **more).fit(X).privacy_.releases for more in ({}, other))
    assert [(e.query, e.share, e.sensitivity) for e in first] == [(e.query, e.share, e.sensitivity) for e in second]
    with pytest.raises(ValueError, match="preset"):
        kind(3, bounds=(-1, 1), preset="none").fit(X)


def test_noise_is_taken_out_of_eigenvalues(rng):
    d, n = 60, rng.normal(size=(60, 60))
    noise = (n + n.T) / 2**0.5 * 0.1
    true = np.append(np.zeros(d - 1), 5.0)
    values = np.linalg.eigvalsh(np.diag(true) + noise)
    found = without_noise(values, 1.1 * 2 * 0.1 * d**0.5)
    assert found.sum() == pytest.approx(values.sum())
    assert found[:-1] == pytest.approx(true[:-1], abs=0.2)
    assert found[-1] == pytest.approx(5.0, abs=0.4)


def test_columns_of_very_different_widths(rng):
    X = np.vstack([rng.normal(c, 1, size=(2000, 2)) for c in (-4, 4)]) * [1e5, 1e-3]
    assert ratio(X, 2, epsilon=1.0) < 1.05
    model = knoll.KMeans(2, bounds=([-1e6, -0.01], [1e6, 0.01]), scale_by_bounds=True).fit(X)
    assert np.sort(model.cluster_centers_[:, 1]) == pytest.approx([-4e-3, 4e-3], abs=5e-4)


def test_without_noise_it_finds_what_k_means_finds():
    X, _ = make_blobs(5000, 5, centers=7, random_state=2)
    with zero_noise():
        assert ratio(X, 7) < 1.01


def test_steps_are_left_out_when_centres_rest():
    """What they would have cost goes to the last one, and nothing is lost."""
    X = np.random.default_rng(0).uniform(size=(200_000, 2))
    best = KMeans(4, n_init=5, random_state=0).fit(X).inertia_
    model = knoll.KMeans(4, epsilon=8.0, bounds=(0, 1), random_state=0).fit(X)
    steps = [release for release in model.privacy_.releases if release.query == "shapes of clusters"]
    assert 1 < len(steps) < 5
    assert steps[-1].share > 0.5
    assert 7.9 < model.privacy_.spent_epsilon <= 8.0
    assert -model.score(X) < 1.002 * best


def test_pure_differential_privacy_and_replace_one():
    X, _ = make_blobs(6000, 3, centers=4, random_state=5)
    assert ratio(X, 4, epsilon=2.0, delta=0.0) < 1.2
    assert ratio(X, 4, epsilon=2.0, relation="replace_one") < 1.1


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_number_of_clusters_is_found_at_no_cost(k):
    X, _ = make_blobs(20_000, 2, centers=k, cluster_std=0.7, random_state=3)
    model = knoll.KMeans(None, epsilon=4.0, bounds=(-15, 15), random_state=0).fit(X)
    assert model.n_clusters_ == k == len(model.cluster_centers_)
    assert model.n_clusters_confidence_ > 0.5
    assert model.privacy_.spent_epsilon <= 4.0


def test_stderr_is_of_the_size_of_the_error():
    X, _ = make_blobs(9000, 2, centers=[[-6, 0], [6, 0], [0, 8]], random_state=0)
    fits = [knoll.KMeans(3, bounds=(-12, 14), random_state=0).fit(X) for _ in range(25)]
    ordered = [(m.cluster_centers_[(o := np.argsort(m.cluster_centers_[:, 0]))], m.centers_stderr_[o]) for m in fits]
    observed = np.std([centres for centres, _ in ordered], axis=0)
    stated = np.median([stderr for _, stderr in ordered], axis=0)
    assert (observed < 2.5 * stated).all()
    assert (observed > 0.3 * stated).all()
