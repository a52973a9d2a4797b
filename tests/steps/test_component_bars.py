"""What a step would have measured, of made-up records."""

import numpy as np

from knoll.numeric.clipping import clip_factors
from knoll.numeric.mixture import Mixture
from knoll.steps.component_bars import MeasuredStep


def test_records_without_a_share_of_a_component_are_not_needed():
    rng = np.random.default_rng(0)
    mixture = Mixture(np.full(3, 1 / 3), np.array([[0.0, 0], [9, 0], [0, 9]]), np.tile(np.eye(2), (3, 1, 1)))
    rows = rng.normal(size=(300, 2)) + mixture.means[rng.integers(0, 3, 300)]
    shares = mixture.predict_proba(rows)
    step = MeasuredStep(mixture, mixture.predict_proba, 2.0, np.ones(3), np.ones(3), np.ones((3, 2)), np.ones(3))
    away = rows[:, None] - mixture.means
    short = np.minimum(1.0, 2.0 / np.linalg.norm(away, axis=2))
    sums = np.einsum("nk,nkd->kd", shares * short, away) / shares.sum(axis=0)[:, None]
    np.testing.assert_allclose(step.expected(rows, shares), mixture.means + sums / clip_factors(2, 2.0)[0], rtol=1e-9)
