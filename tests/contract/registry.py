"""Everything that the contract tests run over. Register a query, an engine or an estimator here and it is covered."""

import contextlib
import sqlite3
from importlib.util import find_spec

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import knoll
from knoll import registry
from knoll.bounds.balance import spread_query
from knoll.engines import ArrayEngine
from knoll.engines.files import FileEngine
from knoll.engines.stream import StreamEngine
from knoll.engines.streams import stream_of
from knoll.queries import (
    Ball,
    Box,
    CellDisplacements,
    CellHistograms,
    CellMoments,
    CellShapes,
    ChosenColumns,
    Circle,
    ColumnCells,
    ColumnCounts,
    ColumnHistograms,
    ColumnPairs,
    ColumnProfile,
    ComponentMoments,
    Corners,
    Count,
    Directions,
    FourierFeatures,
    FourierGrid,
    Frame,
    Gaussians,
    GridHistogram,
    KernelSteps,
    Lattice,
    LatticeCounts,
    Line,
    MixedMoments,
    Nearest,
    NearestVotes,
    ObservedMeans,
    OutsideVotes,
    PairVotes,
    Product,
    Projected,
    ScatterMatrix,
    SparseMoments,
    Sphere,
    SplitTree,
    TreeCounts,
    TwoLevel,
    WordsByTopic,
    candidates,
    random_projection,
)
from knoll.source import as_source, open_source

BOX1 = Box((-3.0,), (5.0,))
BOX2 = Box((0.0, 10.0), (110.0, 60.0))
BOX5 = Box((-1.0, 0.0, -100.0, 0.001, 5.0), (1.0, 1e-3, 900.0, 0.002, 7.0))
BOX7 = Box((-1.0,) * 7, (1.0,) * 7)
FLAT3 = Box((-1.0, 3.0, 0.0), (1.0, 3.0, 50.0))
PRODUCT = Product.of([Line(0.0, 110.0), Corners(5), Circle(), Corners(2, 0.5), Line(-1e-3, 1e-3, 2.0)], "abcde")
LEVELS = Product.of([Corners(4), Line(0.0, 1.0, 0.5, True), Corners(12)], "abc")
BALL3 = Ball(2.5, (1.0, -1.0, 0.0))
SPHERE3 = Sphere(3)
SEEN3 = Directions(SPHERE3, np.linalg.qr(np.random.default_rng(0).normal(size=(3, 2)))[0].T, np.array([0.3, -0.1, 0.2]))


def _points(domain, k, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=(k, domain.n_columns)) * domain.half + domain.centre


def _cells(domain, k, *, scaled=False):
    return Nearest(domain.clip(_points(domain, k)), domain, domain.half if scaled else None)


def _windows(cells, bins):
    """Lower ends and bins of windows that hold the whole domain, from wherever a centre is."""
    width = np.tile(4 * cells.domain.half / bins, (cells.n_cells, 1))
    return cells.centres - width * bins / 2, width


def _crowded(domain, k, *, scaled=False, first=0.97):
    """All centres crowded at one corner: the first cell is nearly the whole domain, the worst case for a pair."""
    along = np.linspace(0.98, 1.0, k)
    along[0] = first
    if isinstance(domain, Ball):
        along /= np.sqrt(domain.n_columns)
    return Nearest(domain.centre + domain.half * along[:, None], domain, domain.half if scaled else None)


def _tree(domain, edge=20_000.0):
    """A lopsided tree with one leaf left closed."""
    tree = SplitTree(domain)
    near, far = tree.split(0, 0, -edge)
    low, _ = tree.split(far, domain.n_columns - 1, edge)
    tree.open([low, near])
    return tree


PROJECTED = random_projection(BOX5, 2, np.random.RandomState(0), scales=BOX5.half)


_STARTS = np.array([[-0.5, 0.0], [0.5, 0.1], [0.5, 0.1], [0.0, -0.9], [0.0, 1.0]])


