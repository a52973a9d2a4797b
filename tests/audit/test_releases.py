"""The table of releases against real fits: every estimator, in 1 to 20 columns, with every option that matters.

Fits follow the table name by name, and the table promises nothing that is never asked: every step of every case occurs,
every step with a condition is also left out, and every range is reached at both ends.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import knoll
import knoll.queries
from knoll.estimator import PrivateFit
from knoll.queries import Query
from knoll.releases import BOUNDS, IMPUTED, OUTSIDE, RELEASES, Fit, assumed_public, case_of, counted
from knoll.releases.grammar import Release

# k-means on released points may find fewer of them than clusters
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
COLUMNS = (1, 2, 3, 5, 20)
CLUSTERERS = ("KMeans", "Lloyd", "FastLloyd", "PEMeans", "LSHTree", "Cubes", "ModeClustering")
SHAPES = ("full", "tied", "diag", "spherical")
MIXTURE = "to_mixture(X)"
ESTIMATORS = [name for name in RELEASES if name != MIXTURE]
RELATIONS = ("add_remove", "replace_special", "replace_one")


def data(d, n=300):
    """A group, and a few records in a tail of the bounds, so that all of a tree is asked."""
    rng = np.random.default_rng(d)
    if n < 0:  # evenly spread, along one column
        return rng.uniform(-1, 1, size=(-n, d)) * ([1.0] + [0.02] * (d - 1))
    return np.clip(rng.choice([0.0, 0.9], p=[0.99, 0.01], size=(n, 1)) + 0.03 * rng.normal(size=(n, d)), -1, 1)


def size_of(estimator):
    """The parameter that sets the number of groups, if there is one."""
    known = getattr(knoll, estimator)().get_params(deep=False)
    return next((name for name in ("n_clusters", "n_components", "n_modes") if name in known), None)


def numbers(estimator):
    """The number of groups given, and chosen where it can be."""
    name = size_of(estimator)
    may_choose = name == "n_modes" or (name and getattr(getattr(knoll, estimator)._rules.get(name), "none", False))
    return [{}] if name is None else [{name: 2}, {name: None}] if may_choose else [{name: 2}]


def cheaply(estimator, d):
    """Parameters that make a fit quick and leave its releases as they are."""
    cheap = {}
    if estimator in ("KernelDensity", "ModeSeeking", "ModalRegression"):
        cheap["n_frequencies"] = 16
    if estimator in ("KernelDensity", "ModeSeeking", "ModalRegression", "ModeClustering") and d > 1:
        cheap |= {"bandwidth": 0.5, "scale_by_bounds": True}
    if estimator == "MorseClustering":
        cheap["n_subclusters"] = 4
    return cheap


def chosen(name, d=2, **more):
    """Fits that choose the number of groups: one sees nothing, and one sees everything."""
    many = [(d, {"epsilon": 100.0, "rows": rows}) for rows in (30_000, -30_000, -60_000)]
    fits = [(d, {"epsilon": 0.01}), (2, {"epsilon": 0.5, "rows": 1000}), *many, (20, {"epsilon": 100.0})]
    return [(columns, {name: None, **options, **more}) for columns, options in fits]


def chosen_ladder():
    """Fits in many columns with a first look: one sees nothing, some see everything."""
    many = [(4, {"epsilon": 100.0, "rows": rows}) for rows in (3000, -30_000, -60_000)]
    nothing = {"epsilon": 0.01, "n_modes": None}
    return [(5, nothing), (5, {**nothing, "delta": 0.0}), *many, (5, {}), (20, {"epsilon": 100.0})]


def presets(estimator):
    """More fits, by what their parameters change: (columns, parameters)."""
    exact, vague = {"epsilon": 100.0}, {"epsilon": 0.01}
    kernel = [(d, {"bandwidth": "private", "delta": delta}) for d in (1, 2, 5) for delta in (0.0, 1e-6)]
    kernel += [(1, {"bandwidth": "ladder"}), (2, {"bandwidth": "ladder", "delta": 0.0}), (5, {"bandwidth": "ladder"})]
    kernel += [(3, {"delta": 0.0})]
    paper = [(d, {"preset": "paper"}) for d in COLUMNS]
    if estimator == "KMeans":
        return [
            *chosen("n_clusters"),
            *chosen("n_clusters", d=3),
            (3, {"n_clusters": None, "rows": -3000, "epsilon": 10.0}),
            (2, exact),
            (2, {**exact, "delta": 0.0}),
            (2, vague),
            (5, vague),
            *((2, {**exact, "rows": -rows, "n_clusters": 8}) for rows in (300, 3000)),
            (20, vague),
            (20, exact),
            (20, {"delta": 0.0}),
            (20, {"scale_by_bounds": True}),
            (401, {}),
            (1, {**exact, "n_clusters": 1}),
            (2, {"n_clusters": None, "rows": -3000, "epsilon": 10.0}),
            (1, {"n_clusters": None, "rows": -3000, "epsilon": 10.0}),
        ]
    if estimator in ("Lloyd", "FastLloyd"):
        return [
            *paper,
            (2, {"n_steps": 1}),
            (2, {"n_steps": 3, "restart": True}),
            (3, {"preset": "paper", "n_steps": 2}),
        ]
    if estimator in ("LSHTree", "Cubes"):
        return [*paper, (2, {"max_depth": 1}), (5, {"max_depth": 3})]
    if estimator == "PEMeans":
        paper = [(d, {"preset": "paper", "epsilon": e}) for d, e in [(1, 1.0), (2, 0.5), (3, 2.0), (5, 9.0), (20, 1.0)]]
        paper += [(2, exact), (3, exact), (2, {**exact, "rows": -3000, "n_clusters": 8})]
        return [
            *paper,
            (1, exact),
            (2, vague),
            (2, {"epsilon": 1e-4}),
            (5, {"projection": 2}),
            (5, {"projection": 2, "preset": "paper"}),
        ]
    if estimator == "GaussianMixture":
        shapes = [(2, {"covariance_type": shape}) for shape in SHAPES]
        shapes += [(2, {**more, "n_components": 1}) for more in (exact, vague)]
        return [
            *chosen("n_components"),
            *chosen("n_components", d=3),
            *paper,
            *shapes,
            (2, exact),
            (2, vague),
            (1, {"delta": 0.0}),
            (1, {"delta": 0.1, **vague}),
            (401, {"covariance_type": "diag"}),
        ]
    if estimator in ("EMGaussianMixture", "HardEMGaussianMixture"):
        packed = [(d, {"start": "packed", "n_steps": 2}) for d in COLUMNS]
        wide = [(401, {"covariance_type": "diag"})] if estimator == "EMGaussianMixture" else []
        return [*packed, *wide, (2, exact), (2, vague)]
    if estimator == "KernelDensity":
        return kernel
    if estimator == "ModalRegression":
        return [(2, {"bandwidth": "private"}), (2, {"delta": 0.0}), (1, {"bandwidth": "ladder"})]
    if estimator == "ModeSeeking":
        steps = [{"release": "each-step", "mini_batches": parts} for parts in (False, True)]
        options = [{"n_steps": 3}, {"n_steps": 1}, {"bandwidth": "ladder", "n_steps": 2}, {"bandwidth": "private"}]
        looks = [(d, {"bandwidth": "ladder", **more}) for d, more in chosen_ladder()]
        return kernel[:2] + looks + [(d, {**one, **more}) for d in (1, 2, 5) for one in steps for more in options]
    if estimator == "ModeClustering":
        ladder = [(d, {"bandwidth": "ladder", **more}) for d in (2, 3) for more in (exact, vague, {})]
        return [*kernel[:4], *ladder, (5, exact), (5, vague), (5, {"n_clusters": 9})]
    if estimator == "Profile":
        levels = [(1, {"bounds": {"x0": knoll.Category("low", "high")}})]
        return levels + [(d, {**more, "rows": n}) for d in (1, 2) for more in (exact, vague) for n in (300, 30_000)]
    if estimator == "SphericalKMeans":
        sparse = [(d, {"sparse": True, "n_clusters": k}) for d in (1, 2, 20) for k in (2, None)]
        wide = [(2, exact), (2, vague), (401, {}), (3, {"n_clusters": 7}), (20, {**exact, "n_clusters": None})]
        return [*wide, *sparse, (5, {"sparse": True, "delta": 0.0, "relation": "replace_one"})]
    if estimator == "TopicMap":
        return [
            (5, {"texts": 300, "epsilon": e, **more}) for e in (0.01, 50.0) for more in ({}, {"vocabulary": ["wa"]})
        ]
    bases = [knoll.KMeans(), knoll.Lloyd(n_steps=2), knoll.FastLloyd(n_steps=2), knoll.LSHTree(max_depth=2),
             knoll.Cubes(max_depth=2), knoll.PEMeans(), knoll.PEMeans(preset="paper"), knoll.GaussianMixture(),
             knoll.GaussianMixture(preset="paper"), knoll.EMGaussianMixture(start="packed", n_steps=2),
             knoll.HardEMGaussianMixture(n_steps=1), knoll.ModeClustering(bandwidth="private")]  # fmt: skip
    several = chosen("n_clusters", d=3, n_subclusters=None)
    few = [(d, {"n_clusters": 2, **more}) for d in (2, 3) for more in (exact, vague, {"epsilon": 1e-4})]
    few += [(3, {**exact, "n_clusters": 2, "rows": -rows, "n_subclusters": 8}) for rows in (300, 3000, 30_000)]
    based = [(d, {"base": base}) for d in (1, 4) for base in bases]
    return [*based, (2, {"cut": "height"}), (3, vague), *few, *several]


def bounds_of(estimator):
    """Bounds that an estimator can have."""
    return ["sphere"] if estimator in ("SphericalKMeans", "TopicMap") else [(-1.0, 1.0), "private"]


def fits(estimator):
    """Every fit of an estimator: (columns, parameters)."""
    budgets = [{}, {"delta": 0.0, "relation": "replace_one"}]
    for i, (d, number, bounds) in enumerate(product(COLUMNS, numbers(estimator), bounds_of(estimator))):
        if None in number.values() and bounds == "private" and d not in (2, 20):
            continue  # choosing takes long
        yield d, {**number, "bounds": bounds, **budgets[i % 3 == 1], "relation": RELATIONS[i % 3]}
    first = numbers(estimator)[0]
    yield from ((d, {**first, "bounds": bounds_of(estimator)[0], **options}) for d, options in presets(estimator))


def fitted(estimator, d, parameters):
    """A fitted model, by quick parameters where none are given."""
    options = {**cheaply(estimator, d), "random_state": 0, **parameters}
    X = data(d, options.pop("rows", 300))
    if options.pop("sparse", False):
        X = csr_array(np.where(np.random.default_rng(d).random(X.shape) < 0.6, X, 0.0))
    if texts := options.pop("texts", 0):
        X = ["wa wb"] * texts
    if isinstance(options["bounds"], dict):
        X = pd.DataFrame(np.where(X > 0, "high", "low"), columns=list(options["bounds"]))
    return getattr(knoll, estimator)(**options).fit(X)


class Tally:
    """How often the steps of an estimator's cases were asked, over all of its fits."""

    def __init__(self, estimator):
        self.estimator = estimator
        self.counts = {}  # case, step -> times asked
        self.ends = {}  # ... -> whether the least and the most were
        self.bought = set()

    def add(self, fit, privacy):
        """Compare a fit with the table; note what it asked."""
        names = [entry.query for entry in privacy.releases]
        found = counted(self.estimator, fit, names)
        case = case_of(self.estimator, fit)
        assert found is not None, f"{fit.columns} columns, {case.when.words}: {names}"
        assert privacy.assumed_public == assumed_public(self.estimator, fit)
        self.bought.add(any(step is BOUNDS for step, *_ in found))
        for i, step in enumerate(case.steps):
            asked = [(number, least, most) for one, number, least, most in found if one is step]
            self.counts.setdefault((case, i), []).append(sum(number for number, *_ in asked))
            if isinstance(step, Release) and asked:
                (number, least, most) = asked[0]
                low, high = self.ends.get((case, i), (False, False))
                self.ends[case, i] = (low or number == least, high or number == most)

    def check(self):
        """Everything declared was seen: each step asked, left out where it may be, and each range from end to end."""
        for case in RELEASES[self.estimator]:
            for i, step in enumerate(case.steps):
                seen, what = self.counts.get((case, i), [0]), f"{self.estimator}, {case.when.words}: {step.words}"
                assert max(seen) > 0, f"never asked: {what}"
                assert min(seen) == 0 or not step.when.words, f"always asked: {what}"
                shared = getattr(step, "what", "") == "of pieces" and self.estimator != "KMeans"  # one step for all
                ends = self.ends.get((case, i), (True, True))
                assert ends == (True, True) or (shared and any(ends)), f"a range that is not used: {what}"


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_fits_follow_the_table(estimator):
    tally = Tally(estimator)
    for d, parameters in fits(estimator):
        model = fitted(estimator, d, parameters)
        tally.add(Fit.of(model), model.privacy_)
        laws = {entry.law for entry in model.privacy_.releases}
        assert laws == {"gaussian" if model.privacy_.delta > 0 else "laplace"}
    tally.check()
    assert tally.bought == {bounds == "private" for bounds in bounds_of(estimator)}


