"""The mixture of a clusterer's cells: released centres become components by releasing the moments of their cells.

    shapes   release count, mean and variances of each cell, in three rounds. The first round clips to the space that
             the neighbours leave. Each later round clips to the ellipsoid that the round before showed.
    moments  release count, mean and covariance of each cell, clipped to the ellipsoid of the last round
    or, instead of moments: steps of expectation-maximisation that start from the shapes (`density_from_cells`),
             or from shapes that were released before (`density_from_shapes`)

A cell's noise is as wide as its clip. If the clip is far too wide, one round cannot tell a narrow cell from an empty
one. So every round first learns one factor for all cells, which many values tell well; then one factor for each cell;
then the columns.
"""

import numpy as np

from knoll.numeric.distances import squared_distances
from knoll.numeric.mixture import Mixture
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, Frame, Nearest
from knoll.steps.moments import Belief, Form, ask, learn, moments_ask, restricted, walk
from knoll.steps.shapes import ShapeRequest, ellipsoid

# Equal weights of count and squares: both the size and the width of a cell are needed.
SHAPES = ShapeRequest("count, mean and variance of cells", count=0.5, squares=0.5, bias=0.0)
# docs/benchmarks.md varies none of these constants by itself; its section "Morse clustering" measures them together.
SHAPES_SHARES = (0.1, 0.1, 0.15)  # one for each round; more makes better clips, less leaves more for the moments
TRUST = 1.0  # prior standard deviation of a cell's variance, over that variance: 1 is a weak prior
STEPS = 4  # of expectation-maximisation; more come closer to the optimum, but each has more noise
# NARROWER: no round shrinks a variance below this part of it, since noise must not make a cell vanish.
# MARGIN: this part of a variance's standard error is added. Too narrow a clip biases, too wide a clip adds noise.
NARROWER, MARGIN = 0.1, 0.25


def moments_asks(n_columns: int, k: int, covariance_type: str) -> list[Ask]:
    """Return what `moments_of_cells` releases."""
    shapes = SHAPES.plan(n_columns, k, len(SHAPES_SHARES), share=min(SHAPES_SHARES))
    return [shapes, moments_ask(n_columns, k, covariance_type, soft=False, share=1 - sum(SHAPES_SHARES))]


def density_asks(n_columns: int, k: int, covariance_type: str) -> list[Ask]:
    """Return what `density_from_cells` releases."""
    shapes = SHAPES.plan(n_columns, k, len(SHAPES_SHARES), share=min(SHAPES_SHARES))
    return [shapes, steps_ask(n_columns, k, covariance_type, 1 - sum(SHAPES_SHARES))]


def steps_ask(n_columns: int, k: int, covariance_type: str, share: float) -> Ask:
    """Return what `density_from_shapes` releases."""
    return moments_ask(n_columns, k, covariance_type, soft=True, times=STEPS, share=share)


def moments_of_cells(grant: Grant, domain: Box | Ball, centres: np.ndarray, form: Form) -> Belief:
    """Release the moments of the cells of centres with a grant."""
    cells = Nearest(centres, domain, form.scales)
    belief = _shapes(grant, domain, cells, form)
    found = ask(_after_shapes(grant), domain, belief, form, soft=False, cells=cells)
    return learn(belief, found, form)


def density_from_cells(grant: Grant, domain: Box | Ball, centres: np.ndarray, form: Form) -> Belief:
    """Release a mixture that starts from the cells of centres, with a grant.

    Cells cut tails off. Where two cells share one hill, their moments show a valley that is not there. Responsibilities
    that are probabilities avoid this, and cost no more.
    """
    belief = _shapes(grant, domain, Nearest(centres, domain, form.scales), form)
    return walk(_after_shapes(grant), STEPS, domain, belief, form, soft=True)


def density_from_shapes(grant: Grant, domain: Box | Ball, first: Mixture, total: float, form: Form) -> Belief:
    """Release a mixture that starts from cells whose shapes were released before, with a grant: no round is needed."""
    return walk(grant, STEPS, domain, Belief.start(restricted(first, form), total), form, soft=True)


def _after_shapes(grant: Grant) -> Grant:
    """Return the part of a grant that the shapes leave."""
    return grant.worth(grant.share - sum(SHAPES_SHARES) * grant.share)


def _shapes(grant: Grant, domain: Box | Ball, cells: Nearest, form: Form) -> Belief:
    """Release the shapes of cells, round after round."""
    scales = form.scales
    frame = Frame(domain, scales)
    at = (cells.centres - domain.centre) / scales
    variance, least, wide = _guess(at, frame.half), form.floor / scales**2, np.square(frame.half)
    for part in SHAPES_SHARES:
        axes, radii = ellipsoid(variance)
        seen = SHAPES.ask(grant.worth(part * grant.share), cells, frame, at, axes, radii)
        count = np.maximum(seen.count, 2 * seen.count_sd)[:, None]
        prior = seen.rescaled(variance, TRUST, count)
        known = np.maximum(seen.variance(prior, TRUST, count), NARROWER * prior)
        unsure = 1 / np.hypot(1 / (TRUST * prior), count / seen.squares_sd)
        variance = np.clip(known + MARGIN * unsure, least, wide)
    weights = np.maximum(seen.count, seen.count_sd)
    spread = np.einsum("ki,ij->kij", variance * scales**2, np.eye(len(scales)))
    first = Mixture.nearest(weights / weights.sum(), cells.centres, spread, form.floor)
    return Belief.start(restricted(first, form), float(weights.sum()))


def _guess(at: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Guess each cell's variances, per column, from the distance to the nearest other centre. This is public."""
    k, d = at.shape
    whole = np.square(half) / 3
    if k == 1:
        return whole[None]
    gaps = squared_distances(at, at)
    gaps[np.diag_indices(k)] = np.inf
    nearest = np.maximum(gaps.min(axis=1), 1e-6 * whole.sum())
    return np.minimum(nearest[:, None] / 4 / d**0.5, whole)
