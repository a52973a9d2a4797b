"""Data for a simulation: made up as described, or public rows that stand in for the real ones. Nobody is in it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as NonprivateKMeans
from threadpoolctl import threadpool_limits

from knoll.cluster import KMeans
from knoll.planning.formula import check_counts
from knoll.privacy.errors import DataError
from knoll.queries import Ball, Box, domain_from
from knoll.rows import open_rows

MOST_ROWS = 200_000  # rows of a simulation: a fit takes a fraction of a second then, and more only make results better
FILLED = 0.5  # part of the bounds that made-up data fills: bounds that are known in advance are generous
REACH = 6.0  # standard deviations from one end of a cluster to the other
LARGEST_TO_SMALLEST = 3.0  # sizes of made-up clusters differ: real ones do, and the small ones are lost first
_CANDIDATES = 32  # tried for each centre; the one farthest from the others is taken, so that no two are very close
_STARTS = 3  # of the non-private k-means on a stand-in, of which nobody knows the clusters


@dataclass(frozen=True)
class Trial:
    """Rows to try a fit on, in the units of `domain`, and what k-means without privacy makes of them.

    Attributes
    ----------
    centres : array of shape (k, n_columns)
        The clusters to be found, in units of the bounds.
    loss : float
        Mean squared distance to the nearest centre of k-means without privacy, in units of the bounds.
    """

    rows: np.ndarray
    domain: Box | Ball
    centres: np.ndarray
    loss: float


def made_up(n: int, dims: int, k: int, separation: float, rng: np.random.RandomState) -> Trial:
    """Make k round clusters in a box, the nearest two of them `separation` standard deviations apart."""
    places = _spread(k, dims, rng)
    gap = _nearest_gaps(places).min() if k > 1 else separation
    width = FILLED / (1 + REACH * gap / separation)  # of the region of the centres: what is left is for the clusters
    deviation = width * gap / separation
    centres = 0.5 + width * (places - 0.5)
    sizes = LARGEST_TO_SMALLEST ** rng.uniform(0, 1, k)
    label = rng.choice(k, n, p=sizes / sizes.sum())
    rows = centres[label] + deviation * rng.standard_normal((n, dims))
    domain = Box((0.0,) * dims, (1.0,) * dims)
    return _trial(rows, domain, k, rng, centres)


@dataclass(frozen=True)
class Public:
    """Public rows to simulate with, their bounds, and how many rows there were."""

    rows: np.ndarray
    domain: Box | Ball
    total: int


def stand_in(public: Public, k: int, rng: np.random.RandomState) -> Trial:
    """Take public rows as they are; the clusters to be found are those of k-means without privacy."""
    return _trial(public.rows, public.domain, k, rng, None)


def public_rows(like: Any, bounds: Any, n: int | None, rng: np.random.RandomState) -> Public:
    """Read a public stand-in, at most `MOST_ROWS` of it or n drawn from it, and the bounds to simulate with.

    Non-private, and no ledger: these rows are public. Without bounds, their own range is taken.
    """
    engine, _ = open_rows(KMeans(bounds=bounds, missing="drop"), like, None, nulls=False)
    rows, keys, total = np.empty((0, engine.n_columns)), np.empty(0), 0
    for block, _ in engine.blocks():  # the rows with the smallest random keys: a fair draw from a file of any length
        total += len(block)
        rows, keys = np.vstack([rows, block]), np.concatenate([keys, rng.random_sample(len(block))])
        kept = np.argsort(keys, kind="stable")[:MOST_ROWS]
        rows, keys = rows[kept], keys[kept]
    if not total:
        raise DataError("the stand-in has no complete row")
    given = (rows.min(axis=0), rows.max(axis=0)) if bounds is None else bounds
    domain = domain_from(given, engine.n_columns, engine.names)
    if n is not None:
        check_counts(rows=n)
        rows = rows[rng.choice(len(rows), min(n, MOST_ROWS), replace=n > len(rows))]
    return Public(rows, domain, total)


def scaled(points: np.ndarray, domain: Box | Ball) -> np.ndarray:
    """Points in units of the bounds: from -1/2 to 1/2 in every column."""
    return (domain.clip(points) - domain.centre) / (2 * domain.half)


def share_found(centres: np.ndarray, found: np.ndarray) -> float:
    """Share of clusters with a found centre nearer than half-way to the next cluster. No found centre serves two."""
    apart = np.linalg.norm(centres[:, None] - found, axis=2).min(axis=1)
    return float((apart < _nearest_gaps(centres) / 2).mean())


def mean_loss(points: np.ndarray, centres: np.ndarray) -> float:
    """Mean squared distance of points to the nearest centre."""
    squares = np.square(points).sum(axis=1) + (np.square(centres).sum(axis=1)[:, None] - 2 * centres @ points.T).min(
        axis=0
    )
    return float(np.maximum(squares, 0.0).mean())


def _trial(rows: np.ndarray, domain: Box | Ball, k: int, rng: np.random.RandomState, known: np.ndarray | None) -> Trial:
    points = scaled(rows, domain)
    start, times = ("k-means++", _STARTS) if known is None else (scaled(known, domain), 1)
    k = k if known is not None else min(k, len(np.unique(points, axis=0)))
    with threadpool_limits(1):
        plain = NonprivateKMeans(k, init=start, n_init=times, random_state=rng).fit(points)
    centres = plain.cluster_centers_ if known is None else scaled(known, domain)
    return Trial(rows, domain, centres, mean_loss(points, plain.cluster_centers_))


def _spread(k: int, dims: int, rng: np.random.RandomState) -> np.ndarray:
    """Return k points in the unit cube, each the farthest from those before it of a few random ones (Mitchell 1991)."""
    places = rng.uniform(size=(1, dims))
    while len(places) < k:
        tried = rng.uniform(size=(_CANDIDATES, dims))
        gaps = np.linalg.norm(tried[:, None] - places, axis=2).min(axis=1)
        places = np.vstack([places, tried[gaps.argmax()]])
    return places


def _nearest_gaps(places: np.ndarray) -> np.ndarray:
    """Distance of each point to the nearest other one; infinite if there is none."""
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(apart, np.inf)
    return apart.min(axis=1)
