"""Queries over any box: of 1, 2, 12, 42 and 328 columns, and as large and as small as bounds may be.

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
    FourierGrid,
    Frame,
    Gaussians,
    GridHistogram,
    KernelSteps,
    Lattice,
    LatticeCounts,
    Nearest,
    NearestVotes,
    OutsideVotes,
    Projected,
    ScatterMatrix,
    SplitTree,
    TreeCounts,
    TwoLevel,
    random_projection,
)

COLUMNS = (1, 2, 12, 42, 328)


def unit_box(d):
    return Box((-1.0,) * d, (1.0,) * d)


def _at(box, *places):
    """Public points on the long diagonal."""
    return box.centre + box.half * np.array(places)[:, None]


def _ball(box):
    """A ball about the middle of a box, as wide as its widest column."""
    return Ball(box.half.max(), tuple(box.centre))


def _two(domain):
    """The cell of a corner, and that of all other records."""
    return Nearest(_at(domain, 0.0, 0.999), domain)


def _shapes(k, w, b, box):
    cells = Nearest(_at(box, 0.0), box) if k == 1 else _two(box)
    axes = np.tile(1 / box.half, (k, 1))
    at = cells.centres - box.centre
    return CellShapes(cells, Frame(box), at, axes, np.ones(k), count_weight=w, square_weight=b)


def _scatter(box):
    return ScatterMatrix(Frame(box), np.zeros(box.n_columns), 1 / box.half, 1.0)


def _components(k, box, **options):
    d = box.n_columns
    if k > 1 and d > 99:
        options["products"] = "diag"  # 100,000 products take long and add nothing to what one component shows
    roots = np.tile(0.1 * np.diag(box.half), (k, 1, 1))
    means = _at(box, -0.6, 0.6)[:k] if k > 1 else _at(box, 0.0)  # far apart, in sizes of a component
    gaussians = Gaussians(box, np.full(k, 1 / k), means, roots, np.linspace(0.9, 1.0, k))
    return ComponentMoments(gaussians, **options)


def _tree(box):
    tree = SplitTree(box)
    tree.open([tree.split(0, box.n_columns - 1, 200_000.0)[0]])
    return tree


def _features(project, box):
    domain = random_projection(box, min(3, box.n_columns), np.random.RandomState(0), box.half) if project else box
    return FourierFeatures(domain, np.random.default_rng(0).normal(size=(20, domain.n_columns)) * 3 / domain.half)


def _projected_votes(box):
    line = Projected(box, np.ones((1, box.n_columns)), 1.0, box.half)
    return NearestVotes(Nearest(np.array([[0.0], [0.2]]), line))


def _lattice(box):
    return Lattice(box, *box.corners, box.half / 3, (3,) * box.n_columns)


# name -> box -> query
WIDE = {
    "moments, box": lambda box: CellMoments(_two(box)),
    "moments, ball": lambda box: CellMoments(Nearest(_at(box, 0.0), _ball(box))),
    "moments, part of a tree": lambda box: CellMoments(_tree(box)),
    "displacements, one cell": lambda box: CellDisplacements(Nearest(_at(box, 0.0), box), 0.7 * box.half.max()),
    "displacements, two cells": lambda box: CellDisplacements(_two(_ball(box)), 0.5 * box.half.max()),
    "shapes, one cell, light squares": partial(_shapes, 1, 0.5, 0.1),
    "shapes, one cell": partial(_shapes, 1, 1.0, 0.5),
    "shapes, one cell, heavy squares": partial(_shapes, 1, 0.2, 1.5),
    "shapes, one cell, no squares": partial(_shapes, 1, 1.0, 0.0),
    "shapes, two cells": partial(_shapes, 2, 0.3, 0.9),
    "scatter matrix": _scatter,
    "components, one": partial(_components, 1, square_weight=1.5),
    "components, soft": partial(_components, 2),
    "components, squares": partial(_components, 1, products="diag", square_weight=2.0),
    "components, lengths": partial(_components, 1, products="trace", square_weight=0.6),
    "components, hard": partial(_components, 2, soft=False, count_weight=0.1, square_weight=3.0),
    "features, box": partial(_features, False),
    "features, projected": partial(_features, True),
    "kernel steps": lambda box: KernelSteps(box, _at(box, 0.3, 0.2), box.half * box.n_columns**0.5),
    "votes": lambda box: NearestVotes(_two(box)),
    "votes, groups": lambda box: NearestVotes(TwoLevel(_at(box, 0.0, 0.5, 1.0), np.array([0, 1, 0]), box)),
    "votes, projected": _projected_votes,
    "tree counts": lambda box: TreeCounts(_tree(box)),
    "column histograms": lambda box: ColumnHistograms(box.centre[:, None]),
    "outside votes": lambda box: OutsideVotes(box.centre[:, None] + box.half[:, None] * [-0.5, -0.2, 0.2, 0.5], 2),
}

FEW = {
    "Fourier grid": lambda box: FourierGrid(_lattice(box), np.ones((4,) * box.n_columns)),
    "lattice counts": lambda box: LatticeCounts(_lattice(box)),
    "grid histogram": lambda box: GridHistogram(box, (4,) * box.n_columns),
}
"""In one, two or three columns only."""
