"""How well clusters fit the records, from released sums alone, with standard errors: two private fits can be compared.

    within-cluster variance   mean squared distance of a record to its centre, in the metric of the fit
    explained                 the part of the variance of all records that the centres explain
    silhouette                mean of 1 - a / b over the records: a and b are the distances to the nearest and to the
                              second nearest centre (the simplified silhouette: centres stand for clusters)

The first two follow from the sums exactly, but for their noise: it is drawn again and again, and the results' spread is
the standard error. The silhouette needs places of records, which are not released: silhouette.py draws some.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from knoll.diagnose.silhouette import Cells, mixture_silhouette, silhouette

REDRAWS, FEWEST = 48, 8  # of the noise: the standard error is then known to a tenth; fewer if they would take long
MOST_NUMBERS = 2e7  # drawn for the redraws: bounds the time with very many clusters and columns
SEED = 20261118  # of public randomness: the same released values always give the same figures
# Records far from a centre are clipped, which hides a part of the variance: none of a Gaussian's, half of the heaviest
# tails'. CLIPPED over the clip's radius, in standard deviations, is taken as its standard error (settled on both).
CLIPPED = 0.8
TRUST = 0.8  # relative standard error of the variances that the search and all steps together suggest (settled, too)
# A mixture's variance differs from that of the records that count to it: they need not be Gaussian (clips hide up to
# half of the variance of heavy tails), and steps end before it rests. MISFIT, and UNFINISHED times its noise, is taken
# as a relative standard error. And noise does not average out: it makes a mixture wide that steps then leave wide, the
# more columns the more, by MISLED times the square of noise and columns, at most MOST_MISLED (all settled on made-up
# data; MISFIT on clusters with tails of Student's t with 3 degrees of freedom).
MISFIT, UNFINISHED, MISLED, MOST_MISLED = 0.35, 3.0, 18.0, 0.5
MOST_UNSEEN = 0.3  # weight of components that are not seen up to which the others tell the quality
SMALL = 0.02  # least variance within clusters, as a part of what they suggest: noise must not make it vanish


@dataclass(frozen=True)
class Quality:
    """How well clusters fit the records, each figure with its standard error. From released values; may be published.

    Attributes
    ----------
    within_variance, within_variance_stderr : float
        Mean squared distance of a record to its centre, in the metric of the fit (units of the bounds' half widths if
        ``scale_by_bounds``). Smaller is better.
    explained, explained_stderr : float
        Part of the variance of all records that the centres explain, from 0 to 1.
    silhouette, silhouette_stderr : float
        Simplified silhouette, from 0 to 1: 1 - (distance to the nearest centre) / (distance to the second nearest),
        averaged over records. One cluster has none: 0, with an infinite standard error.
    """

    within_variance: float
    within_variance_stderr: float
    explained: float
    explained_stderr: float
    silhouette: float
    silhouette_stderr: float

    def __str__(self) -> str:
        parts = (
            f"within-cluster variance {_with_error(self.within_variance, self.within_variance_stderr)}",
            f"explained part of the variance {_with_error(self.explained, self.explained_stderr)}",
            f"silhouette {_with_error(self.silhouette, self.silhouette_stderr)}",
        )
        return f"Quality: {', '.join(parts)}."

    def to_dict(self) -> dict[str, float | None]:
        """Return the figures by name; infinity as None, since JSON has none."""
        values = {each.name: float(getattr(self, each.name)) for each in fields(self)}
        return {name: value if np.isfinite(value) else None for name, value in values.items()}

    @classmethod
    def from_dict(cls, data: Any) -> "Quality":
        """Rebuild it from `to_dict`'s dictionary; a ValueError if it is none."""
        names = [each.name for each in fields(cls)]
        if not isinstance(data, dict) or set(data) != set(names):
            raise ValueError("its quality is damaged")
        for name in names:
            most = 1.0 if name in ("explained", "silhouette") else np.finfo(np.float64).max
            good = type(data[name]) in (int, float) and 0 <= data[name] <= most
            if not (good or (data[name] is None and name.endswith("_stderr"))):
                raise ValueError(f"its quality is damaged ({name})")
        return cls(**{name: np.inf if data[name] is None else float(data[name]) for name in names})


_LEAST = 1e-7  # of an error that is written with digits