def _shapes(domain, k, *, scaled=False, **weights):
    cells = _crowded(domain, k, scaled=scaled, first=0.0)
    frame = Frame(domain, domain.half if scaled else None)
    references = (cells.centres - domain.centre) / frame.scales
    axes = np.tile(1 / np.sqrt(frame.half), (k, 1)) * np.linspace(1, 2, k)[:, None]
    return CellShapes(cells, frame, references, axes, np.linspace(0.3, 0.2, k) * frame.half.min() ** 0.5, **weights)


def _shapes_of_all(domain, **weights):
    """One cell, whose ellipsoid holds all of a box, corners and all: bounds limit each column."""
    frame = Frame(domain, domain.half)
    one = np.ones((1, domain.n_columns))
    return CellShapes(SplitTree(domain), frame, 0 * one, one, np.array([domain.n_columns**0.5]), **weights)


def _components(domain, k, *, cells=False, bits=9, seed=0, **options):
    """Skewed Gaussians inside a domain, their clip radii well inside it too."""
    rng = np.random.default_rng(seed)
    d = domain.n_columns
    means = domain.centre + domain.half * rng.uniform(-0.3, 0.3, size=(k, d)) / d**0.5
    roots = np.tril(rng.normal(size=(k, d, d)) / 3) + np.eye(d)
    roots *= 0.1 * domain.half[:, None]
    gaussians = Gaussians(domain, rng.dirichlet(np.ones(k)), means, roots, np.linspace(1.5, 2.5, k), bits)
    return ComponentMoments(gaussians, cells=Nearest(means, domain) if cells else None, **options)


def _mixed_moments(domain, k, **options):
    """Narrow Gaussians of the numbers inside the domain, and shares of the levels."""
    rng = np.random.default_rng(k)
    shares = [rng.dirichlet(np.ones(m), k) for _, _, m in domain.levels]
    gaussians, weights = None, rng.dirichlet(np.ones(k))
    if domain.numbers:
        numbers = domain.take(domain.numbers)
        q = numbers.n_columns
        means = numbers.centre + numbers.half * rng.uniform(-0.3, 0.3, size=(k, q)) / q**0.5
        roots = np.tile(np.diag(0.05 * numbers.half), (k, 1, 1))
        gaussians = Gaussians(numbers, weights, means, roots, np.full(k, 2.0))
    given = {"count_weight": 0.5, "bits": 10, **({"square_weight": 0.7} if domain.numbers else {}), **options}
    return MixedMoments(domain, gaussians, weights, shares, level_weight=0.6, **given)


def _lattice(domain, top, part=1.0, **more):
    """The middle part of a domain, padded by a third."""
    half = part * domain.half
    return Lattice(domain, domain.centre - half, domain.centre + half, 2 * half / 3, top, **more)


def _fourier(domain, top, rate, part=1.0):
    """Gaussian amplitudes on a grid of frequencies."""
    amplitude = 1.0
    for k in top:
        amplitude = np.multiply.outer(amplitude, np.exp(-((rate * np.arange(k + 1) / k) ** 2)))
    return FourierGrid(_lattice(domain, top, part), amplitude)


def _frequencies(domain, m, seed=0):
    return np.random.default_rng(seed).normal(size=(m, domain.n_columns)) * 5 / domain.half


def _three_cells():
    return ColumnCells(np.array([-1.0, 2.0]), (np.arange(3),), (4096,))


def _two_levels():
    """Ten cells, and three groups of them with votes of less weight."""
    return ColumnCells(np.linspace(-5.0, 5.0, 9), (np.arange(10), np.array([0, 4, 7])), (3000, 2500))


CHOSEN12 = ChosenColumns(12, np.arange(12), np.linspace(1.0, 3.0, 12), most=4)
CHOSEN5 = ChosenColumns(5, np.arange(5), np.array([1.0, 2.0, 0.5, 3.0, 1.0]))


def _opposite(domain, k):
    """Cells around the ends of some columns' axes."""
    return Nearest(np.vstack([np.eye(domain.n_columns), -np.eye(domain.n_columns)])[:k], domain)


