"""The one release behind all mode methods: Fourier totals for a ladder of bandwidths.

Frequencies are weighted by the mean of the ladder's spectra, a^2 = sum_m g_m / M. With a single rung, the noise of the
kernel sum is that of one vote. With a ladder of four octaves it is about a third more at every rung, and the rung may
be chosen afterwards. Rungs are fractions of the public bounds, or of a spread that was released with a small share. So
no rung is read off the data.
"""

from typing import Any

import numpy as np
from scipy.stats import chi

from knoll.privacy import Ask, Grant, PrivacyError
from knoll.privacy.errors import brief
from knoll.queries import Ball, Box, ColumnHistograms, FourierFeatures, FourierGrid, Lattice, LatticeCounts, Projected
from knoll.series.features import FeatureSeries
from knoll.series.series import GridSeries, Series, spectrum
from knoll.series.surroundings import Surroundings

LADDER, PRIVATE = "ladder", "private"
SCALE_SHARE = 0.1
"""Share of the budget that ``bandwidth="private"`` spends on the spread of each column: a rough spread will do."""

# Sections named here are of docs/benchmarks.md, "Modes, modal regression, clustering by modes".
MOST_COLUMNS = 400  # tried; in a thousand, the volume of a kernel is beyond a double
MOST_ON_GRID = 3  # columns up to which a grid of frequencies is used: its size grows as a power of their number
# The ladder: rungs are the bounds' width over these numbers, by columns; with more columns 5 and 20. A longer ladder
# costs noise at every rung. Settled on the distributions of Tables 1 to 4.
COARSEST = {1: 8, 2: 9, 3: 7}
FINEST = {1: 180, 2: 72, 3: 20}
FINEST_PURE = {1: 90, 2: 28, 3: 12}  # pure budgets release counts, whose noise grows with resolution
COUNT, COUNT_BY_SLOPE = 0.03, 0.01  # extra weight of the number of records, as a fraction of the squared norm
# For `ModalRegression`, settled on the curves of Tables 3 and 4 and on three others. LEVEL: weight of the sum's noise
# beside its slope's, for a ladder and for one bandwidth alone. WIDER: see `slope_square`.
LEVEL, LEVEL_ALONE = 0.05, 0.02
WIDER = 1.1
REACH = 4.3  # frequencies are kept up to this over the bandwidth: there the spectrum is 1e-4, and the rest is noise
PAD = 4.0  # bandwidths between the two ends of the window, round the torus: kernels must not reach across
_BINS, _MOST_RUNGS = 64, 32  # bins that tell a spread; rungs announced at most, more than any ladder has


def affordable_features(epsilon: float, cap: int) -> int:
    """Return how many features a budget's reserve for exact sampling can pay for. Only tiny budgets are limited."""
    return int(max(32, min(2**17, epsilon * 2.0**-12 * 2.0**49 / 250 / (2 * cap))))


def ladder(around: Surroundings) -> np.ndarray:
    """Bandwidths, coarsest first, (rungs, columns): a fixed fraction of the bounds, in steps of sqrt 2."""
    d = around.n_columns
    first, last = COARSEST.get(d, 5), (FINEST_PURE if around.pure else FINEST).get(d, 20)
    steps = int(np.floor(2 * np.log2(last / first))) + 1
    fractions = 2.0 ** (-np.arange(steps) / 2) / first
    width = 2 * around.domain.half / around.scales
    common = float(np.exp(np.log(width).mean()))  # in the metric, all columns have the same bandwidth
    return fractions[:, None] * common * around.scales


def check_bandwidth(bandwidth: Any) -> None:
    """Refuse a bandwidth that is neither a known word nor a positive number, or one for each column."""
    if isinstance(bandwidth, str):
        if bandwidth not in (LADDER, PRIVATE):
            raise PrivacyError(f"bandwidth={brief(bandwidth)} is neither a number nor one of {LADDER!r}, {PRIVATE!r}")
        return
    try:
        numbers = np.asarray(bandwidth, dtype=np.float64)
    except (TypeError, ValueError):
        raise PrivacyError(f"bandwidth={brief(bandwidth)} is not a number") from None
    if numbers.ndim > 1 or not numbers.size or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise PrivacyError(f"bandwidth={brief(bandwidth)} must be a positive number, or one for each column")


def rungs(grant: Grant, around: Surroundings, bandwidth: Any) -> np.ndarray:
    """Return the bandwidths that a release must serve, coarsest first, (rungs, columns)."""
    d = around.n_columns
    if isinstance(bandwidth, str):
        return ladder(around) if bandwidth == LADDER else bought_bandwidth(grant, around)[None]
    h = np.asarray(bandwidth, dtype=np.float64)
    if h.ndim == 1 and len(h) != d:
        raise PrivacyError(f"{len(h)} bandwidths for {d} columns")
    h = np.broadcast_to(h * around.scales if h.ndim == 0 else h, (d,))
    if (h > 4 * around.domain.half).any():
        raise PrivacyError("the bandwidth is wider than twice the bounds: all modes would blur into one")
    return h[None]


