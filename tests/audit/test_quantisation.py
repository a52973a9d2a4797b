"""Neighbours for whom rounding to the grid adds to the sensitivity, found by looking for them."""

import numpy as np
import pytest

from knoll.privacy import Relation
from knoll.privacy.entropy import secure_words
from knoll.queries import (
    Box,
    CellShapes,
    ComponentMoments,
    FourierGrid,
    Frame,
    Gaussians,
    KernelSteps,
    Lattice,
    Nearest,
    kernel_steps,
)
from knoll.queries.components import probabilities
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


def test_tables_of_whole_cosines_are_covered_and_would_not_be_without_their_term():
    """Every pair of cells of a small lattice: rounded tables take more from an inner product than the kernel does."""
    box = Box((0.0,), (1.0,))
    lattice = Lattice(box, np.zeros(1), np.ones(1), np.array([1e-9]), (2,), (34,))
    query = FourierGrid(lattice, np.array([0.0, 32.0, 7.0]))
    middles = (np.arange(34)[:, None] + 0.5) * lattice.width
    added = np.array([(query.summarise(place[None]) * query.weights).astype(float) for place in middles])
    reached = max(float(np.linalg.norm(added - one, axis=1).max()) for one in added)
    assert reached <= query.max_difference(2)
    phases = 2 * np.pi * np.outer([1, 2], np.arange(34)) / 34
    kernel = lattice.scale**2 * (np.array([32.0, 7.0]) ** 2 @ np.cos(phases))
    unrounded = (2 * query.max_norm(2) ** 2 - 2 * kernel.min()) ** 0.5
    assert reached > 1.0005 * unrounded  # so the proof needs the term


def test_whitened_steps_are_clipped_and_would_be_too_long_otherwise(monkeypatch):
    """A hundred starts in one place: the whitening is as badly conditioned as the ridge allows, and is rounded."""
    box = Box((-1.0,), (1.0,))
    query = KernelSteps(box, np.zeros((100, 1)), np.array([0.3]))
    places = np.linspace(0, 0.06, 60)[:, None, None]
    longest = max(float(np.linalg.norm(query.summarise(place))) for place in places)
    assert 0.99 * query.max_norm(2) < longest <= query.max_norm(2)
    monkeypatch.setattr(kernel_steps, "clip_to_ball", lambda grid, radius: grid)
    assert max(float(np.linalg.norm(query.summarise(place))) for place in places) > 1.005 * query.max_norm(2)


def test_responsibilities_add_up_to_one_whatever_their_number(rng):
    """Six components in one place share a record out by sixths: rounded one by one they would add up to more."""
    box = Box((-1.0,), (1.0,))
    gaussians = Gaussians(box, np.full(6, 1 / 6), np.zeros((6, 1)), np.full((6, 1, 1), 0.1), np.ones(6))
    query = ComponentMoments(gaussians)
    added = query.summarise(np.array([[0.5]]))
    assert added[:, 0].sum() == 2**10
    assert np.linalg.norm((added * query.weights).ravel(), 1) == pytest.approx(query.max_norm(1), rel=5e-3)
    assert np.linalg.norm((added * query.weights).ravel(), 1) <= query.sensitivity(Relation.ADD_REMOVE, 1)
    for k in range(1, 40):
        parts = probabilities(rng.exponential(size=(k, 50)), 2**10)
        assert (parts.sum(axis=0) == 2**10).all()
        assert parts.min() >= 0


@pytest.mark.fresh_noise
def test_no_two_draws_share_a_key():
    assert not np.array_equal(secure_words(4), secure_words(4))