def test_mixtures_of_clusterers_follow_the_table():
    tally = Tally(MIXTURE)
    for i, (name, d) in enumerate(product(CLUSTERERS, (1, 2, 5))):
        given = {"n_clusters": 2, "bounds": ["private", (-1.0, 1.0)][i % 2], "relation": RELATIONS[i % 3]}
        model = fitted(name, d, given)
        model.to_mixture(data(d), covariance_type=SHAPES[i % 4], epsilon=2.0, delta=1e-6 * (i % 2))
        tally.add(Fit.of(model).given(bounds=model.bounds_), model.mixture_privacy_)
    tally.check()


def test_the_mixture_of_morse_clustering_costs_nothing():
    model = fitted("MorseClustering", 2, {"n_clusters": 2, "bounds": (-1.0, 1.0)})
    model.to_mixture(data(2))
    assert not hasattr(model, "mixture_privacy_")


def test_one_column_of_a_mixture_is_pure_where_that_is_narrower():
    laws = [
        fitted("GaussianMixture", 1, {"bounds": (-1.0, 1.0), "epsilon": epsilon, "delta": delta}).privacy_
        for epsilon, delta in [(1.0, 1e-6), (0.01, 0.1)]
    ]
    assert [(privacy.delta, privacy.releases[0].law) for privacy in laws] == [(0.0, "laplace"), (0.1, "gaussian")]


