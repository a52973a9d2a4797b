"""A kernel sum instead of a tree: what it shows, when it is used, and that it finds more where the budget is small."""

import numpy as np
import pytest

import knoll
from knoll.cluster.kmeans import KMeansByTree
from knoll.estimator import open_curator
from knoll.queries import Count
from knoll.steps.kernel_look import BANDWIDTH, FEATURES
from knoll.steps.one_release import once_asks, release_view
from knoll.testing import zero_noise


def blobs(k=9, each=400, d=2, width=0.03, seed=0):
    """Clusters on a grid between 0 and 1, and their centres."""
    rng = np.random.default_rng(seed)
    side = int(np.ceil(k ** (1 / d) - 1e-9))
    at = (np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)[:k] + 0.5) / side
    return np.clip(np.repeat(at, each, axis=0) + width * rng.normal(size=(k * each, d)), 0, 1), at


def unit(d=2):
    return knoll.Box((0.0,) * d, (1.0,) * d)


def view(X, k, **given):
    """What the looks show, and the standard error of a count with their budget."""
    with open_curator(knoll.KMeans(k, bounds=unit(X.shape[1]), **given), X) as context:
        vote = float(context.grant.worth(context.grant.share).stderr(Count()))
        return release_view(context, context.grant.rest, float(len(X)), k, np.random.RandomState(0)), vote


@pytest.mark.parametrize(("d", "k"), [(2, 4), (2, 100), (3, 8)])
def test_its_noise_is_that_of_one_vote_however_fine_it_is(d, k):
    """The noise of a count with the same share, within what the tables round."""
    found, vote = view(blobs(k, 50, d)[0], k)
    assert found.noise == pytest.approx(vote, rel=0.05)


@pytest.mark.parametrize(("d", "relation"), [(2, "add_remove"), (2, "replace_one"), (3, "replace_special")])
def test_without_noise_it_is_the_kernel_sum_of_the_records(d, relation):
    X = np.random.default_rng(0).uniform(size=(500, d))  # all of the bounds are filled: both looks are at all of it
    with zero_noise():
        found, _ = view(X, 8, relation=relation)
    records, level = 2 * X, 3  # in the metric the box is two wide
    nodes = np.stack(
        np.meshgrid(*[np.linspace(0, 2, n) for n in found.shape], indexing="ij"), axis=-1
    ).reshape(-1, d)  # fmt: skip
    chosen = np.random.default_rng(1).integers(0, len(nodes), 40)
    square = np.square(nodes[chosen, None] - records).sum(axis=2)
    total = np.full(40, found.kernel.constant * len(X))
    for height, h in zip(found.kernel.heights, found.kernel.bandwidths, strict=True):
        variance = h**2 + found.widths[level] ** 2
        total += height * (h**2 / variance) ** (d / 2) * np.exp(-square / 2 / variance).sum(axis=1)
    assert found.fields[level, chosen] == pytest.approx(total, rel=0.03, abs=0.02 * total.max())
    assert found.kernel.bandwidths[0] == pytest.approx(BANDWIDTH * found.spacing)
    assert found.kernel.heights.sum() + found.kernel.constant == pytest.approx(1.0)


def fit(X, k, **given):
    given = {"bounds": unit(X.shape[1]), "random_state": 0, **given}
    return knoll.KMeans(k, **given).fit(X)