# name -> (query, number of columns)
QUERIES = {
    "column counts": (ColumnCounts(12, 4), 12),
    "column counts, short rows": (ColumnCounts(5), 5),
    "pairs of columns": (ColumnPairs(CHOSEN12), 12),
    "pairs of columns, two": (ColumnPairs(ChosenColumns(2, np.arange(2), np.ones(2))), 2),
    "sparse moments": (SparseMoments(_opposite(CHOSEN12, 7), CHOSEN12), 12),
    "sparse moments, one cell": (SparseMoments(Nearest(np.zeros((1, 5)), CHOSEN5), CHOSEN5), 5),
    "votes, chosen columns": (NearestVotes(_opposite(CHOSEN5, 4)), 5),
    "words by topic": (WordsByTopic([f"word{j}" for j in range(9)], _cells(BOX2, 3), 4), 11),
    "words by topic, one topic": (WordsByTopic([f"word{j}" for j in range(9)], _cells(BOX1, 1), 3), 10),
    "Fourier grid, one column": (_fourier(BOX1, (9,), 1.9), 1),
    "Fourier grid, two columns": (_fourier(BOX2, (7, 5), 1.7), 2),
    "Fourier grid, part of the domain": (_fourier(BOX2, (6, 6), 1.9, 0.6), 2),
    "Fourier grid, three columns": (_fourier(BALL3.cube, (3, 4, 3), 1.5), 3),
    "Fourier features, box": (FourierFeatures(BOX5, _frequencies(BOX5, 12)), 5),
    "Fourier features, ball": (FourierFeatures(BALL3, _frequencies(BALL3, 9), count_weight=0.5), 3),
    "Fourier features, projected": (FourierFeatures(PROJECTED, _frequencies(PROJECTED, 10)), 5),
    "lattice counts": (LatticeCounts(_lattice(BOX2, (4, 4), cells=(20, 12))), 2),
    "lattice counts, part": (LatticeCounts(_lattice(BOX1, (3,), 0.5)), 1),
    "kernel steps, box": (KernelSteps(BOX2, BOX2.centre + BOX2.half * _STARTS, BOX2.half / 3), 2),
    "kernel steps, ball": (KernelSteps(BALL3, _cells(BALL3, 7).centres, BALL3.half / 2), 3),
    "count": (Count(), 2),
    "votes, one candidate": (NearestVotes(_cells(BOX1, 1)), 1),
    "votes, 7 in a box": (NearestVotes(_cells(BOX2, 7)), 2),
    "votes, 300 in a ball": (NearestVotes(_cells(BALL3, 300)), 3),
    "votes, scaled": (NearestVotes(_cells(BOX5, 9, scaled=True)), 5),
    "grid histogram": (GridHistogram(BOX2, (5, 3)), 2),
    "grid histogram, one column": (GridHistogram(BOX1, (16,)), 1),
    "column histograms": (ColumnHistograms(np.array([[-1.0, 0.0, 2.0], [0.0, 1e3, 1e6]])), 2),
    "cell histograms": (CellHistograms(_cells(BOX2, 3), BOX2, *_windows(_cells(BOX2, 3), 8), 8), 2),
    "cell histograms, near": (CellHistograms(_cells(BALL3, 2), BALL3, *_windows(_cells(BALL3, 2), 9), 9, 4.0), 3),
    "outside votes": (OutsideVotes(np.array([[-2.0, -1, 1, 2], [0.0, 1e3, 2e3, 1e6], [-1.0, 0, 1e-3, 1]]), 2), 3),
    "outside votes, l1": (OutsideVotes(np.tile([-2.0, -1.0, 1.0, 2.0], (5, 1)), 1), 5),
    "outside votes, one column": (OutsideVotes(np.array([[-1.0, 0.5]]), 2), 1),
    "column profile": (ColumnProfile([_three_cells(), _two_levels()]), 2),
    "column profile, one of three columns": (ColumnProfile([_two_levels()], [1]), 3),
    "moments, one cell": (CellMoments(_crowded(BOX2, 1)), 2),
    "moments, one column": (CellMoments(_crowded(BOX1, 4)), 1),
    "moments, box": (CellMoments(_crowded(BOX5, 6)), 5),
    "moments, kinds of columns": (CellMoments(_crowded(PRODUCT, 3)), 5),
    "moments, kinds of columns in one cell": (CellMoments(Nearest(_points(PRODUCT, 1), PRODUCT, PRODUCT.scales)), 5),
    "votes, kinds of columns": (NearestVotes(_cells(PRODUCT, 6)), 5),
    "means of observed values": (ObservedMeans(PRODUCT, (0, 1, 2, 4)), 5),
    "means of observed values, one column": (ObservedMeans(PRODUCT, (3,)), 5),
    "grid histogram, circle": (GridHistogram(Product.of([Circle()], "a"), (4, 4)), 1),
    "shapes, kinds of columns": (_shapes(PRODUCT, 3), 5),
    "components, kinds of columns": (_components(PRODUCT, 3, products="diag"), 5),
    "moments and levels": (_mixed_moments(PRODUCT, 3), 5),
    "moments and levels, hard": (_mixed_moments(PRODUCT, 3, soft=False, products="diag"), 5),
    "moments and levels, one component": (_mixed_moments(PRODUCT, 1), 5),
    "levels alone": (_mixed_moments(LEVELS, 3), 3),
    "moments, scaled box": (CellMoments(_crowded(BOX5, 6, scaled=True)), 5),
    "moments, ball": (CellMoments(_crowded(BALL3, 5)), 3),
    "moments, projected cells": (
        CellMoments(Nearest(np.array([[0.5, 0.1], [-0.3, 0.2]]), PROJECTED), BOX5, BOX5.half),
        5,
    ),
    "moments, tree": (CellMoments(_tree(BOX2, edge=255_000.0)), 2),
    "votes, projected": (NearestVotes(Nearest(np.array([[0.5, 0.1], [-0.3, 0.2], [0.0, 0.0]]), PROJECTED)), 5),
    "tree counts": (TreeCounts(_tree(BALL3)), 3),
    "tree counts, projected": (TreeCounts(_tree(PROJECTED)), 5),
    "votes, two levels": (NearestVotes(TwoLevel(_cells(BOX2, 12).centres, np.array([0, 1, 2] * 4), BOX2)), 2),
    "votes, a tree of 3000": (NearestVotes(_cells(BALL3, 3000)), 3),
    "votes, groups of 5000": (NearestVotes(candidates(_points(BOX7, 5000), BOX7)), 7),
    "pair votes, 2 centres": (PairVotes(_cells(BOX1, 2), 0.2), 1),
    "pair votes, 7 in a box": (PairVotes(_cells(BOX2, 7, scaled=True), 0.15), 2),
    "pair votes, 40 in a ball": (PairVotes(_cells(BALL3, 40), 0.2), 3),
    "pair votes, projected": (PairVotes(Nearest(np.array([[0.5, 0.1], [-0.3, 0.2], [0.0, 0.0]]), PROJECTED), 0.2), 5),
    "shapes, box": (_shapes(BOX2, 4), 2),
    "shapes, one cell": (_shapes(BOX5, 1, scaled=True, square_weight=0.7), 5),
    "shapes, beyond the bounds": (_shapes_of_all(BOX5, square_weight=2.2), 5),
    "shapes, beyond the bounds, squares": (_shapes_of_all(BOX5, square_weight=5.0), 5),
    "shapes, spread of numbers": (spread_query(PRODUCT), 5),
    "shapes, one column": (_shapes(BOX1, 1, count_weight=0.5, square_weight=0.3), 1),
    "shapes, ball": (_shapes(BALL3, 3, count_weight=0.5), 3),
    "scatter matrix": (ScatterMatrix(Frame(BOX5, BOX5.half), np.zeros(5), np.ones(5), 0.8), 5),
    "moments, sphere": (CellMoments(_crowded(SPHERE3, 3)), 3),
    "moments, sphere, one cell": (CellMoments(Nearest(np.zeros((1, 3)), SPHERE3)), 3),
    "displacements, sphere": (CellDisplacements(_crowded(SPHERE3, 2, first=0.0), 0.4), 3),
    "votes, sphere": (NearestVotes(_cells(SPHERE3, 9)), 3),
    "shapes, sphere": (_shapes(SPHERE3, 2, count_weight=0.4, square_weight=0.1), 3),
    "scatter matrix, sphere": (ScatterMatrix(Frame(SPHERE3), np.array([0.1, 0.0, 0.0]), np.ones(3), 0.5), 3),
    "shapes, directions": (_shapes(SEEN3, 2, count_weight=0.4, square_weight=0.1), 3),
    "votes, directions": (NearestVotes(_cells(SEEN3, 5)), 3),
    "displacements, box": (CellDisplacements(_crowded(BOX2, 4, first=0.0), 7.0), 2),
    "displacements, ball, one cell": (CellDisplacements(_crowded(BALL3, 1, first=0.0), 0.4), 3),
    "displacements, scaled": (CellDisplacements(_crowded(BOX5, 3, scaled=True, first=0.0), 0.2), 5),
    "components, soft": (_components(BOX2, 4), 2),
    "components, soft, ball": (_components(BALL3, 3, square_weight=2.0, count_weight=0.3), 3),
    "components, coarse": (_components(BOX5, 3, bits=6), 5),
    "components, hard": (_components(BOX5, 5, soft=False, square_weight=1.3), 5),
    "components, cells": (_components(BOX2, 3, cells=True, soft=False), 2),
    "components, squares": (_components(BOX2, 3, products="diag", square_weight=0.4), 2),
    "components, lengths": (_components(BALL3, 2, products="trace"), 3),
    "components, one": (_components(BOX1, 1, square_weight=1.5), 1),
    "moments, a constant column": (CellMoments(_crowded(FLAT3, 3)), 3),
    "moments, a constant column, scaled": (CellMoments(_crowded(FLAT3, 3, scaled=True)), 3),
    "votes, a constant column": (NearestVotes(_cells(FLAT3, 9)), 3),
    "shapes, a constant column": (_shapes(FLAT3, 3, scaled=True), 3),
    "Fourier grid, a constant column": (_fourier(FLAT3, (3, 3, 4), 1.5), 3),
    "grid histogram, a constant column": (GridHistogram(FLAT3, (4, 2, 3)), 3),
    "components, a constant column": (_components(FLAT3, 3, square_weight=0.4), 3),
    "components, one of them": (_components(BOX2, 1, count_weight=0.2), 2),
}


