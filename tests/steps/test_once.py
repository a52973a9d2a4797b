"""Estimators that use a kernel sum at small budgets: when they do, that they find more, and that bars stay honest."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import knoll
from knoll.numeric.posterior.mixture import fit as fit_grid
from knoll.testing import zero_noise

UNIT = {2: knoll.Box((0.0, 0.0), (1.0, 1.0)), 3: knoll.Box((0.0,) * 3, (1.0,) * 3)}
OTHERS = {"PEMeans": "votes", "GaussianMixture": "tree", "MorseClustering": "grid", "ModeClustering": "ladder"}


def blobs(k=9, each=400, d=2, width=0.03, seed=0):
    """Clusters on a grid between 0 and 1, their labels and their centres."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(k ** (1 / d) - 1e-9))
    at = (np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k] + 0.5) / side
    y = np.repeat(np.arange(k), each)
    return np.clip(at[y] + width * rng.normal(size=(len(y), d)), 0, 1), y, at


def fit(name, X, k, **given):
    return getattr(knoll, name)(k, **{"bounds": UNIT[X.shape[1]], "random_state": 0, **given}).fit(X)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("d", [2, 3])
def test_small_budgets_use_a_kernel_sum_and_large_ones_do_not(name, d):
    X, y, _ = blobs(8, 400, d)
    small, large = fit(name, X, 8, epsilon=0.25), fit(name, X, 8, epsilon=8.0)
    other = "tree" if name == "MorseClustering" and d == 3 else OTHERS[name]
    assert [small.strategy_, large.strategy_] == ["kernel sum", other]
    assert [entry.query for entry in small.privacy_.releases][1:] == ["Fourier coefficients"] * 2
    assert "a kernel sum shows more" in small.strategy_reason_
    assert "place centres better" in large.strategy_reason_
    assert small.effective_draws_ >= 8 > large.effective_draws_ == 0
    assert adjusted_rand_score(y, small.predict(X)) > 0.75


@pytest.mark.parametrize("name", OTHERS)
def test_where_it_cannot_be_used_it_is_not(name):
    X, _, _ = blobs(4, 200)
    for more in ({"delta": 0.0}, {"bounds": knoll.Box((0.0, 0.5), (1.0, 0.5))}, {"epsilon": 1e-4}):
        model = fit(name, X, 4, **{"epsilon": 0.2, **more})
        assert model.strategy_ == OTHERS[name]
        assert model.effective_draws_ == 0
    one = fit(name, X, 1, epsilon=0.2)
    assert (one.strategy_, one.records_over_noise_ > 0) == (OTHERS[name], name == "PEMeans")


@pytest.mark.parametrize("name", OTHERS)
def test_it_finds_more_than_the_other_releases_at_a_small_budget(name, monkeypatch):
    X, y, _ = blobs(25, 400)
    with_it = [adjusted_rand_score(y, fit(name, X, 25, epsilon=0.1, random_state=r).predict(X)) for r in range(2)]
    monkeypatch.setattr("knoll.steps.strategy.may_release_once", lambda *given: False)
    without = [adjusted_rand_score(y, fit(name, X, 25, epsilon=0.1, random_state=r).predict(X)) for r in range(2)]
    assert np.mean(with_it) > np.mean(without) + 0.03


def test_a_mixture_of_a_kernel_sum_has_the_shapes_of_the_records():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1000)
    X = np.where(y[:, None] == 0, [0.3, 0.3], [0.7, 0.65]) + rng.normal(size=(2000, 2)) * [0.1, 0.04]
    for shape in ("full", "diag", "spherical", "tied"):
        model = fit("GaussianMixture", X, 2, epsilon=0.25, covariance_type=shape)
        assert model.strategy_ == "kernel sum"
        if shape != "spherical":
            width = np.sqrt(np.einsum("kii->ki", model.covariances_))
            assert (width[:, 0] / width[:, 1]).mean() > 1.4
            assert width[:, 0] == pytest.approx(0.1, rel=0.35)
        off = np.abs(np.sort(model.means_, axis=0) - [[0.3, 0.3], [0.7, 0.65]])
        assert (off < 5 * model.means_stderr_.max()).all()
        assert np.isfinite(model.covariances_stderr_).all()


def test_grid_em_is_the_likelihood_fit_of_weighted_points():
    """Two Gaussians painted on a fine grid: weights, means and covariances come back."""
    axis = (np.arange(80) + 0.5) / 80
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    wide = np.array([[0.06, 0.03], [0.03, 0.08]])
    at = np.array([[0.3, 0.4], [0.7, 0.6]])
    mass = sum(
        w * np.exp(-0.5 * np.square((points - c) / s).sum(axis=1)) / np.prod(s)
        for w, c, s in zip([300.0, 700.0], at, wide, strict=True)
    )
    weights, means, covariances, shares = fit_grid(points, mass, np.full(2, 80**-2 / 12), at + 0.05)
    assert weights == pytest.approx([0.3, 0.7], abs=0.02)
    assert means == pytest.approx(at, abs=0.01)
    assert np.sqrt(np.einsum("kii->ki", covariances)) == pytest.approx(wide, rel=0.1)
    assert shares.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["PEMeans", "GaussianMixture", "MorseClustering", "ModeClustering"])
def test_it_survives_saving(name, tmp_path):
    X, _, _ = blobs(6, 300)
    model = fit(name, X, 6, epsilon=0.2)
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert (again.strategy_, again.strategy_reason_) == (model.strategy_, model.strategy_reason_)
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("name", OTHERS)
def test_bars_cover(name):
    """Published places against the records they stand for: two standard errors cover most of them."""
    inside = []
    for seed in range(6):
        X, _, _ = blobs(9, 400, seed=seed)
        model = fit(name, X, 9, epsilon=0.2, random_state=seed)
        if name == "GaussianMixture":
            shares, at, error = model.predict_proba(X), model.means_, model.means_stderr_
        else:
            shares, at, error = np.eye(9)[model.predict(X)], model.cluster_centers_, model.centers_stderr_
        true = shares.T @ X / np.maximum(shares.sum(axis=0), 1e-9)[:, None]
        known = np.isfinite(error)
        inside.append((np.abs(at - true) < 2 * error)[known])
    assert np.concatenate(inside).mean() > 0.88
    assert len(np.concatenate(inside)) > 60


def test_peaks_of_equal_clusters_are_all_found_without_noise():
    X, y, at = blobs(9, 400)
    with zero_noise():
        model = fit("ModeClustering", X, 9, epsilon=0.2)
    assert np.linalg.norm(at[:, None] - model.cluster_centers_, axis=2).min(axis=1).max() < 0.04
    assert adjusted_rand_score(y, model.predict(X)) > 0.97
