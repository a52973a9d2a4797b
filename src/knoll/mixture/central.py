"""knoll's own mixture (CDP-GMM, Harrington and Mayolo, Algorithm 2, for any dimension).

One column:   release a histogram; run expectation-maximisation on it, which is free               (histogram.py)
more columns:
    start     release a tree of shapes; run expectation-maximisation on its leaves, which is free  (start.py)
    steps     release the moments of every component; average them with what is known              (moments.py)

Where the budget shows little of each component and columns are two or three, a kernel sum takes the place of start and
steps: likely densities are sampled from it, and the mixture is fitted to their mean (once_mixture.py).

Where we differ from the paper. Count, mean and covariance of all components are one joint query, clipped to each
component's own ellipsoid. So the noise depends neither on the number of components nor on the width of the bounds.
Bounds are public. Responsibilities are probabilities: no cut into cells can bias them. ``preset="paper"`` is the
paper's algorithm: private k-means with a tenth of the budget, then the moments of its cells with the rest.
"""

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np

from knoll.estimator import FitContext, PrivateFit, declared
from knoll.mixture.base import MOST_COMPONENTS, Components, PrivateMixture, take_steps
from knoll.numeric.mixture import Mixture
from knoll.numeric.packing import packed_starts
from knoll.parameters import PRESET, Whole
from knoll.privacy import Ask, Budget, PrivacyError
from knoll.queries import CellMoments, Frame, Nearest
from knoll.steps.cells import moments_asks, moments_of_cells
from knoll.steps.histogram import (
    ROOT_SHARE,
    fit_histogram,
    histogram_asks,
    histogram_bars,
    noise_errors,
    release_histogram,
)
from knoll.steps.means import cell_means, means_ask
from knoll.steps.moments import Form, restricted
from knoll.steps.once_choice import chooses_once, may_choose_once
from knoll.steps.once_mixture import release_mixture
from knoll.steps.one_release import UNKNOWN, Clarity, clarity, once_asks
from knoll.steps.pieces import MOST
from knoll.steps.start import ChoiceShares, StartShares, start_asks, start_from_tree
from knoll.steps.strategy import ChoosesReleases, strategy_facts
from knoll.steps.tree import ask_root, root_of

# docs/benchmarks.md, "Mixtures" ("Several columns"), measures these together; it varies none of them singly.
START_SHARE = 0.35  # for the start, the rest for the steps: a bad start loses components, noisy steps lose precision
CHOICE_SHARE = 0.6  # for a start that chooses the number of components: it must see every one of them
NO_HISTOGRAM: dict[str, Any] = {"histogram_": np.empty(0), "histogram_edges_": np.empty(0)}  # in more than one column
# Steps of expectation-maximisation: more come closer to the optimum, but each has more noise.
STEPS = 4
PAPER_KMEANS, PAPER_STEPS = 0.1, 2  # `preset="paper"`: share and steps of its k-means


