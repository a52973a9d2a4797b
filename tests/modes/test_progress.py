"""Long fits that only post-process tell how far they are."""

import numpy as np

import knoll
from knoll import progress


def _told(work):
    told = []
    with progress.listening(lambda what, fraction: told.append((what, fraction))):
        work()
    return told


def test_modes_in_many_columns_tell_how_far_they_are(rng):
    X = rng.normal(size=(500, 5))
    model = knoll.ModeSeeking(bounds=(-5, 5), random_state=0, n_frequencies=64)
    told = _told(lambda: model.fit(X))
    fractions = [fraction for what, fraction in told if what == "looking for peaks"]
    assert len(fractions) >= 3
    assert fractions == sorted(fractions)


def test_local_mixtures_tell_how_far_they_are(rng):
    X = rng.uniform(0, 10, size=(200, 2))
    model = knoll.LocalGaussianMixture(2, epsilon=2.0, bounds=(0, 10), random_state=0)
    told = {what for what, _ in _told(lambda: model.fit(X))}
    assert {"a mixture of 2", "redrawing reports"} <= told


def test_a_local_fit_can_show_progress(rng):
    model = knoll.LocalGaussianMixture(1, epsilon=2.0, bounds=(0, 10), verbose=True, random_state=0)
    model.fit(rng.uniform(0, 10, size=(50, 1)))
    assert np.isfinite(model.means_).all()
