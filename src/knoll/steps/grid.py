"""A mixture for one or two columns: a released grid of counts, and expectation-maximisation on it.

    count     release the number of records, which sets how fine the grid is
    grid      release a histogram; if records were spread evenly, each cell of a plane would hold about one standard
              error
    denoise   keep the cells that stand out from the noise after smoothing
    fit       weighted k-means, then expectation-maximisation, on the cells kept: free

In the plane this shows thin and bent shapes, and costs far less than moments do.
"""

from dataclasses import replace

import numpy as np
from scipy.ndimage import convolve1d, gaussian_filter1d
from scipy.special import softmax
from sklearn.cluster import KMeans as NonprivateKMeans
from threadpoolctl import threadpool_limits

from knoll.estimator import FitContext
from knoll.numeric.mixture import Mixture
from knoll.privacy import Ask
from knoll.queries import Ball, Count, GridHistogram
from knoll.steps.subclusters import Grid, Subclusters

# `make bench-morse ARGS="--only shapes"` (docs/benchmarks.md, "Morse clustering") measures these together, not singly.
MOST_COLUMNS = 2  # in three columns, cells of this size would hold too few records each
COUNT_PART = 0.05  # of the budget, for the number of records: it only sets the number of bins
# Along a column: fewer bins hide bends and clusters; more cost time and make every cell noisier.
# Beyond 96 bins along a line, each would hold ERRORS standard errors if records were spread evenly: or noise ripples.
FEWEST_BINS, MOST_BINS, MOST_ALONG_LINE, ERRORS = 6, 96, 640, 12.0
CELLS_EACH = {1: 4.0, 2: 12.0}  # cells to a component while the number of clusters is unknown, by columns
FEWEST, MOST = 24, 150  # and limits
STEPS = 25  # of expectation-maximisation on released cells: free of budget, so only time limits it
PRIOR = 0.05  # of an average component's records are added at the mean covariance: keeps small components from collapse
FAR = 4.0  # cells over which counts that do not stand out are averaged, to guess where their records are
SMOOTH = np.array([0.25, 0.5, 0.25])  # along each axis, to judge which cells stand out: less noise, a little blur


def grid_asks(n_columns: int) -> list[Ask]:
    """Return the most that the count and the grid release."""
    return [Ask.like(Count(), share=COUNT_PART), Ask(1, max(MOST_ALONG_LINE, MOST_BINS**n_columns))]


def release_grid_mixture(
    context: FitContext, k: int | None, rng: np.random.RandomState, floor: np.ndarray, total: float | None = None
) -> Subclusters:
    """Release a grid of counts with all that is left of the budget and fit a mixture of k components to it.

    With k None there are as many as the cells that stand out can show. `total` is the number of records, if that is
    released already.
    """
    box = context.domain.cube if isinstance(context.domain, Ball) else context.domain
    d = box.n_columns
    total = float(context.grant.part(COUNT_PART).release(Count()).value) if total is None else total
    noise = float(context.grant.stderr(GridHistogram(box, (2,) * d)).max())
    clear = max(total, 1.0) / noise
    bins = int(np.clip(round(clear) ** (1 / d), FEWEST_BINS, MOST_BINS))
    bins = max(bins, int(min(clear / ERRORS, MOST_ALONG_LINE))) if d == 1 else bins
    grid = context.grant.release(GridHistogram(box, (bins,) * d)).value
    step = 2 * box.half / bins
    keep, weights = _standing_out(grid, noise)
    points, others = (np.array(box.lower) + (np.argwhere(cells) + 0.5) * step for cells in (keep, ~keep))
    k = int(np.clip(len(points) / CELLS_EACH[d], FEWEST, MOST)) if k is None else k
    found = _fit(points, weights, noise, step, min(k, len(points)), rng, floor)
    # Records in cells that do not stand out are divided among the components in proportion. Of cells with a negative
    # count nothing was taken off: their sum is too large, and the released number of records is not.
    counts = found.counts * max(total, noise) / found.counts.sum()
    shown = Grid(points, weights, noise, step, others, _faint(grid, keep))
    return replace(found, counts=counts, grid=shown, total=total)


def _standing_out(counts: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells whose smoothed count is too large to be noise, anywhere on the grid, and their counts."""
    smooth = counts
    for axis in range(counts.ndim):
        smooth = convolve1d(smooth, SMOOTH, axis=axis, mode="constant")
    spread = noise * np.sqrt(np.square(SMOOTH).sum()) ** counts.ndim
    keep = smooth > spread * np.sqrt(2 * np.log(counts.size))
    keep.flat[smooth.argmax()] = True
    weights = np.maximum(counts[keep], 0.0)
    return keep, np.maximum(weights, 1e-3 * max(weights.max(), 1.0))


def _faint(counts: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Return the share of the records in cells that do not stand out that each of them is likely to hold."""
    smooth = np.where(keep, 0.0, counts)
    for axis in range(counts.ndim):
        smooth = gaussian_filter1d(smooth, FAR, axis=axis, mode="constant")
    likely = np.maximum(smooth, 0.0)[~keep] + 1e-9
    return likely / likely.sum()


def _fit(
    points: np.ndarray, weights: np.ndarray, noise: float, step: np.ndarray, k: int, rng: np.random.RandomState,
    floor: np.ndarray,
) -> Subclusters:  # fmt: skip
    d = points.shape[1]
    within = np.diag(step**2 / 12)  # of records in one cell of the grid
    with threadpool_limits(1):
        start = NonprivateKMeans(k, n_init=4, random_state=rng).fit(points / step, sample_weight=weights)
    shares = np.eye(k)[start.labels_]
    extra = PRIOR * weights.sum() / k
    for _ in range(STEPS):
        mass = shares * weights[:, None]
        n = mass.sum(axis=0)
        means = mass.T @ points / np.maximum(n, 1e-9)[:, None]
        away = points[:, None] - means
        scatter = np.einsum("mk,mki,mkj->kij", mass, away, away, optimize=True) + n[:, None, None] * within
        pooled = scatter.sum(axis=0) / n.sum()
        covariances = (scatter + extra * pooled) / (n + extra)[:, None, None]
        far = np.einsum("mki,kij,mkj->mk", away, np.linalg.inv(covariances), away, optimize=True)
        logs = np.log(np.maximum(n, 1e-9)) - (far + np.linalg.slogdet(covariances)[1]) / 2
        shares = softmax(logs, axis=1)
    errors = noise * np.sqrt(np.square(shares).sum(axis=0))
    n = np.maximum(n, 1e-3 * n.max())
    away_errors = noise * np.sqrt(np.einsum("mk,mki->ki", shares**2, away**2, optimize=True)) / n[:, None]
    width = np.einsum("kii->ki", covariances)
    spread = np.square(away) / width
    relative = noise * np.sqrt(np.einsum("mk,mki->k", shares**2, spread**2, optimize=True) / d) / n
    mixture = Mixture.nearest(n / n.sum(), means, covariances, floor)
    return Subclusters(mixture, n, errors, away_errors, np.minimum(relative, 0.5))