def _with_error(value: float, error: float) -> str:
    """Write a value with two digits of its error."""
    if not np.isfinite(error):
        return "not seen"
    if 0 < error < _LEAST:
        return f"{round(value, 8):g} ± <{_LEAST:g}"
    digits = int(np.clip(1 - np.floor(np.log10(error)), 0, 8)) if error > 0 else 3
    return f"{value:,.{digits}f} ± {error:,.{digits}f}"


@dataclass(frozen=True)
class CellSums:
    """Released sums of cells, as the last step of a clusterer saw them, in the metric of the fit.

    Attributes
    ----------
    origin, centres : arrays of shape (k, p)
        The points that displacements are taken from, and the centres that are published.
    count, count_sd : array of shape (k,) and float
        Released counts, and the standard error of their noise.
    sums, sums_sd, squares, squares_sd : arrays of shape (k, p)
        Released sums of displacements and of their squares, and the standard errors of their noise.
    variance : array of shape (k, p)
        Variances of the cells as estimated: positive, also where the noise is large.
    reach : array of shape (k, p)
        Longest displacement along each axis; records beyond are clipped.
    """

    origin: np.ndarray
    centres: np.ndarray
    count: np.ndarray
    count_sd: float
    sums: np.ndarray
    sums_sd: np.ndarray
    squares: np.ndarray
    squares_sd: np.ndarray
    variance: np.ndarray
    reach: np.ndarray

    def take(self, which: np.ndarray) -> "CellSums":
        """Return some of the cells."""
        parts = {name: value[which] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **parts)


def quality_of_cells(cells: CellSums) -> Quality:
    """Return the quality of clusters whose cells' sums are released."""
    rng = np.random.RandomState(SEED)
    k, p = cells.sums.shape
    expected = _typical(cells, cells.variance.sum(axis=1))
    within, between = _figures(cells, cells.count, cells.sums, cells.squares)
    again = np.array([_figures(cells, *_redrawn(cells, rng)) for _ in range(_affordable(k * p))])
    noise = again.std(axis=0, ddof=1)
    hidden = CLIPPED * _typical(cells, 1 / np.sqrt(_room(cells))) * max(within, expected)
    seen, prior = noise[0] ** 2 + hidden**2, (TRUST * expected) ** 2
    within = max(within + seen / (seen + prior) * (expected - within), SMALL * expected)
    error = float(np.sqrt(seen * prior / (seen + prior)))
    explained, doubt = between / (between + within), error / within
    apart = explained * (1 - explained) * float(np.hypot(doubt, noise[1] / between))
    if float(cells.count.sum()) < 4 * cells.count_sd * k**0.5:  # so few records cannot be told from none
        return Quality(within, np.inf, explained, np.inf, 0.0, np.inf)
    factor = within / expected
    shown = silhouette(cells.centres, _shapes(cells, factor), lambda: _shapes(cells, factor, doubt, rng), rng)
    return Quality(within, error, explained, apart, *shown)


def _room(cells: CellSums) -> np.ndarray:
    """Return the squared radius of each cell's clip, in expected squared lengths of a displacement."""
    width = np.sqrt(np.maximum(cells.variance, 1e-300))
    return np.maximum((np.square(cells.reach) / (width * width.sum(axis=1, keepdims=True))).mean(axis=1), 1.0)


def _typical(cells: CellSums, values: np.ndarray) -> float:
    """Return the mean of a value of each cell, over records."""
    weight = np.maximum(cells.count, 1e-9)
    return max(float(weight @ values / weight.sum()), 1e-300)


def _affordable(numbers: int) -> int:
    """Return how many redraws to make of so many numbers."""
    return int(np.clip(MOST_NUMBERS / numbers, FEWEST, REDRAWS))


def _shapes(cells: CellSums, factor: float, doubt: float = 0.0, rng: np.random.RandomState | None = None) -> Cells:
    """Return means, variances (times a factor) and sizes of cells; with an rng, with further noise.

    `doubt` is the relative standard error of the factor, which all cells share.
    """
    n = np.maximum(cells.count, cells.count_sd)[:, None]
    seen = (cells.count > 2 * cells.count_sd)[:, None]
    at, variance, count = (
        np.where(seen, cells.origin + cells.sums / n, cells.centres),
        factor * cells.variance,
        cells.count,
    )
    if rng is not None:
        each = np.minimum(cells.squares_sd / n, 0.5 * variance)  # the estimate is no worse: it is drawn to a prior
        at = at + np.minimum(cells.sums_sd / n, np.sqrt(variance)) * rng.standard_normal(at.shape)
        shared = 1 + doubt * rng.standard_normal()
        variance = np.maximum(shared * variance + each * rng.standard_normal(at.shape), 0.1 * variance)
        count = count + cells.count_sd * rng.standard_normal(len(count))
    return Cells(at, variance, np.maximum(count, 0.0))


