"""DPMoG: expectation-maximisation with noisy moments (Park et al. 2017, DP-EM; the baseline of the Morse paper).

    start    a tree of released shapes, or points packed into the domain
    repeat T times:
        E  responsibilities of every record, from the released mixture
        M  release their moments (1, x, x x^T) per component + noise; move the mixture

Where we differ. A record's responsibilities sum to one. So its moments are bounded jointly over all components, and the
noise does not grow with their number. Moments are taken about each released component, clipped to its own ellipsoid.
Steps are averaged, weighted by their precision. ``start="packed"`` spends nothing before the first step.
"""

from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from knoll.estimator import FitContext, PrivateFit, declared
from knoll.mixture.base import Components, PrivateMixture, take_steps
from knoll.numeric.mixture import Mixture
from knoll.numeric.packing import packed_starts
from knoll.parameters import MOST_STEPS, OneOf, Whole
from knoll.privacy import Ask
from knoll.steps.choose import Choice
from knoll.steps.levels import has_levels, mixed_start
from knoll.steps.moments import Form, restricted
from knoll.steps.start import Start, start_asks, start_from_tree

START_SHARE = 0.35  # as in central.py: a bad start loses components, noisy steps lose precision
STEPS = """n_components : int, default=1
        Number of components.
    n_steps : int, default=5
        Number of steps. Each gets an equal share of what the start leaves.
    start : {"tree", "packed"}, default="tree"
        "tree": a mixture fitted to a released tree, for 35 % of the budget. "packed": points packed into the bounds,
        which is free.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the covariances.
    covariance_floor : float, default=0.001
        Public floor: no standard deviation is below this fraction of the bounds' half widths."""


@declared
class EMSteps(PrivateMixture, PrivateFit):
    """Expectation-maximisation on released moments. `_soft` says whether a record may belong to several components."""

    n_components: int = 1
    _: KW_ONLY
    n_steps: int = 5
    start: str = "tree"
    covariance_type: str = "full"
    covariance_floor: float = 0.001

    _soft: ClassVar = True

    _rules: ClassVar = {"n_steps": Whole(MOST_STEPS), "start": OneOf(("tree", "packed"))}

    def _asks_for(self, n_columns: int, k: int) -> list[Ask]:
        start = [ask.within(START_SHARE) for ask in start_asks(n_columns, k)] if self.start == "tree" else []
        steps, rest = self.n_steps, 1 - START_SHARE
        return [*start, self._steps_ask(n_columns, k, self.covariance_type, soft=self._soft, times=steps, share=rest)]

    def _search(self, context: FitContext, k: int, rng: np.random.RandomState, form: Form) -> Components:
        if self.start == "tree":
            start = start_from_tree(context, context.grant.part(START_SHARE), k, rng, form)
        else:
            start = packed(context, k, rng, form)
        belief = take_steps(context, self.n_steps, start.mixture, start.total, form, soft=self._soft)
        return Components.of_belief(belief)


def packed(context: FitContext, k: int, rng: np.random.RandomState, form: Form) -> Start:
    """Return equal round components, packed into the domain. This is public."""
    means = packed_starts(context.domain, k, context.scales, rng)
    width = context.domain.half / max(k ** (1 / context.domain.n_columns), 1.0) / 2
    if has_levels(context.domain):
        spread = np.tile(np.diag(np.square(width[context.domain.number_places])), (k, 1, 1))
        mixed = mixed_start(context.domain, np.full(len(means), 1 / len(means)), means, spread, form)
        return Start(mixed, np.inf, Choice.given(mixed.n_components))
    covariances = np.tile(np.diag(np.square(width)), (k, 1, 1))
    mixture = Mixture.nearest(np.full(k, 1 / k), means, covariances, form.floor)
    return Start(restricted(mixture, form), np.inf, Choice.given(mixture.n_components))


@declared
class EMGaussianMixture(EMSteps):
    """A Gaussian mixture by noisy expectation-maximisation (DPMoG), under differential privacy.

    Parameters
    ----------
    {steps}
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {releases}

    References
    ----------
    Park, Foulds, Chaudhuri, Welling (2017). DP-EM: differentially private expectation maximization.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.EMGaussianMixture(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    """


EMGaussianMixture.__doc__ = (EMGaussianMixture.__doc__ or "").replace("{steps}", STEPS)