def _of(cls, **own):
    return lambda **given: cls(**{"bounds": (-1.0, 1.0), "random_state": 0, **own, **given})


# name -> estimator for data with d columns in [-1, 1]: all that are registered, and variants of some
ESTIMATORS = {each.name: _of(each.load(), **each.example) for each in registry.ESTIMATORS if not each.local} | {
    "Lloyd, private bounds": _of(knoll.Lloyd, n_clusters=3, bounds="private"),
    "Lloyd, paper": _of(knoll.Lloyd, n_clusters=3, preset="paper"),
    "Lloyd, restarted": _of(knoll.Lloyd, n_clusters=3, restart=True),
    "PEMeans, paper": _of(knoll.PEMeans, n_clusters=3, preset="paper", projection=1),
    "PEMeans, ball and projection": _of(knoll.PEMeans, n_clusters=3, bounds=None, projection=1),
    "KMeans, k unknown": _of(knoll.KMeans, n_clusters=None),
    "KMeans, ball": _of(knoll.KMeans, n_clusters=3, bounds=None),
    "KMeans, sphere": _of(knoll.KMeans, n_clusters=3, bounds="sphere"),
    "SphericalKMeans, k unknown": _of(knoll.SphericalKMeans, n_clusters=None, bounds="sphere"),
    "Cubes, ball": _of(knoll.Cubes, n_clusters=3, bounds=None),
    "MorseClustering, Lloyd below": _of(knoll.MorseClustering, base=knoll.Lloyd(), n_subclusters=6, bounds=None),
    "MorseClustering, mixture below": _of(
        knoll.MorseClustering, base=knoll.HardEMGaussianMixture(n_steps=2), n_subclusters=6
    ),
    "GaussianMixture, k unknown": _of(knoll.GaussianMixture, n_components=None),
    "GaussianMixture, paper": _of(knoll.GaussianMixture, n_components=2, preset="paper"),
    "EMGaussianMixture, private bounds": _of(
        knoll.EMGaussianMixture, n_components=2, bounds="private", n_steps=3, covariance_type="tied"
    ),
    "ModeSeeking, each step": _of(knoll.ModeSeeking, bounds=None, bandwidth=0.4, release="each-step", n_steps=3),
    "ModeSeeking, mini-batches": _of(knoll.ModeSeeking, release="each-step", mini_batches=True, n_steps=4),
    "MorseClustering, k unknown": _of(knoll.MorseClustering),
    "Lloyd, ball": _of(knoll.Lloyd, n_clusters=2, bounds=None),
}


