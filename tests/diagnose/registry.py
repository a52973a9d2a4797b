"""For each code: a fit that must trigger it, and a fit that must not. A code without both fails a test."""

import numpy as np
import pandas as pd

import knoll
from knoll.testing import seeded_noise

PLACES = np.array([[-5.0, 0.0], [5.0, 0.0], [0.0, 6.0]])


def three(seed, n=6000, d=2):
    """Three clusters, apart in the first two columns."""
    rng = np.random.default_rng(seed)
    places = np.pad(PLACES, ((0, 0), (0, d - 2)))
    return places[rng.integers(3, size=n)] + rng.normal(size=(n, d))


def people(seed, n=6000, **more):
    """Ages and incomes, in two groups."""
    rng = np.random.default_rng(seed)
    old = rng.random(n) < 0.5
    age = np.clip(rng.normal(np.where(old, 70, 30), 7), 0, 110)
    income = np.clip(rng.normal(np.where(old, 40_000, 90_000), 9_000), 0, 2e5)
    return pd.DataFrame({"age": age, "income": income, **{name: rng.permutation(n) for name in more}})


PEOPLE = {"age": (0, 110), "income": (0, 200_000)}


def good(seed):
    """A fit that nothing is to be said about."""
    return knoll.KMeans(3, bounds=(-10, 10), random_state=seed).fit(three(seed))


def doubtful(model, **attributes):
    """Return a fitted model with more released attributes, diagnosed again."""
    vars(model).update(attributes)
    model._diagnose()
    return model


def seeded(seed):
    with seeded_noise(seed):
        return good(seed)


def unsure(seed):
    model = knoll.KMeans(None, bounds=(-10, 10), random_state=seed).fit(three(seed))
    return doubtful(model, n_clusters_candidates_=np.array([[model.n_clusters_, 0.5], [7.0, 0.4]]))


def sure(seed):
    model = knoll.KMeans(None, bounds=(-10, 10), random_state=seed).fit(three(seed))
    candidates = np.array([[model.n_clusters_, 0.95], [7.0, 0.05]])
    return doubtful(model, n_clusters_confidence_=0.95, n_clusters_candidates_=candidates)


def plans(seed, *levels):
    """Ages and plans, written "Basic" and "Gold"."""
    rng = np.random.default_rng(seed)
    gold = rng.random(4000) < 0.5
    table = {"age": rng.normal(np.where(gold, 60, 30), 5), "plan": np.where(gold, "Gold", "Basic")}
    return knoll.KMeans(2, bounds={"age": (0, 110), "plan": knoll.Category(*levels)}, random_state=seed).fit(table)


# code -> (fit that must trigger it, fit that must not)
CASES = {
    "centres-on-bounds": (
        lambda seed: knoll.KMeans(4, bounds={**PEOPLE, "age": (0, 1)}, scale_by_bounds=True).fit(people(seed)),
        lambda seed: knoll.KMeans(4, bounds=PEOPLE, scale_by_bounds=True).fit(people(seed)),
    ),
    "bounds-too-wide": (lambda seed: knoll.KMeans(3, bounds=(-500, 500)).fit(three(seed, 20_000)), good),
    "bounds-in-doubt": (
        lambda seed: doubtful(good(seed), bounds_in_doubt_=np.array([False, True])),
        lambda seed: doubtful(good(seed), bounds_in_doubt_=np.array([False, False])),
    ),
    "raw-units": (
        lambda seed: knoll.KMeans(2, bounds=PEOPLE, scale_by_bounds=False).fit(people(seed)),
        lambda seed: knoll.KMeans(2, bounds=PEOPLE, scale_by_bounds=True).fit(people(seed)),
    ),
    "clusters-not-seen": (lambda seed: knoll.KMeans(100, bounds=(-10, 10)).fit(three(seed, 1000)), good),
    "too-many-clusters": (lambda seed: knoll.KMeans(300, bounds=(-10, 10)).fit(three(seed)), good),
    "number-of-clusters-in-doubt": (unsure, sure),
    "few-records": (lambda seed: knoll.KMeans(2, bounds=(-10, 10)).fit(three(seed, 60)), good),
    "column-without-differences": (lambda seed: knoll.KMeans(3, bounds=(-10, 10)).fit(three(seed, 20_000, 3)), good),
    "undeclared-levels": (
        lambda seed: plans(seed, "basic", "gold"),
        lambda seed: plans(seed, "Basic", "Gold", "Silver"),
    ),
    "id-as-feature": (
        lambda seed: knoll.KMeans(2, bounds={**PEOPLE, "user_id": (0, 6000)}).fit(people(seed, user_id=1)),
        lambda seed: knoll.KMeans(2, bounds={**PEOPLE, "humidity": (0, 6000)}).fit(people(seed, humidity=1)),
    ),
    "seeded-noise": (seeded, good),
}
