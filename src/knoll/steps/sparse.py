"""Clusters of sparse rows: columns are chosen by released counts, axes come from which columns occur together.

    count, columns   release the number of rows and how often each column occurs; keep the most frequent columns, as
                     many as the budget can relate to each other; rare ones weigh more (idf, from the released counts)
    mean, pairs      release the mean and how often any two chosen columns occur together; the eigenvectors of that
                     matrix that stand out of the noise are the axes
    start            clusters of directions along these axes, as for dense rows
    steps            release counts and sums of the clusters in more columns; shrink them as far as they are noise

The scatter matrix of sparse rows is ruled by its diagonal, which says how common a column is and not what it goes with.
It is neither released nor paid for: the axes' own part of it is filled in, again and again until it stays.
All but the releases is post-processing.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh

from knoll.estimator import FitContext
from knoll.numeric.bars import clear_level
from knoll.privacy import Ask, Grant, Shares
from knoll.queries import ChosenColumns, ColumnCounts, ColumnPairs, Count, Nearest, SparseMoments
from knoll.queries.sphere import lengthened
from knoll.steps.choose import Choice
from knoll.steps.directions import View
from knoll.steps.means import CellMeans
from knoll.steps.words import MOST_PIECES, choose_words, find_words, word_asks


@dataclass(frozen=True)
class SparseShares(Shares):
    """Shares of the budget; settled on made-up tags and news (benchmarks/topics/sparse.py)."""

    count: float = 0.01
    columns: float = 0.08
    mean: float = 0.03
    pairs: float = 0.40
    start: float = 0.20
    steps: float = 0.28


SHARES = SparseShares()
N_STEPS = 3
MOST_PAIRED, MOST_SUMMED = 600, 2000  # columns; the first makes a matrix of 180,000 pairs
PER_COLUMN = 0.11  # columns that are paired, times noise of a pair and root of k, over the number of rows
WIDER = 2.5  # columns that are summed in the steps, over those that are paired
FILLINGS = 5  # times the diagonal is filled in; it settles in a few
PHRASE = 5.0  # columns: an axis that holds fewer is of words that stand side by side
BAND = 50  # columns of like frequency that are shrunk alike


def sparse_asks(n_columns: int, k: int | None) -> list[Ask]:
    """Return the most that `sparse_clusters` releases. Only public facts are used."""
    paired, summed = min(MOST_PAIRED, n_columns), min(MOST_SUMMED, n_columns)
    wide = ChosenColumns(n_columns, np.arange(summed), np.ones(summed))
    narrow = ChosenColumns(n_columns, np.arange(paired), np.ones(paired))
    one = Nearest(np.zeros((1, narrow.n_columns)), narrow)
    asks = [
        Ask.like(Count(), share=SHARES.count),
        Ask.like(ColumnCounts(n_columns), share=SHARES.columns),
        Ask.like(SparseMoments(one, narrow), share=SHARES.mean),
        *word_asks(paired, k or MOST_PIECES, SHARES.start),
        Ask.like(SparseMoments(one, wide), k or MOST_PIECES, N_STEPS, share=SHARES.steps / N_STEPS),
    ]
    return asks if paired < 2 else [*asks, Ask.like(ColumnPairs(narrow), share=SHARES.pairs)]


MOST_GROUPS = 64  # where their number is not given


@dataclass(frozen=True)
class Columns:
    """Columns by released frequency: the number of rows, the order, and a weight for each."""

    count: float
    order: np.ndarray
    weights: np.ndarray

    def first(self, number: int) -> ChosenColumns:
        """Return the domain of the most frequent columns."""
        chosen = self.order[:number]
        return ChosenColumns(len(self.order), chosen, self.weights[chosen])


def sparse_clusters(context: FitContext, k: int | None, rng: np.random.RandomState) -> tuple[CellMeans, dict[str, Any]]:
    """Find clusters of sparse rows through the door; return them in all columns, and what else is published."""
    grants = context.grant.split(SHARES)
    columns = release_columns(grants.count, grants.columns, context.domain.n_columns)
    narrow = columns.first(paired_columns(grants.pairs, columns, k))
    wide = columns.first(min(MOST_SUMMED, int(WIDER * narrow.n_columns)))
    view = release_pairs(grants.mean, grants.pairs, columns.count, narrow, k)
    frame = view.frame(replace(context, domain=narrow, scales=np.ones(narrow.n_columns)))
    if k is None:
        words, choice = choose_words(grants.start, frame, view, rng)
        words = words.merged(choice.k, rng)
    else:
        words, choice = find_words(grants.start, frame, view, k, rng), Choice.given(k)
    cells = Nearest(lengthened(words.at), frame.domain)
    steps: list[CellMeans] = []
    for grant in grants.steps.even(N_STEPS):
        means, cosines = shrunk_means(grant, cells, wide)
        cells = Nearest(means.centres, wide)
        steps.append(means)
    found = SparseFound(moving(*steps[-2:]), wide)
    more = {"cluster_cosines_": cosines, "column_weights_": found.column_weights(), **choice.attributes()}
    return found.in_all_columns(), more


@dataclass(frozen=True)
class SparseFound:
    """Clusters in the chosen columns."""

    means: CellMeans
    domain: ChosenColumns

    def in_all_columns(self) -> CellMeans:
        """Return the clusters in all columns: those that were not chosen are zero."""

        def spread(values: np.ndarray) -> np.ndarray:
            whole = np.zeros((len(values), self.domain.n_sources))
            whole[:, self.domain.columns] = values
            return whole

        return replace(self.means, centres=spread(self.means.centres), stderr=spread(self.means.stderr))

    def column_weights(self) -> np.ndarray:
        """Return the weight of each column; zero if it was not chosen."""
        weights = np.zeros(self.domain.n_sources)
        weights[self.domain.columns] = self.domain.weights
        return weights


def release_columns(count: Grant, columns: Grant, n_columns: int) -> Columns:
    """Release how many rows there are and how often columns occur; weigh columns by log(rows / rows with it)."""
    n = max(float(count.release(Count()).value), 2.0)
    released = columns.release(ColumnCounts(n_columns))
    often = np.maximum(released.value, float(released.stderr.max()))
    root = max(
        float(released.value.sum()) / n, 1.0
    )  # of the length of a row: a row with L entries adds 1 / sqrt(L) each
    weights = np.log(np.maximum(n / np.minimum(often * root, 0.9 * n), 1.0 + 1e-6))
    return Columns(n, np.argsort(-released.value, kind="stable"), np.maximum(weights, 1e-3))


def paired_columns(grant: Grant, columns: Columns, k: int | None) -> int:
    """Return how many columns the budget can relate to each other."""
    d = len(columns.order)
    if d < 3:
        return d
    noise = float(grant.stderr(ColumnPairs(columns.first(2))).max()) * 2**0.5  # two columns have half a pair's norm
    return int(np.clip(PER_COLUMN * columns.count / (noise * (k or 16) ** 0.5), min(30, d), min(MOST_PAIRED, d)))


def release_pairs(mean: Grant, pairs: Grant, count: float, domain: ChosenColumns, k: int | None) -> View:
    """Release the mean and the pairs of columns; return the axes that stand out of the noise."""
    d = domain.n_columns
    moments = mean.release(SparseMoments(Nearest(np.zeros((1, d)), domain), domain))
    at = domain.clip(moments.value[:, 1:] / max(count, 1.0))[0]
    if d < 2:
        return View(count, at, np.eye(d), np.ones(d), None, np.ones(d))
    query = ColumnPairs(domain)
    released = pairs.release(query)
    matrix = query.matrix(released.value) / count - np.outer(at, at)
    edge = 2.0 * float(released.stderr.max()) / count * d**0.5
    most = max(1, min(d, MOST_GROUPS - 1 if k is None else k - 1))
    values, vectors, clear = broad_first(*filled_in(matrix, edge, most), most)
    variance = np.maximum((values + np.sqrt(np.maximum(values**2 - edge**2, 0.0))) / 2, 1e-6)
    return View(count, at, vectors[:, :clear].T.copy(), variance[:clear], None, variance)


def filled_in(matrix: np.ndarray, edge: float, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the largest eigenvalues, and eigenvectors, of a matrix whose diagonal is that of its clear axes.

    The last is how many eigenvalues are above the edge of noise, from 1 to `most`.
    """
    np.fill_diagonal(matrix, 0.0)
    for _ in range(FILLINGS + 1):
        values, vectors = eigh(matrix, subset_by_index=[len(matrix) - most, len(matrix) - 1], check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        clear = int(np.clip((values > edge).sum(), 1, most))
        np.fill_diagonal(matrix, np.square(vectors[:, :clear]) @ np.maximum(values[:clear], 0.0))
    return values, vectors, clear


def broad_first(values: np.ndarray, vectors: np.ndarray, clear: int, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return axes with those of topics first: an axis of three columns or fewer is a phrase ("New York"), no topic.

    How many columns an axis holds is told by its participation, 1 / sum of fourth powers. At least one stays clear.
    """
    broad = 1.0 / np.power(vectors, 4).sum(axis=0) >= min(PHRASE, len(vectors) / 2)
    broad[clear:] = False
    if not broad.any():
        return values, vectors, min(clear, most)
    order = np.argsort(~broad, kind="stable")
    return values[order], vectors[:, order], min(int(broad.sum()), most)


def shrunk_means(grant: Grant, cells: Nearest, domain: ChosenColumns) -> tuple[CellMeans, np.ndarray]:
    """Release counts and sums of clusters; return their directions, shrunk towards the common one by their noise.

    The length of a mean of directions is their mean cosine with it: that is returned too.
    """
    released = grant.release(SparseMoments(cells, domain))
    counts, counts_error = released.value[:, 0], float(released.stderr[0, 0])
    n = np.maximum(counts, 2.0 * counts_error)[:, None]
    noise = float(released.stderr[0, 1]) / n
    mean = released.value[:, 1:] / n
    common = (mean * n).sum(axis=0) / n.sum()
    apart = mean - common
    gain, left = np.empty_like(apart), np.empty_like(apart)
    for first in range(0, domain.n_columns, BAND):
        band = slice(first, first + BAND)
        signal = np.maximum((np.square(apart[:, band]) - noise**2).mean(axis=1, keepdims=True), 0.0)
        part = signal / (signal + noise**2)
        gain[:, band] = part
        doubt = noise**2 * (2 / apart[:, band].shape[1]) ** 0.5  # of the signal
        own = np.maximum(np.square(apart[:, band]) - noise**2, signal + doubt)
        left[:, band] = np.square(1 - part) * own
    centres = common + gain * apart
    length = np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-12)
    seen = counts > clear_level(len(counts), pure=grant.norm == 1) * counts_error
    errors = np.full(len(counts), counts_error)
    stderr = np.where(seen[:, None], np.sqrt(left + np.square(gain * noise)) / length, np.inf)
    means = CellMeans(centres / length, stderr, counts, errors, seen)
    return means, np.minimum(length[:, 0], 1.0)


def moving(before: CellMeans, means: CellMeans) -> CellMeans:
    """Return the means with wider error bars: rows change clusters once more, between the last release and predictions.

    Steps converge. So what changed between the last two of them, beyond their noise, is more than what changes then.
    """
    noise = np.square(means.counts_stderr) + np.square(before.counts_stderr)
    sizes = max(float((np.square(means.counts - before.counts) - noise).mean()), 0.0)
    seen = means.seen & before.seen
    both = np.where(seen[:, None], np.square(means.stderr) + np.square(before.stderr), 0.0)
    apart = np.square(means.centres - before.centres) - both
    places = np.where(seen, np.maximum(apart.mean(axis=1), 0.0), 0.0)[:, None]
    stderr = np.sqrt(np.square(means.stderr) + places)
    return replace(means, stderr=stderr, counts_stderr=np.sqrt(np.square(means.counts_stderr) + sizes))