def make_estimator(name, d, **parameters):
    estimator = ESTIMATORS[name](**parameters)
    if estimator.bounds is None:
        estimator.bounds = Ball(1.0, (0.0,) * d)
    return estimator


NOT_TIGHT = {
    ("column counts", "replace_one", 1),
    ("scatter matrix", "replace_one", 1),
    ("soft component moments", "replace_one", 1),
    ("soft moments and levels", "replace_one", 1),
    ("Fourier coefficients", "replace_one", 1),
    *(("Fourier features", relation, 1) for relation in ("add_remove", "replace_special", "replace_one")),
    ("Fourier features", "replace_one", 2),
    *(("kernel values and gradients", relation, 1) for relation in ("add_remove", "replace_special", "replace_one")),
    ("kernel values and gradients", "replace_one", 2),
}
"""Proven but not tight; each with its reason in the query's docstring."""


def interesting_points(query, d, rng):
    """Points at which sensitivities are reached or broken: corners, ties, centres, far and absurd values."""
    frame = getattr(query, "frame", None)
    if isinstance(query, ColumnCounts | WordsByTopic) or isinstance(domain_of(query), ChosenColumns):
        points = _sparse_points(d, rng)
        weights = getattr(domain_of(query), "weights", np.ones(d))
        return np.vstack([points, points / weights]) if len(weights) == d else points
    if isinstance(domain := domain_of(query), Product):
        return _of_every_kind(domain, rng)
    if frame is not None:
        return _around(query, frame, rng)
    if isinstance(query, ComponentMoments):
        return _around_components(query, rng)
    middle = domain.centre if domain is not None else np.zeros(d)
    half = domain.half if domain is not None else np.full(d, 10.0)
    signs = rng.choice([-1.0, 1.0], size=(40, d))
    points = [middle + half * signs, middle + 1e9 * half * signs, middle + half * rng.uniform(-1, 1, size=(60, d))]
    points.append(middle + half * rng.normal(size=(30, d)))
    points.append(np.tile(middle, (1, 1)))
    points.append(np.full((1, d), np.inf))
    points.append(np.full((1, d), -np.inf))
    points.append(signs[:8] * 1e300)
    points.append(middle + np.eye(d) * half * 3)
    points.append(middle - np.eye(d) * half * 3)
    cells = getattr(query, "cells", None)
    if cells is not None:
        source = isinstance(cells.domain, Projected)
        centres = np.tile(middle, (2, 1)) if source or not hasattr(cells, "centres") else cells.centres[:20]
        points += [centres, (centres + centres[::-1]) / 2]
        radius = getattr(query, "radius", None)
        if radius is not None:
            step = query.radius * cells.steps
            points += [centres + 3 * step * signs[: len(centres)], centres - 3 * step * signs[: len(centres)]]
            points += [centres + np.outer(rng.choice([-1, 1], len(centres)), step * np.eye(d)[0])]
        else:
            diagonal = half / np.sqrt(d)
            points += [middle + diagonal * signs[:8]]
    if isinstance(query, KernelSteps):
        points.append(query.points)
    if hasattr(query, "edges"):
        points += [np.column_stack(list(query.edges))]
    if isinstance(query, OutsideVotes):  # each column by itself inside, or in one of two rings
        rings = query.n_rings
        inside = query.edges[:, rings - 1 : rings + 1].mean(axis=1)
        sides = np.stack([inside, query.edges[:, 0] - 1, query.edges[:, -1] + 1])
        points.append(sides[rng.integers(0, 3, (200, d)), np.arange(d)])
    return np.vstack(points)


