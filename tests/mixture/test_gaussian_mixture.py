"""Private mixtures: near the non-private likelihood, proper whatever the noise did, honest about their errors."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture as NonprivateMixture

import knoll
from knoll.mixture import Mixture
from knoll.privacy import MemoryLedger
from knoll.testing import zero_noise
from tests.made import three

METHODS = ("GaussianMixture", "EMGaussianMixture", "HardEMGaussianMixture")


def skewed(d, k, n, seed=1, apart=3.0):
    """Records of a mixture with random full covariances."""
    rng = np.random.RandomState(seed)
    roots = rng.standard_normal((k, d, d)) / d**0.5
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    means = rng.standard_normal((k, d)) * apart / 2**0.5
    return Mixture(rng.dirichlet(np.full(k, 5.0)), means, covariances).sample(n, rng)


def best(X, k, **kw):
    return NonprivateMixture(k, n_init=3, random_state=0, **kw).fit(X).score(X)


@pytest.mark.parametrize("d", [2, 8])
def test_near_the_non_private_likelihood(d):
    X = skewed(d, 5, 20_000)
    model = knoll.GaussianMixture(5, epsilon=1.0, bounds=(-12, 12), random_state=0).fit(X)
    assert model.score(X) > best(X, 5) * 1.02
    assert model.privacy_.spent_epsilon <= 1.0


@pytest.mark.parametrize("shape", ["full", "tied", "diag", "spherical"])
def test_every_kind_of_covariance(shape):
    X, _ = make_blobs(8000, 3, centers=[[-4, 0, 0], [4, 0, 2], [0, 5, -3]], random_state=0)
    model = knoll.GaussianMixture(3, epsilon=2.0, bounds=(-10, 10), covariance_type=shape, random_state=0).fit(X)
    assert model.score(X) > best(X, 3, covariance_type=shape) - 0.05
    off = model.covariances_ * (1 - np.eye(3))
    if shape == "tied":
        assert np.ptp(model.covariances_, axis=0).max() == 0
    if shape in ("diag", "spherical"):
        assert not off.any()
    if shape == "spherical":
        assert np.ptp(np.einsum("kii->ki", model.covariances_), axis=1).max() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_without_noise_steps_climb_to_the_non_private_fit(name):
    X = skewed(3, 3, 6000, seed=3, apart=4.0)
    with zero_noise():
        model = getattr(knoll, name)(3, bounds=(-12, 12), random_state=0).fit(X)
    assert model.score(X) > best(X, 3) - 0.03


def test_one_column_is_near_the_non_private_fit():
    X = three(1000)
    target = NonprivateMixture(3, n_init=10, random_state=0).fit(X)
    order = np.argsort(target.means_[:, 0])
    close = []
    for seed in range(8):
        model = knoll.GaussianMixture(3, epsilon=3.0, delta=0.0, bounds=(0, 70), random_state=seed).fit(X)
        close.append(np.abs(model.means_[:, 0] - target.means_[order, 0]).max() < 1.5)
    assert sum(close) >= 7


def test_stderr_of_one_column_is_of_the_size_of_the_error_against_the_records():
    X = three(3000)
    fits = [knoll.GaussianMixture(3, epsilon=1.0, bounds=(0, 70), random_state=0).fit(X) for _ in range(12)]
    shares = [fit.predict_proba(X) for fit in fits]
    means = [
        fit.means_[:, 0] - (share * X).sum(axis=0) / share.sum(axis=0) for fit, share in zip(fits, shares, strict=True)
    ]
    weights = [fit.weights_ - share.mean(axis=0) for fit, share in zip(fits, shares, strict=True)]
    for errors, stated in ((means, "means_stderr_"), (weights, "weights_stderr_")):
        observed = np.sqrt(np.square(errors).mean(axis=0))
        told = np.median([getattr(fit, stated).reshape(-1) for fit in fits], axis=0)
        assert (observed < 2 * told).all()
        assert (observed > told / 5).all()


def test_stderr_of_many_columns_is_of_the_size_of_the_noise():
    X, _ = make_blobs(9000, 3, centers=[[-5, 0, 0], [5, 0, 2]], random_state=0)
    fits = [knoll.GaussianMixture(2, epsilon=0.5, bounds=(-12, 12), random_state=0).fit(X) for _ in range(10)]
    order = [np.argsort(fit.means_[:, 0]) for fit in fits]
    for found, stated in (("means_", "means_stderr_"), ("covariances_", "covariances_stderr_")):
        observed = np.std([getattr(fit, found)[o] for fit, o in zip(fits, order, strict=True)], axis=0)
        told = np.median([getattr(fit, stated)[o] for fit, o in zip(fits, order, strict=True)], axis=0)
        assert 0.4 < np.median(observed / told) < 2.5


def test_many_columns_and_few_records_shrink_to_the_diagonal_and_say_so():
    X = skewed(16, 3, 4000)
    rough = knoll.GaussianMixture(3, epsilon=0.5, bounds=(-12, 12), random_state=0).fit(X)
    fine = knoll.GaussianMixture(3, epsilon=50.0, bounds=(-12, 12), random_state=0).fit(X)
    assert rough.shrinkage_.max() > 0.2
    assert fine.shrinkage_.max() < 0.05
    assert np.isfinite(rough.score(X))


@pytest.mark.parametrize("k", [1, 3])
def test_the_number_of_components_is_found(k):
    X = np.concatenate([np.random.RandomState(i).normal(15 * i, 2, 4000) for i in range(k)])[:, None]
    model = knoll.GaussianMixture(None, epsilon=2.0, bounds=(-20, 80), random_state=0).fit(X)
    assert model.n_components_ == k == len(model.weights_)
    assert 0 < model.n_components_confidence_ <= 1


def test_the_number_of_components_of_two_columns_is_found():
    X, _ = make_blobs(20_000, 2, centers=[[-8, -8], [8, -8], [0, 9]], cluster_std=0.7, random_state=3)
    model = knoll.GaussianMixture(None, epsilon=4.0, bounds=(-15, 15), random_state=0).fit(X)
    assert model.n_components_ == 3


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("epsilon", [1e-2])
def test_degenerate_data_gives_a_proper_mixture(name, d, epsilon):
    for X in (np.zeros((40, d)), np.full((3, d), 1e9), np.repeat(np.eye(d)[:1], 500, axis=0)):
        mixture = getattr(knoll, name)(4, epsilon=epsilon, bounds=(-1, 1), random_state=0).fit(X).to_mixture()
        assert np.linalg.eigvalsh(mixture.covariances).min() >= 0.999e-6
        assert mixture.weights.sum() == pytest.approx(1.0)
        assert (np.abs(mixture.means) <= 10).all()


def test_bounds_far_wider_than_one_column_of_data():
    X = three(20_000)
    model = knoll.GaussianMixture(3, epsilon=2.0, bounds=(-500, 500), random_state=0).fit(X)
    assert model.score(X) > best(X, 3) - 0.3


def test_what_a_fitted_mixture_can_do():
    X, y = make_blobs(3000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    model = knoll.GaussianMixture(2, bounds=(-10, 10), random_state=0).fit(X)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    agree = (model.predict(X) == y).mean()
    assert max(agree, 1 - agree) > 0.99
    assert model.sample(7).shape == (7, 2)
    assert model.nonprivate_bic(X) > model.nonprivate_aic(X)
    reference = NonprivateMixture(2, random_state=0).fit(X)
    assert model.nonprivate_bic(X) == pytest.approx(reference.bic(X), rel=0.02)
    assert model.nonprivate_aic(X) == pytest.approx(reference.aic(X), rel=0.02)
    assert Mixture.from_dict(json.loads(json.dumps(model.to_mixture().to_dict()))) == model.to_mixture()


@pytest.mark.parametrize("name", ["KMeans", "Lloyd", "FastLloyd", "PEMeans", "LSHTree", "Cubes"])
def test_every_clusterer_becomes_a_mixture(name):
    X, _ = make_blobs(6000, 2, centers=[[-6, 0], [6, 0], [0, 8]], random_state=0)
    ledger = MemoryLedger("d")
    model = getattr(knoll, name)(3, epsilon=2.0, bounds=(-12, 14), ledger=ledger, random_state=0).fit(X)
    before = len(ledger.lines)
    mixture = model.to_mixture(X, epsilon=1.0)
    assert len(ledger.lines) == before + 4
    assert model.mixture_privacy_.spent_epsilon == pytest.approx(1.0, rel=1e-3)
    assert mixture.n_components == 3
    if name == "KMeans":
        assert mixture.log_density(X).mean() > best(X, 3) - 0.05


def test_cells_far_narrower_than_the_gaps_between_them_keep_their_size():
    """The first guess of a cell is the room that its neighbours leave: noise of that size must not decide."""
    X = np.vstack([np.random.default_rng(0).normal(c, 0.1, size=(2000, 3)) for c in ([-6] * 3, [6] * 3, [6, -6, 0])])
    model = knoll.KMeans(3, epsilon=4.0, bounds=(-10, 10), random_state=0).fit(X)
    spread = [np.ptp(np.log(np.linalg.eigvalsh(model.to_mixture(X).covariances))) for _ in range(5)]
    assert max(spread) < 0.4


def test_bad_shapes_are_refused_before_anything_is_spent():
    ledger = MemoryLedger("d")
    X = np.random.default_rng(0).uniform(size=(50, 2))
    for bad in ({"covariance_type": "round"}, {"covariance_floor": 0}, {"covariance_floor": "x"}, {"preset": "best"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            knoll.GaussianMixture(2, bounds=(0, 1), ledger=ledger, **bad).fit(X)
    with pytest.raises(ValueError, match="start"):
        knoll.EMGaussianMixture(2, bounds=(0, 1), ledger=ledger, start="anywhere").fit(X)
    model = knoll.Lloyd(2, bounds=(0, 1), ledger=ledger).fit(X)
    spent = len(ledger.lines)
    with pytest.raises(ValueError, match="covariance_type"):
        model.to_mixture(X, covariance_type="round")
    assert len(ledger.lines) == spent


def test_what_drowned_in_noise_says_so():
    X = np.random.RandomState(0).uniform(size=(40, 3))
    model = knoll.GaussianMixture(5, epsilon=0.05, bounds=(0, 1), random_state=0).fit(X)
    drowned = np.isinf(model.means_stderr_).all(axis=1)
    assert drowned.any()
    assert np.isinf(model.covariances_stderr_[drowned]).all()
    assert (model.shrinkage_[drowned] == 1).all()
    assert not (model.covariances_[drowned] * (1 - np.eye(3))).any()


def test_one_column_takes_the_narrower_noise():
    X = np.random.default_rng(0).normal(size=(500, 1))
    for epsilon, delta, expected in ((3.0, 1e-6, 0.0), (0.01, 0.1, 0.1), (1.0, 0.0, 0.0)):
        privacy = knoll.GaussianMixture(1, epsilon=epsilon, delta=delta, bounds=(-4, 4)).fit(X).privacy_
        assert privacy.delta == expected
        assert privacy.spent_epsilon <= epsilon
    two = knoll.GaussianMixture(1, epsilon=3.0, bounds=(-4, 4)).fit(np.hstack([X, X])).privacy_
    assert two.delta == 1e-6