def _redrawn(cells: CellSums, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums with further noise of the same size."""
    k, p = cells.sums.shape
    return (
        cells.count + cells.count_sd * rng.standard_normal(k),
        cells.sums + cells.sums_sd * rng.standard_normal((k, p)),
        cells.squares + cells.squares_sd * rng.standard_normal((k, p)),
    )


def _figures(cells: CellSums, count: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> tuple[float, float]:
    """Return the variance within clusters and that between them, from sums of displacements about the origins."""
    total = max(float(count.sum()), 1.0)
    moved = cells.centres - cells.origin
    within = squares.sum() - 2 * (sums * moved).sum() + count @ np.square(moved).sum(axis=1)
    away = cells.origin - (count @ cells.origin + sums.sum(axis=0)) / total
    whole = squares.sum() + 2 * (sums * away).sum() + count @ np.square(away).sum(axis=1)
    return float(within / total), max(float((whole - within) / total), 1e-300)


def quality_of_mixture(
    weights: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    errors: tuple[np.ndarray, np.ndarray, np.ndarray],
    scales: np.ndarray,
    *,
    tied: bool = False,
    round_: bool = False,
) -> Quality:
    """Return the quality of a mixture. A record counts to each component by its probability.

    Parameters
    ----------
    weights, means, covariances : arrays
        The mixture.
    errors : tuple of arrays
        Their standard errors.
    scales : array of shape (d,)
        Scales of the metric.
    tied, round_ : bool
        Whether all components, or all columns, have one variance: then they share its noise.
    """
    rng = np.random.RandomState(SEED)
    k, d = means.shape
    at, at_sd = means / scales, errors[1] / scales
    shapes = covariances / np.outer(scales, scales)
    variance, variance_sd = np.einsum("kii->ki", shapes), np.einsum("kii->ki", errors[2]) / scales**2
    within, explained = _mixed(weights, at, variance)
    known = np.isfinite(at_sd).all(axis=1) & np.isfinite(variance_sd).all(axis=1)
    if not np.isfinite(errors[0]).all() or weights[~known].sum() > MOST_UNSEEN:
        return Quality(within, np.inf, explained, np.inf, 0.0, np.inf)
    # of components that are not seen nothing is known but their weight: they may be off by their own width
    at_sd = np.where(known[:, None], at_sd, np.sqrt(variance))
    variance_sd = np.where(known[:, None], variance_sd, variance)

    def moved() -> tuple[np.ndarray, np.ndarray]:
        w = np.maximum(weights + errors[0] * rng.standard_normal(k), 1e-12)
        return w / w.sum(), at + at_sd * rng.standard_normal((k, d))

    def widened() -> np.ndarray:
        noise = rng.standard_normal((1 if tied else k, 1 if round_ else d))
        return np.maximum(variance + variance_sd * noise, 0.05 * variance)

    again = np.array([_mixed(*moved(), widened()) for _ in range(_affordable(k * d))])
    noise = again.std(axis=0, ddof=1)
    part = float(noise[0]) / max(within, 1e-300)
    doubt = MISFIT + UNFINISHED * part + min(MISLED * (d * part) ** 2, MOST_MISLED) + float(weights[~known].sum())
    errors_of = np.hypot(noise, doubt * np.array([within, explained * (1 - explained)]))

    def redrawn() -> tuple[np.ndarray, float, np.ndarray]:
        w, places = moved()
        return places, max(1 + doubt * rng.standard_normal(), 0.1), w

    shown = mixture_silhouette(at, shapes, weights, redrawn, rng)
    return Quality(within, float(errors_of[0]), explained, float(errors_of[1]), *shown)


def _mixed(weights: np.ndarray, at: np.ndarray, variance: np.ndarray) -> tuple[float, float]:
    within = float(weights @ variance.sum(axis=1))
    between = float(weights @ np.square(at - weights @ at).sum(axis=1))
    return within, between / max(within + between, 1e-300)