def bought_bandwidth(grant: Grant, around: Surroundings) -> np.ndarray:
    """Release the spread s of each column with a small share; return the rule of thumb s n^(-1/(d+6)) for modes."""
    edges = np.linspace(around.low, around.high, _BINS + 1, axis=1)
    histogram = grant.part(SCALE_SHARE).release(ColumnHistograms(edges[:, 1:-1]))
    counts = np.maximum(histogram.value - histogram.stderr, 0.0)
    n = float(np.maximum(histogram.value.sum(axis=1).mean(), 10.0))
    below = np.cumsum(counts, axis=1) / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)
    columns = np.arange(len(edges))
    low, high = (edges[columns, np.minimum((below < q).sum(axis=1), _BINS - 1)] for q in (0.1, 0.9))
    spread = (high - low) / 2.563  # a Gaussian has this many standard deviations between its first and last decile
    spread = np.clip(spread, 2 * around.domain.half / _BINS, around.domain.half)
    spread = np.where(
        around.domain.constant, around.domain.half, spread
    )  # nothing to see: as wide, and cheap, as can be
    return spread * n ** (-1 / (around.n_columns + 6))


def series_asks(estimator: Any, n_columns: int, n_features: int) -> list[Ask]:
    """Return the most that a private bandwidth and `release_series` release; refuse too many columns."""
    if n_columns > MOST_COLUMNS:
        raise PrivacyError(
            f"{n_columns:,} columns are too many for a kernel density: take {MOST_COLUMNS} at most, or use KMeans "
            "(knoll cluster), which takes more"
        )
    bought = Ask.like(ColumnHistograms(np.zeros((n_columns, _BINS - 1))), share=SCALE_SHARE)
    most = affordable_features(estimator.epsilon, cap_of(estimator))
    if n_columns > MOST_ON_GRID:
        m = max(_MOST_RUNGS, min(n_features, most) // 2)
        probe = FourierFeatures(Box((-1.0,) * n_columns, (1.0,) * n_columns), np.zeros((m, n_columns)))
        return [bought, Ask.like(probe, share=1 - SCALE_SHARE)]
    if estimator.delta == 0:
        return [bought, Ask(1, 2 ** (20 + n_columns))]
    most = max(most, 5**n_columns)
    longest = FourierGrid.longest(n_columns, most)
    return [bought, Ask(most, most, share=1 - SCALE_SHARE, bound=(0.0, longest))]


def cap_of(estimator: Any) -> int:
    """Return how many records of each user are used."""
    return 1 if estimator.unit is None else int(estimator.unit.cap)


def release_series(
    grant: Grant,
    around: Surroundings,
    hs: np.ndarray,
    rng: np.random.RandomState,
    n_features: int,
    *,
    slope: bool = False,
) -> Series:
    """Release the kernel sums of all rungs at once. The series shows the first rung until another is asked for.

    With `slope`, a grid gives the least noise to the slope along the last column, not to the sum itself.
    """
    if around.n_columns > MOST_ON_GRID or isinstance(around.domain, Projected):
        return _release_features(grant, around, hs, rng, n_features)
    if around.pure:
        return _release_counts(grant, around, hs)
    return _release_grid(grant, around, hs, slope=slope)


def _lattice(around: Surroundings, hs: np.ndarray, most: int, *, coarse: bool = False) -> Lattice:
    """Return the lattice over the domain's box. It has the finest rung's frequencies, or as many as are affordable."""
    pad = PAD * np.minimum(hs.max(axis=0), around.domain.half)
    period = 2 * around.domain.half + pad
    finest = hs.min(axis=0)
    limit = (most ** (1 / around.n_columns) - 1) / 2
    top = np.minimum(np.ceil(REACH * period / (2 * np.pi * finest)), max(2, limit)).astype(int)
    if not coarse:
        return Lattice(around.domain, around.low, around.high, pad, tuple(top.tolist()))
    cells = np.clip(np.ceil(1.5 * period / finest), 8, 2.0 ** (20 / around.n_columns)).astype(int)
    return Lattice(
        around.domain, around.low, around.high, pad,
        tuple(np.minimum(top, (cells - 1) // 2).tolist()), tuple(cells.tolist()),
    )  # fmt: skip


def _release_grid(grant: Grant, around: Surroundings, hs: np.ndarray, *, slope: bool = False) -> GridSeries:
    lattice = _lattice(around, hs, around.most_features)
    square = slope_square(lattice, hs) if slope else np.mean([spectrum(lattice, h) for h in hs], axis=0)
    square.flat[0] += COUNT_BY_SLOPE if slope else COUNT
    query = FourierGrid(lattice, np.sqrt(square))
    released = grant.release(query)
    stderr = np.broadcast_to(released.stderr, query.shape)
    return GridSeries(lattice, query.tensor(released.value), query.tensor(stderr), hs[0])


def slope_square(lattice: Lattice, hs: np.ndarray) -> np.ndarray:
    """Squared amplitudes for the slope along the last column at all rungs.

    A restored sum (restore.py) damps the highest frequencies, which are mostly noise. So the budget of one
    bandwidth is better spent a little below them: amplitudes are made for a bandwidth that is WIDER. This changes the
    noise of the sum as released by at most 2 %. A ladder does not need it, since it has wider rungs anyway.
    """
    if len(hs) == 1:
        return slope_spectrum(lattice, WIDER * hs[0], LEVEL_ALONE)
    return np.mean([slope_spectrum(lattice, h, LEVEL) for h in hs], axis=0)


def slope_spectrum(lattice: Lattice, bandwidth: np.ndarray, level: float) -> np.ndarray:
    """Squared amplitudes with the least noise of the slope along the last column, in bandwidths; they sum to 1.

    Let g be the spectrum, and q the squared amplitudes, with sum 1. The kernel sum has noise variance sum g^2 / q,
    which is least at q = g. The slope has sum g^2 w^2 / q, which is least at q = g |w|. The variance of the slope plus
    `level` times that of the sum is least at q proportional to g sqrt(w^2 + level).
    """
    g = spectrum(lattice, bandwidth)
    w = 2 * np.pi * np.arange(lattice.top[-1] + 1) / lattice.period[-1] * bandwidth[-1]
    square = g * np.sqrt(w**2 + level)
    return square / square.sum()


def _release_counts(grant: Grant, around: Surroundings, hs: np.ndarray) -> GridSeries:
    """Release counts on a lattice and return them as Fourier totals. Noise of counts is white: all totals share it.

    Cells of the padding hold neither records nor noise. The error counts noise in them too, which is on the safe side.
    """
    lattice = _lattice(around, hs, 2**17, coarse=True)
    query = LatticeCounts(lattice)
    released = grant.release(query)
    totals = released.value
    sigma = float(np.max(released.stderr))
    stderr = np.full((1,) * around.n_columns, sigma)
    for j, (top, cells) in enumerate(zip(lattice.top, lattice.cells, strict=True)):
        basis = lattice.basis(j, lattice.low[j] + (np.arange(query.shape[j]) + 0.5) * lattice.width[j])
        totals = np.tensordot(totals, basis, axes=(0, 0))
        share_of_noise = np.where(np.arange(2 * top + 1) > 0, 0.5, 1.0) * cells
        stderr = stderr * np.sqrt(share_of_noise).reshape([-1 if i == j else 1 for i in range(stderr.ndim)])
    return GridSeries(lattice, totals, stderr, hs[0])


def _release_features(
    grant: Grant, around: Surroundings, hs: np.ndarray, rng: np.random.RandomState, n_features: int
) -> FeatureSeries:
    m = max(len(hs), min(n_features, around.most_features) // 2)
    drawn = hs[np.arange(m) % len(hs)]
    frequencies = orthogonal_directions(m, around.n_columns, rng) / drawn
    query = FourierFeatures(around.domain, frequencies)
    released = grant.release(query)
    return FeatureSeries(
        frequencies=query.frequencies,
        cosines=released.value[1 : 1 + m],
        sines=released.value[1 + m :],
        count=float(released.value[0]),
        count_stderr=float(released.stderr[0]),
        stderr=float(released.stderr[1]),
        centre=np.asarray(around.domain.centre, dtype=np.float64),
        drawn=hs,
        bandwidth=hs[0],
    )


def orthogonal_directions(m: int, d: int, rng: np.random.RandomState) -> np.ndarray:
    """Return standard Gaussian vectors in orthogonal blocks of d; their lengths are evenly spread quantiles."""
    blocks = [np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(-(-m // d))]
    lengths = chi.ppf((rng.permutation(m) + 0.5) / m, d)
    return np.vstack(blocks)[:m] * lengths[:, None]


def surroundings(context: Any, estimator: Any) -> Surroundings:
    """Collect what a release needs: from the context of a fit, and from its parameters."""
    domain = context.domain
    if isinstance(domain, Ball) and domain.n_columns <= MOST_ON_GRID:
        domain = domain.cube
    most = affordable_features(estimator.epsilon, cap_of(estimator))
    return Surroundings(domain, context.scales, estimator.delta == 0, most)