def _sparse_points(d, rng):
    """Rows with few entries and with many, equal and of any size; rows without a common column; absurd values."""
    few = np.vstack(
        [np.eye(d), -np.eye(d), 1e300 * np.eye(d), *(np.roll(np.eye(d), j, axis=1) + np.eye(d) for j in (1, 3))]
    )
    runs = np.array([[float(start <= j < start + n) for j in range(d)] for n in (2, 3, 4) for start in range(0, d, n)])
    held = rng.random((120, d)) < rng.random((120, 1))
    signs = rng.choice([-1.0, 1.0], size=(120, d))
    points = [
        few,
        runs,
        runs * rng.choice([-1.0, 1.0], size=runs.shape),
        held * signs,
        held * rng.normal(size=(120, d)),
    ]
    points += [
        np.zeros((1, d)),
        np.ones((1, d)),
        np.full((1, d), np.inf),
        held[:9] * 10.0 ** rng.integers(-300, 300, (9, d)),
    ]
    # words of a topic stand after the place of the record: all places, with and without the same words
    words = np.tile(runs[:, None], (1, 4, 1))
    words[:, :, :2] = [[-3.0, 10.0], [5.0, 60.0], [0.0, 35.0], [110.0, 10.0]]
    return np.vstack([*points, words.reshape(-1, d)]) if d > 9 else np.vstack(points)


