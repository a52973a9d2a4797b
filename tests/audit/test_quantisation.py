"""Neighbours for whom rounding to the grid adds to the sensitivity, found by looking for them."""

import numpy as np
import pytest

from knoll.privacy import Relation
from knoll.privacy.entropy import secure_words
from knoll.queries import Box, CellSecondMoments, CellShapes, Frame, Nearest
from knoll.queries.query import UNIT
from knoll.queries.shapes import SHAPE_UNIT


def distance(query, u, v, norm):
    """Norm of the difference between what two records add."""
    ours, theirs = ((query.summarise(np.atleast_2d(point)) * query.weights).astype(float) for point in (u, v))
    return float(np.linalg.norm((ours - theirs).ravel(), norm))


def test_cut_squares_are_covered_and_would_not_be_without_their_term():
    """One column, one cell, squares nearly as heavy as displacements: the worst pair lies inside; cutting shows."""
    box = Box((-1.0,), (1.0,))
    cells, frame = Nearest(np.zeros((1, 1)), box), Frame(box)
    query = CellShapes(cells, frame, np.zeros((1, 1)), np.ones((1, 1)), np.ones(1), count_weight=0.1, square_weight=0.9)
    declared = query.sensitivity(Relation.REPLACE_ONE, 1)
    worst = (1 + 2 * 0.9) / (2 * 0.9)  # s + b s (2 - s) peaks here, for u = 1 and v = 1 - s
    grid = round((1 - worst) * SHAPE_UNIT) + np.arange(-40, 40)
    lucky = grid[np.argsort(-((grid.astype(float) ** 2 / SHAPE_UNIT) % 1.0))][:40]
    reached = max(distance(query, [1.0], [v / SHAPE_UNIT], 1) for v in lucky)
    assert reached <= declared
    unrounded = float(query.weights[1]) * SHAPE_UNIT * (worst + 0.9 * worst * (2 - worst))
    assert reached > unrounded + 0.75 * query.weights[1]  # most of a grid unit: so the proof needs the term


def test_cut_products_are_covered_and_would_not_be_without_their_term():
    box = Box((-1.0, -1.0), (1.0, 1.0))
    query = CellSecondMoments(Nearest(np.zeros((1, 2)), box))
    declared = query.sensitivity(Relation.REPLACE_ONE, 1)
    worst = 1.0 - 5 / 3  # u = 1, v = 1 - (d + 3) / (d + 1)
    steps = np.arange(round(worst * UNIT) - 60, round(worst * UNIT) + 60)
    lucky = steps[np.argsort(-((steps.astype(float) ** 2 / UNIT) % 1.0))][:40]
    reached = max(distance(query, [1.0, 1.0], [v / UNIT, v / UNIT], 1) for v in lucky)
    assert reached <= declared
    fine = float(query.weights[-1]) * UNIT
    assert reached > fine * 25 / 3 * (1 + 2.0**-20)  # so the proof needs the term


@pytest.mark.fresh_noise
def test_no_two_draws_share_a_key():
    assert not np.array_equal(secure_words(4), secure_words(4))
