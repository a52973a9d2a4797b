"""How many clusters? From a kernel sum: hills of likely densities, and how sure the draws are of each.

    look     release a kernel sum for as many clusters as its part of the budget can show
    count    hills that draws are sure of: about how many clusters there are
    look     release it again, for a few more than those, nearer if records fill only a part of the bounds
    count    again. The number is drawn anew many times: how sure a hill is, is itself known roughly only

A hill's surety is how far its top rises above the pass to a higher one, over the standard deviation of that in the
draws. The confidence knows what noise may hide, since a hill that is hardly sure is often lost when it is drawn anew.
All but the looks is post-processing.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.posterior.cells import CellFigures, figures, filled, painted
from knoll.numeric.posterior.sample import Draws, sample
from knoll.numeric.posterior.view import View
from knoll.privacy import Grant
from knoll.queries import Ball, Box, Count
from knoll.series.persistence import mesh_peaks
from knoll.steps.choose import Choice, coarser_level
from knoll.steps.kernel_look import PARTLY, Window, look, usual_distance, view_of
from knoll.steps.once_basins import surety
from knoll.steps.one_release import FAR, FIRST, LEAST_EPSILON, nearer

# Settled on made-up clusters and clouds (benchmarks/choose/small.py).
PER = 12.0  # records of a Gaussian, over the noise of one count: smaller clusters cannot be seen
MORE = 1.5  # Gaussians of the second look to each hill of the first, at least
SURE = 0.7  # surety of a hill that is a cluster
# Rise of a hill over its pass, over the height of the pass, at least, since even clouds ripple: as it is taken, and in
# other views, which are as likely when the number is drawn anew.
RISES = (0.25, 0.35, 0.5)
# Standard deviation of the logarithm of a surety, when it is drawn anew: settled by how often fits are right.
DOUBT = 0.45
# The budget must be able to show so many times the clusters and so many more, or the number is in doubt: some may hide.
TIMES, SPARE = 2.5, 4.0
CHAINS = 4  # of the first look
MOST_SEEN = 100  # Gaussians, at most: more take long
FEW = 4  # clusters, up to which a second look is as wide as if they filled all that records fill
REDRAWS = 200
MOST_RECORDS = 1600.0  # records over the noise of one count: above, clusters may be more than can be sampled
LEAST_NOISE = 6.0  # of one count, in records: below, pieces and votes are as good (benchmarks/choose)
CLEAR_COUNT = 4.0  # standard errors that the number of records is above zero
COLUMNS = 2  # three were not tried
CHOSEN_ONCE = "The number of clusters was chosen: it is that of the hills of likely densities, which a kernel sum shows"


@dataclass(frozen=True)
class Hills:
    """Hills of the mean of likely densities.

    Attributes
    ----------
    view, draws : View, Draws
        What was released, and what is likely.
    points, density : arrays of shape (n_points, d) and (n_draws, n_points)
        A grid, and the records of each draw at its points.
    group : integer array of shape (n_points,)
        The hill of each point.
    centres : array of shape (k, d)
        Means of the hills, from the window's lower corner.
    surety : array of shape (n_views, n_hills)
        Of all hills, also those that are not clusters, for each of RISES.
    most : float
        How many clusters the budget could show.
    """

    view: View
    draws: Draws
    points: np.ndarray
    density: np.ndarray
    group: np.ndarray
    centres: np.ndarray
    surety: np.ndarray
    most: float = np.inf

    @property
    def k(self) -> int:
        """Number of hills that count."""
        return len(self.centres)

    @property
    def cells(self) -> CellFigures:
        """Figures of the cells of the hills' means."""
        return figures(self.points, self.density, self.centres, self.draws.chains)

    def choice(self, rng: np.random.RandomState) -> Choice:
        """Return the number with its probability and others; it is in doubt if hardly more could be seen."""
        views = self.surety[rng.randint(len(self.surety), size=REDRAWS)]
        drawn = np.maximum((views * np.exp(DOUBT * rng.standard_normal(views.shape)) > SURE).sum(axis=1), 1)
        sure = min(1.0, self.most / (TIMES * self.k + SPARE))
        return Choice.of(self.k, np.array([self.k, *drawn]), sure).with_coarser(coarser_level(self.centres))


def may_choose_once(estimator: Any, n_columns: int) -> bool:
    """Whether parameters and columns allow to choose the number from a kernel sum: known before a fit begins."""
    cap = 1 if estimator.unit is None else int(estimator.unit.cap)
    return bool(n_columns == COLUMNS and estimator.delta > 0 and estimator.epsilon >= LEAST_EPSILON * cap)


def chooses_once(context: FitContext, count: float, count_sd: float, *, allowed: bool) -> bool:
    """Decide between a kernel sum and pieces with votes, from public facts and the released number of records."""
    noise = float(context.grant.worth(context.grant.share).stderr(Count()))
    plain = isinstance(context.domain, Box | Ball) and not context.domain.constant.any()
    known = count > CLEAR_COUNT * count_sd
    return allowed and plain and known and noise >= LEAST_NOISE and count <= MOST_RECORDS * noise


def hills_of(view: View, draws: Draws) -> Hills:
    """Return the hills of the mean of draws that these are sure of."""
    points, density = painted(draws, view)
    axes = [np.unique(column) for column in points.T]
    mean = np.maximum(density.mean(axis=0), 0.0)
    peaks, basin = mesh_peaks(mean.reshape([len(axis) for axis in axes]), axes)
    sure = np.stack([surety(peaks, points, density, rise) for rise in RISES])
    keep = sure[0] > SURE
    owner = peaks.survivors(keep)
    number = np.cumsum(keep) - 1
    group = number[np.where(owner >= 0, owner, 0)][basin].ravel()
    mass = np.maximum(np.bincount(group, mean), 1e-9)
    centres = np.stack([np.bincount(group, mean * column) for column in points.T], axis=1) / mass[:, None]
    return Hills(view, draws, points, density, group, centres, sure)


def release_hills(context: FitContext, grant: Grant, total: float, rng: np.random.RandomState) -> Hills:
    """Look twice with all of a grant. Return the hills."""
    scales, domain = context.scales, context.domain
    half = domain.half / scales
    seen = max(total, 1.0) / float(context.grant.worth(context.grant.share).stderr(Count())) / PER
    most = int(np.clip(seen, 2, MOST_SEEN))
    some = int(np.clip(FIRST**0.5 * most, 2, MOST_SEEN))
    whole = Window(-half, 2 * half, usual_distance(2 * half, some)).affordable()
    first = look(grant.part(FIRST), domain, scales, whole)
    view = view_of([first], scales)
    draws = sample(view, some, total, rng, chains=CHAINS)
    shown = MORE * hills_of(view, draws).k + 1
    k = int(np.clip(max(shown, (shown * most) ** 0.5), 2, most))  # between what was seen and what may be hidden
    low, high, _ = filled(draws, view)
    near = nearer(whole, low, high, usual_distance(high - low, k, PARTLY if k > FEW else 0.0))
    looks = [first, look(grant, domain, scales, near)]
    view = view_of(looks if near.spacing > FAR * whole.spacing else looks[1:], scales)
    return replace(hills_of(view, sample(view, k, total, rng)), most=seen)