def domain_of(query):
    """The domain of a query's records, if it has one."""
    of = getattr(query, "frame", query)
    domain = getattr(of, "domain", getattr(of, "box", None)) or getattr(getattr(of, "cells", None), "domain", None)
    return domain.source if isinstance(domain, Projected) else domain


def _of_every_kind(domain, rng):
    """Rows of a product's columns: ends of lines, all codes, round the circle; and values that are none of these."""
    absurd = [np.inf, -np.inf, 1e300, -1e300, -1.0, 0.5, 1e9]
    far, any_value = [], []
    for part in domain.parts:
        if isinstance(part, Line):  # just short of the upper end is still in the first of crowded cells
            ends = part.lower + (part.upper - part.lower) * np.array([0.0, 1.0, 0.98])
            inside = rng.uniform(part.lower, part.upper, 8)
        else:
            ends = np.arange(part.levels) if isinstance(part, Corners) else np.arange(16) / 16
            inside = rng.uniform(size=8)
        far.append(rng.choice(ends, size=300))
        any_value.append(rng.choice(np.concatenate([ends, ends, inside, absurd]), size=200))
    return np.vstack([np.column_stack(far), np.column_stack(any_value)])


def write_files(folder, rows, names):
    """Write rows in every kind of file; return name -> path."""
    table = pa.table({name: rows[:, j] for j, name in enumerate(names)})
    paths = {kind: folder / f"rows.{kind}" for kind in ("parquet", "csv", "arrow")}
    pa.parquet.write_table(table, paths["parquet"], row_group_size=777)
    pa.csv.write_csv(table, paths["csv"])
    pa.feather.write_feather(table, paths["arrow"], chunksize=500)
    paths["folder"] = folder / "parts"
    paths["folder"].mkdir()
    for i in range(3):
        pa.parquet.write_table(table.slice(i * 1000, 1000), paths["folder"] / f"{i}.parquet")
    pa.parquet.write_table(table.slice(3000), paths["folder"] / "3.parquet")
    return paths


