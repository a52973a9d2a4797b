"""A mixture of Gaussians from a kernel sum: its looks as in one_release.py, then the mixture most likely on average."""

from dataclasses import dataclass

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.bars import Bars
from knoll.numeric.mixture import Mixture
from knoll.numeric.posterior.bars import MARGIN
from knoll.numeric.posterior.mixture import ComponentFigures, best_mixture
from knoll.numeric.posterior.sample import sample
from knoll.privacy import Grant
from knoll.steps.choose import Choice
from knoll.steps.once_choice import release_hills
from knoll.steps.one_release import bars_in_columns, release_view
from knoll.steps.subclusters import Subclusters


@dataclass(frozen=True)
class OnceMixture:
    """A mixture in the columns, its error bars, what draws say of it, and the standard errors of its covariances."""

    mixture: Mixture
    bars: Bars
    figures: ComponentFigures
    means_stderr: np.ndarray
    spreads: np.ndarray


def release_mixture(
    context: FitContext, grant: Grant, total: float, k: int | None, rng: np.random.RandomState, floor: np.ndarray
) -> tuple[OnceMixture, Choice]:
    """Look at the records with all of a grant. Return a mixture of k components; with None, choose their number."""
    if k is None:
        hills = release_hills(context, grant, total, rng)
        view, choice = hills.view, hills.choice(rng)
        found = best_mixture(hills.draws, view, hills.k, rng, hills.centres)
    else:
        view, choice = release_view(context, grant, total, k, rng), Choice.given(k)
        found = best_mixture(sample(view, k, total, rng), view, k, rng)
    scales, domain = context.scales, context.domain
    product = np.multiply.outer(scales, scales)
    means = domain.clip(domain.centre + (view.low + found.means) * scales)
    mixture = Mixture.nearest(found.weights, means, found.covariances * product, floor)
    bars = bars_in_columns(found.cells, context)
    return OnceMixture(mixture, bars, found, found.mean_sd * scales, found.covariance_sd * product), choice


def subclusters_once(
    context: FitContext, grant: Grant, total: float, k: int, rng: np.random.RandomState, floor: np.ndarray
) -> tuple[Subclusters, float]:
    """Return the components of `release_mixture` as sub-clusters, and how many independent draws they rest on."""
    found, _ = release_mixture(context, grant, total, k, rng, floor)
    figures = found.figures
    variance = np.einsum("kii->ki", figures.covariances)
    relative = (np.einsum("kii->ki", figures.covariance_sd) / variance).mean(axis=1)
    cells = Subclusters(
        found.mixture, figures.count, figures.count_sd, MARGIN * found.means_stderr, np.minimum(relative, 0.5),
        total=total,
    )  # fmt: skip
    return cells, figures.effective
