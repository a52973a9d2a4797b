"""`model.plot()`: every kind of result draws itself, from what it has published."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import make_blobs

import knoll
from knoll.plots import plot

X = make_blobs(3000, 2, centers=[[-4, -4], [4, 4], [4, -4]], random_state=0)[0]
BUDGET = {"epsilon": 2.0, "bounds": (-9, 9), "random_state": 0}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (knoll.KMeans(3, **BUDGET), "3 clusters by KMeans"),
        (knoll.LSHTree(3, **BUDGET), "3 clusters by LSHTree"),
        (knoll.MorseClustering(3, n_subclusters=6, **BUDGET), "3 clusters"),
        (knoll.GaussianMixture(3, **BUDGET), "GaussianMixture"),
        (knoll.ModeSeeking(**BUDGET), "modes"),
        (knoll.ModalRegression(**BUDGET), "Modes of x1 given x0"),
        (knoll.Profile(epsilon=2.0, bounds=(-9, 9)), "olumn"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str) else "",
)
def test_every_kind_draws_itself(model, words):
    figure = model.fit(X).plot()
    assert isinstance(figure, Figure)
    assert words in figure.get_suptitle()
    assert model.plot(title="mine").get_suptitle() == "mine"


def test_spreads_are_drawn_where_they_are_released():
    model = knoll.KMeans(3, **BUDGET).fit(X)
    axes = model.plot().axes[0]
    dashed = [each for each in axes.patches if each.get_linestyle() == "--"]
    assert sorted(each.width for each in dashed) == pytest.approx(
        sorted(2 * np.sqrt(model.cluster_variances_[:, 0])), rel=1e-9
    )
    assert {words.get_text().partition(":")[0] for words in axes.texts} == {"0", "1", "2"}


def test_what_has_no_picture_says_so():
    with pytest.raises(TypeError, match="not fitted"):
        knoll.KMeans(3, **BUDGET).plot()
    with pytest.raises(TypeError, match="no picture"):
        plot(object())


KINDS = {"when": ("2020-01-01", "2023-12-31"), "paid": "log:1:100000", "size": "ordered:{S,M,L}", "plan": {"a", "b"}}


def dated(n=3000):
    """Two groups of records with dates, amounts, ordered levels and a category."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, n)
    days = np.datetime64("2020-06-01") + (900 * group + rng.integers(0, 200, n))
    paid = np.array([20.0, 5000.0])[group] * np.exp(rng.normal(0, 0.3, n))
    return {"when": days, "paid": paid, "size": np.array(["S", "L"])[group], "plan": np.array(["a", "b"])[group]}


@pytest.mark.parametrize("make", [knoll.KMeans, knoll.GaussianMixture])
def test_axes_are_in_the_terms_of_the_columns(make):
    kinds = {name: KINDS[name] for name in ("when", "paid", "plan")}
    axes = make(2, epsilon=5.0, bounds=kinds, random_state=0).fit(dated()).plot().axes[0]
    axes.figure.canvas.draw()
    across, up = ([tick.get_text() for tick in side.get_ticklabels()] for side in (axes.xaxis, axes.yaxis))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("when", "paid")
    assert any(text in ("2021", "2022", "2023") for text in across)
    assert {"100", "1,000"} <= set(up)


def test_a_profile_draws_equal_bars_where_cells_are_narrow():
    profile = knoll.Profile(KINDS, epsilon=5.0).fit(dated() | {"paid": np.repeat([9.99, 20.0, 5000.0], 1000)})
    edges, share, error = profile.drawn(1)
    assert len(share) <= 60
    assert np.allclose(np.diff(edges), np.diff(edges)[0])
    assert share.sum() == pytest.approx(1.0, abs=0.03)
    assert (share > 0.25).sum() == 3  # three amounts, three bars
    assert (error >= 0).all()


def test_ordered_levels_name_the_axis():
    kinds = {name: KINDS[name] for name in ("size", "when")}
    axes = knoll.KMeans(2, epsilon=5.0, bounds=kinds, random_state=0).fit(dated()).plot().axes[0]
    axes.figure.canvas.draw()
    assert [tick.get_text() for tick in axes.xaxis.get_ticklabels()] == ["S", "M", "L"]