def engines(folder, rows, names):
    """Name -> engine over the same rows."""
    found = {f"{kind} file": FileEngine(path, list(names)) for kind, path in write_files(folder, rows, names).items()}
    found["array"] = ArrayEngine(rows, tuple(names))
    found["array, odd blocks"] = ArrayEngine(rows, tuple(names), block_rows=317)
    found["array, one block"] = ArrayEngine(rows, tuple(names), block_rows=10**9)
    found["array, fortran order"] = ArrayEngine(np.asfortranarray(rows), tuple(names))
    found |= {name: StreamEngine(stream_of(each), list(names)) for name, each in streams(rows, names).items()}
    if find_spec("adbc_driver_sqlite"):
        found["SQLite"] = StreamEngine(sqlite_table(folder / "rows.db", rows, names).stream(None, ()), list(names))
    if find_spec("dask"):
        import dask.array

        parts = as_source(dask.array.from_array(rows, chunks=(2000, 1)))
        found["Dask, threads"] = open_source(parts, None, missing="refuse", unit=None)
    return found


def sqlite_table(path, rows, names):
    """Write rows to a SQLite database."""
    with contextlib.closing(sqlite3.connect(path)) as con:
        con.execute(f"CREATE TABLE visits ({', '.join(names)})")
        con.executemany(f"INSERT INTO visits VALUES ({', '.join('?' * len(names))})", rows.tolist())
        con.commit()
    return knoll.Table(f"sqlite:///{path}", "visits")


def streams(rows, names):
    """Name -> something that gives batches of the same rows, of every library that is there."""
    table = pa.table({name: rows[:, j] for j, name in enumerate(names)})
    found = {
        "lazy frame": pl.from_arrow(table).lazy().filter(True),
        "Arrow reader": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=700)),
        "Arrow stream": Exported(table),
    }
    if find_spec("duckdb"):
        import duckdb

        found["relation"] = duckdb.connect().from_arrow(table)
    return found


class Exported:
    """Something of a library that nobody knows, which can hand over a stream of Arrow batches once."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self._table = self._table, None
        return table.__arrow_c_stream__(requested_schema)


def _around(query, frame, rng):
    """Points on and beyond the rim of every cell's ellipsoid: along axes, diagonals and at random."""
    d = frame.n_columns
    directions = np.vstack([np.eye(d), -np.eye(d), rng.choice([-1.0, 1.0], size=(12, d)), rng.normal(size=(20, d))])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    ellipsoids = getattr(query, "_ellipsoids", None) or query._ellipsoid
    points = []
    for origin, size in zip(ellipsoids._origin * frame.steps, ellipsoids.size, strict=True):
        for length in (0.0, 0.5, 1.001, 1.5):
            points.append(frame.outside(origin + length * size * directions))
    if isinstance(frame.domain, Directions):
        points, d = [_seen_at(frame.domain, np.vstack(points))], frame.domain.source.n_columns
    return np.vstack([*points, np.full((1, d), np.inf), np.full((1, d), 1e300)])


def _seen_at(domain, points):
    """Rows of length one whose directions, as the domain sees them, are those of these points."""
    away = points @ domain.matrix
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-300)
    along = away @ domain.middle
    length = np.sqrt(along**2 + 1 - domain.middle @ domain.middle) - along
    return domain.middle + length[:, None] * away


def _around_components(query, rng):
    """Points on and beyond the rim of every component, in whitened coordinates, and between components."""
    g, domain = query.gaussians, query.domain
    d = domain.n_columns
    directions = np.vstack([np.eye(d), -np.eye(d), rng.choice([-1.0, 1.0], size=(12, d)), rng.normal(size=(20, d))])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if d > 1:
        worst = rng.normal(size=(30, d))
        directions = np.vstack([directions, worst / np.linalg.norm(worst, axis=1, keepdims=True)])
    points = []
    for i in range(g.n_cells):
        back = np.linalg.inv(g._maps[i] * g._scales[i]) * g.unit
        for length in (0.0, 0.5, 1.001, 1.5):
            points.append((g._origins[i] + length * directions @ back.T) * domain.steps + domain.centre)
    far = [np.full((1, d), np.inf), np.full((1, d), 1e300), domain.centre + domain.half * directions]
    points = np.vstack([*points, *far])
    return np.vstack([points, (points + points[::-1]) / 2])