@declared
class GaussianMixture(ChoosesReleases, PrivateMixture, PrivateFit):
    """A Gaussian mixture under differential privacy, with nothing to tune.

    Parameters
    ----------
    n_components : int or None, default=1
        Number of components. With None it is chosen: in one column from what is released anyway, in more as by
        `KMeans`, with more than half of the budget.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Shape of the covariances.
    covariance_floor : float, default=0.001
        Public floor: no standard deviation is below this fraction of the bounds' half widths.
    preset : {"default", "paper"}, default="default"
        "paper": private k-means, then one release of the moments of its cells.
    {parameters}

    Attributes
    ----------
    {attributes}
    n_components_confidence_ : float
        If the number of components was chosen: the probability that it is right within 5 % (in one column: how often it
        is chosen again when the released noise is redrawn). Below 0.5 means that nobody can tell.
    n_components_candidates_ : array of shape (n_candidates, 2)
        Numbers of components and their probabilities, the chosen one first.
    histogram_, histogram_edges_ : arrays
        The released histogram, if there is one column; else empty.
    strategy_ : str
        Which releases were made: "kernel sum", "tree", "histogram" or "cells".
    strategy_reason_ : str
        Why, in a sentence.
    records_over_noise_ : float
        Released records per component, over the standard error of one count with the whole budget: how clear components
        are. Zero where there is no choice.
    effective_draws_ : float
        With a kernel sum: how many independent draws of likely densities the mixture rests on; else zero.

    Notes
    -----
    {releases}

    In one column Laplace noise is used where it is narrower: at delta = 1e-6 it is a third as wide. The fit is then
    purely private, which is more than what was asked for.

    References
    ----------
    Harrington, Mayolo. DP-GMMs: differentially private Gaussian mixture models.

    Examples
    --------
    >>> import knoll
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(20_000, 2, centers=[[-5, 0], [5, 0]], random_state=0)
    >>> model = knoll.GaussianMixture(2, epsilon=1.0, bounds=(-10, 10), random_state=0).fit(X)
    >>> sorted(model.means_[:, 0].round(0).tolist())
    [-5.0, 5.0]
    >>> model.sample(3, random_state=0).shape
    (3, 2)
    """

    n_components: int | None = 1
    _: KW_ONLY
    covariance_type: str = "full"
    covariance_floor: float = 0.001
    preset: str = "default"

    _rules: ClassVar = {"n_components": Whole(MOST_COMPONENTS, none=True), "preset": PRESET}
    _published: ClassVar = (
        PrivateMixture._published | {"histogram_": "b", "histogram_edges_": "e"} | ChoosesReleases._choice_published
    )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.preset == "paper" and self.n_components is None:
            raise PrivacyError('preset="paper" needs n_components')

    def _budget_for(self, n_columns: int) -> Budget:
        """Return the budget. It may be pure for one column: a record is one vote, and Laplace noise often narrower."""
        budget = Budget(self.epsilon, self.delta)
        one_vote = n_columns == 1 and self.preset == "default" and self.delta > 0
        return (
            Budget(self.epsilon, 0.0)
            if one_vote and 2**0.5 * budget.ratio(1.0) < (1 - ROOT_SHARE) ** 0.5 * self.epsilon
            else budget
        )

    def _asks_for(self, n_columns: int, k: int | None) -> list[Ask]:
        if k is not None and self.preset == "paper":
            means = means_ask(n_columns, k, PAPER_STEPS, share=PAPER_KMEANS / PAPER_STEPS)
            moments = moments_asks(n_columns, k, self.covariance_type)
            return [means, *(ask.within(1 - PAPER_KMEANS) for ask in moments)]
        if n_columns == 1:
            return histogram_asks()
        share = CHOICE_SHARE if k is None else START_SHARE
        start = [ask.within(share) for ask in start_asks(n_columns, k)]
        shape, rest = self.covariance_type, 1 - share
        may = self._allows_once(n_columns, k) or self._may_choose_once(n_columns, k)
        once = once_asks(n_columns, 1 - START_SHARE * StartShares().root) if may else []
        return [*start, self._steps_ask(n_columns, k or MOST, shape, soft=True, times=STEPS, share=rest), *once]

    def _allows_once(self, n_columns: int, k: int | None) -> bool:
        return self.preset == "default" and super()._allows_once(n_columns, k)

    def _may_choose_once(self, n_columns: int, k: int | None) -> bool:
        return k is None and self.preset == "default" and may_choose_once(self, n_columns)

    def _otherwise(self) -> tuple[str, str]:
        if self.preset == "paper":
            return "cells", "cells and their moments"
        return ("histogram", "a histogram") if self.bounds_.n_columns == 1 else ("tree", "tree and steps")

    def _search(self, context: FitContext, k: int | None, rng: np.random.RandomState, form: Form) -> Components:
        if k is not None and self.preset == "paper":
            return self._search_paper(context, k, rng, form)
        if context.domain.n_columns == 1:
            return self._search_histogram(context, k, rng, form)
        share, clear, asked, d = CHOICE_SHARE if k is None else START_SHARE, UNKNOWN, None, context.domain.n_columns
        grant = context.grant.part(share)
        if self._allows_once(d, k) or self._may_choose_once(d, k):
            grants = grant.split(ChoiceShares() if k is None else StartShares())
            frame, reach = Frame(context.domain, context.scales), context.domain.longest(context.scales)
            seen = ask_root(grants.root, frame, reach)
            total, asked = float(seen.count[0]), (grants, root_of(seen, frame, reach))
            if k is not None:
                clear = clarity(context, seen, k, allowed=True, most=self._most_clear)
            if clear.once or (k is None and chooses_once(context, total, float(seen.count_sd), allowed=True)):
                return self._search_once(context, k, rng, form, total, clear)
        start = start_from_tree(context, grant, k, rng, form, asked)
        belief = take_steps(context, STEPS, start.mixture, start.total, form, soft=True)
        return Components.of_belief(belief, start.choice, NO_HISTOGRAM | strategy_facts(clear))

    def _search_once(
        self, context: FitContext, k: int | None, rng: np.random.RandomState, form: Form, total: float, clear: Clarity
    ) -> Components:
        """Look at a kernel sum with the rest of the budget; fit a mixture to the mean of likely densities."""
        found, choice = release_mixture(context, context.grant.rest, total, k, rng, form.floor)
        errors = found.bars.sizes / max(total, 1.0), found.bars.centres, found.spreads
        more = NO_HISTOGRAM | strategy_facts(clear, found.figures.effective)
        mixture = restricted(found.mixture, form)
        return Components(mixture, errors, np.zeros(mixture.n_components), total, choice, more, bars=found.bars)

    def _search_paper(self, context: FitContext, k: int, rng: np.random.RandomState, form: Form) -> Components:
        """Algorithm 2 of the paper: cells of private k-means, then one release of their moments."""
        grant, domain, scales = context.grant, context.domain, context.scales
        centres = packed_starts(domain, k, scales, rng)
        for step in grant.part(PAPER_KMEANS).even(PAPER_STEPS):
            released = step.release(CellMoments(Nearest(centres, domain, scales)))
            centres = cell_means(released, domain.centre, domain, otherwise=centres).centres
        belief = moments_of_cells(grant.rest, domain, centres, form)
        return Components.of_belief(belief, more=NO_HISTOGRAM | strategy_facts())

    def _search_histogram(
        self, context: FitContext, k: int | None, rng: np.random.RandomState, form: Form
    ) -> Components:
        histogram = release_histogram(context, k)
        fits, choice = fit_histogram(histogram, k, rng, float(form.floor[0]))
        variances = fits.variances
        if self.covariance_type == "tied":
            variances = np.full(len(variances), float(fits.weights @ variances))
        errors = noise_errors(histogram, fits)
        mixture = Mixture.nearest(
            fits.weights, context.domain.clip(fits.means[:, None]), variances[:, None, None], form.floor
        )
        shaped = errors[0], errors[1][:, None], errors[2][:, None, None]
        more = {"histogram_": histogram.counts, "histogram_edges_": histogram.edges, **strategy_facts()}
        found = Components(mixture, shaped, np.zeros(len(fits.means)), histogram.observed.total, choice, more)
        return replace(found, bars=histogram_bars(histogram, mixture, context.domain, pure=context.grant.norm == 1))