@pytest.mark.parametrize("d", [2, 3])
def test_small_budgets_release_once_and_large_ones_a_tree(d):
    X, _ = blobs(8, 400, d)
    small, large = fit(X, 8, epsilon=0.2), fit(X, 8, epsilon=4.0)
    assert [small.strategy_, large.strategy_] == ["kernel sum", "tree"]
    assert [entry.query for entry in small.privacy_.releases][1:] == ["Fourier coefficients"] * 2
    assert "a kernel sum shows more" in small.strategy_reason_
    assert "tree and steps place centres better" in large.strategy_reason_
    assert small.records_over_noise_ < large.records_over_noise_
    assert small.effective_draws_ >= 8
    assert large.effective_draws_ == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"bounds": knoll.Box((0.0, 0.5), (1.0, 0.5))}, "tree"),
        ({"n_clusters": 1}, "tree"),
        ({"n_clusters": None}, "chosen"),
        ({"epsilon": 1e-4}, "tiny"),
    ],
)
def test_where_it_cannot_be_used_the_tree_is(options, why):
    k = options.pop("n_clusters", 4)
    X, _ = blobs(8 if k is None else 4, 200, 3 if k is None else 2)  # in the plane a kernel sum shows the number too
    model = fit(X, k, **{"epsilon": 0.2, **options})
    assert model.strategy_ == "tree"
    assert why in model.strategy_reason_


def test_a_ball_and_users_are_served():
    X, at = blobs(4, 500)
    ball = fit(X - 0.5, 4, epsilon=0.3, bounds=knoll.Ball(0.75, (0.0, 0.0)))
    assert ball.strategy_ == "kernel sum"
    assert np.linalg.norm(at[:, None] - 0.5 - ball.cluster_centers_, axis=2).min(axis=1).max() < 0.15


@pytest.mark.parametrize("d", [2, 3])
def test_it_finds_more_than_the_tree_at_a_small_budget(d):
    X, at = blobs(27 if d == 3 else 25, 400, d)
    k, lost = len(at), {}
    for kind in (knoll.KMeans, KMeansByTree):
        runs = [kind(k, epsilon=0.1, bounds=unit(d), random_state=r).fit(X) for r in range(2)]
        lost[kind] = -np.mean([model.score(X) for model in runs])
    assert lost[knoll.KMeans] < 0.7 * lost[KMeansByTree]


def test_public_randomness_alone_decides_after_the_release():
    X, _ = blobs(6, 200)
    with zero_noise():
        one, same, other = (fit(X, 6, epsilon=0.2, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.cluster_centers_, same.cluster_centers_)
    assert not np.array_equal(one.cluster_centers_, other.cluster_centers_)


def test_it_survives_saving(tmp_path):
    model = fit(blobs(6, 200)[0], 6, epsilon=0.2)
    knoll.save(model, tmp_path / "model.json")
    again = knoll.load(tmp_path / "model.json")
    assert (again.strategy_, again.strategy_reason_) == (model.strategy_, model.strategy_reason_)
    assert again.effective_draws_ == model.effective_draws_
    model.report(tmp_path / "report.html")
    assert model.strategy_reason_ in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_plan_covers_what_is_asked():
    (ask,) = once_asks(2, 0.95)
    view_query = fit(blobs(6, 200)[0], 6, epsilon=0.2).privacy_.releases[1]
    assert view_query.shape[0] <= ask.size == FEATURES
    assert view_query.sensitivity <= ask.bound[1]


@pytest.mark.parametrize("wide", [3.0, 20.0])
def test_the_second_look_is_nearer_where_bounds_are_loose(wide):
    """Clusters in a corner of bounds that are far too wide: found nearly as well."""
    X, at = blobs(9, 600)
    box = knoll.Box((-0.2 * wide, -0.8 * wide), (0.8 * wide, 0.2 * wide + 1))
    models = [knoll.KMeans(9, epsilon=0.3, bounds=box, random_state=r).fit(X) for r in range(2)]
    trees = [KMeansByTree(9, epsilon=0.3, bounds=box, random_state=r).fit(X) for r in range(2)]
    assert all(model.strategy_ == "kernel sum" for model in models)
    assert np.mean([model.score(X) for model in models]) > 0.8 * np.mean([model.score(X) for model in trees])
    if wide < 10:
        gaps = np.linalg.norm(at[:, None] - models[0].cluster_centers_, axis=2).min(axis=1)
        assert gaps.max() < 0.12
