"""Queries in 1, 2, 12, 42 and 328 columns, on which rounding is searched; the registry has the rest.

Cells and ellipsoids are as wide as their domain, so that every vector of whole units is some record's.
"""

from functools import partial

import numpy as np

from knoll.queries import (
    Ball,
    Box,
    CellDisplacements,
    CellMoments,
    CellShapes,
    ColumnHistograms,
    ComponentMoments,
    FourierFeatures,
    Frame,
    Gaussians,
    KernelSteps,
    Nearest,
    NearestVotes,
    Projected,
    ScatterMatrix,
    SplitTree,
    TreeCounts,
    TwoLevel,
    random_projection,
)

COLUMNS = (1, 2, 12, 42, 328)


def _box(d):
    return Box((-1.0,) * d, (1.0,) * d)


def _ball(d):
    return Ball(1.0, (0.0,) * d)


def _two(domain):
    """The cell of a corner, and that of all other records."""
    return Nearest(domain.half * np.array([[0.0], [0.999]]), domain)


def _shapes(k, w, b, d):
    cells = Nearest(np.zeros((1, d)), _box(d)) if k == 1 else _two(_box(d))
    return CellShapes(
        cells, Frame(_box(d)), cells.centres, np.ones((k, d)), np.ones(k), count_weight=w, square_weight=b
    )


def _components(k, d, **options):
    if k > 1 and d > 100:
        options["products"] = "diag"  # 100,000 products take long and add nothing to what one component shows
    apart = np.linspace(-0.6, 0.6, k)[:, None] if k > 1 else 0.0  # in 12 sizes of a component, far for any record
    roots = np.tile(0.1 * np.eye(d), (k, 1, 1))
    gaussians = Gaussians(_box(d), np.full(k, 1 / k), np.full((k, d), apart), roots, np.linspace(0.9, 1.0, k))
    return ComponentMoments(gaussians, **options)


def _tree(d):
    tree = SplitTree(_box(d))
    tree.open([tree.split(0, d - 1, 200_000.0)[0]])
    return tree


def _features(project, d):
    domain = random_projection(_box(d), min(3, d), np.random.RandomState(0)) if project else _box(d)
    return FourierFeatures(domain, np.random.default_rng(0).normal(size=(20, domain.n_columns)) * 3)


# name -> number of columns -> query
WIDE = {
    "moments, box": lambda d: CellMoments(_two(_box(d))),
    "moments, ball": lambda d: CellMoments(Nearest(np.zeros((1, d)), _ball(d))),
    "moments, part of a tree": lambda d: CellMoments(_tree(d)),
    "displacements, one cell": lambda d: CellDisplacements(Nearest(np.zeros((1, d)), _box(d)), 0.7),
    "displacements, two cells": lambda d: CellDisplacements(_two(_ball(d)), 0.5),
    "shapes, one cell, light squares": partial(_shapes, 1, 0.5, 0.1),
    "shapes, one cell": partial(_shapes, 1, 1.0, 0.5),
    "shapes, one cell, heavy squares": partial(_shapes, 1, 0.2, 1.5),
    "shapes, one cell, no squares": partial(_shapes, 1, 1.0, 0.0),
    "shapes, two cells": partial(_shapes, 2, 0.3, 0.9),
    "scatter matrix": lambda d: ScatterMatrix(Frame(_box(d)), np.zeros(d), np.ones(d), 1.0),
    "components, one": partial(_components, 1, square_weight=1.5),
    "components, soft": partial(_components, 2),
    "components, squares": partial(_components, 1, products="diag", square_weight=2.0),
    "components, lengths": partial(_components, 1, products="trace", square_weight=0.6),
    "components, hard": partial(_components, 2, soft=False, count_weight=0.1, square_weight=3.0),
    "features, box": partial(_features, False),
    "features, projected": partial(_features, True),
    "kernel steps": lambda d: KernelSteps(_box(d), np.full((2, d), [[0.3], [0.2]]), np.full(d, d**0.5)),
    "votes": lambda d: NearestVotes(_two(_box(d))),
    "votes, groups": lambda d: NearestVotes(
        TwoLevel(_box(d).half * np.array([[0.0], [0.5], [1.0]]), np.array([0, 1, 0]), _box(d))
    ),
    "votes, projected": lambda d: NearestVotes(
        Nearest(np.array([[0.0], [0.2]]), Projected(_box(d), np.ones((1, d)), 1.0))
    ),
    "tree counts": lambda d: TreeCounts(_tree(d)),
    "column histograms": lambda d: ColumnHistograms(np.zeros((d, 1))),
}