def test_every_estimator_and_every_query_is_in_the_table():
    behind_the_door = [
        name
        for name in knoll.__all__
        if isinstance(kind := getattr(knoll, name), type) and issubclass(kind, PrivateFit)
    ]
    assert sorted(behind_the_door) == sorted(ESTIMATORS)
    asked = {
        step.query for cases in RELEASES.values() for case in cases for step in case.steps if isinstance(step, Release)
    }
    public = {kind for name in knoll.queries.__all__ if isinstance(kind := getattr(knoll.queries, name), type)}
    proven = {kind for kind in public if issubclass(kind, Query)} - {Query}
    instead = {knoll.queries.MixedMoments}  # of ComponentMoments, where columns have levels
    keyed = {knoll.queries.OpenWords}  # no total of a fixed shape: tests/privacy/test_discovery.py
    assert proven | keyed == asked | {BOUNDS.query, OUTSIDE.query, IMPUTED.query} | instead


@pytest.mark.parametrize(
    ("names", "follows"),
    [
        (["count", "grid histogram"], True),
        (["grid histogram", "count"], False),
        (["count", "grid histogram", "count"], False),
        (["count"], False),
        (["column histograms", "column histograms", "count", "grid histogram"], False),
        (["counts", "grid histogram"], False),
    ],
)
def test_the_comparison_can_fail(names, follows):
    fit = Fit(2, 2.0, knoll.MorseClustering(bounds=(-1, 1)).get_params(deep=False))
    assert (counted("MorseClustering", fit, names) is not None) == follows
