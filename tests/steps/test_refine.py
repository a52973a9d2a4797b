"""Steps that refine centres: what is merged, averaged and expected."""

from types import SimpleNamespace

import numpy as np
import pytest

from knoll.queries import Box, Frame
from knoll.steps.centres import Centres, fused
from knoll.steps.refine import affordable_steps, averaged, expected
from knoll.steps.shapes import Shapes
from knoll.steps.tree import Leaves


def test_what_a_cell_weighs_in_which_nothing_is_seen():
    clear = expected(np.array([100.0, 100.0, -3.0]), np.full(3, 5.0**2), 3)
    assert clear == pytest.approx([100, 100, 1], rel=0.01)  # empty: a fifth of the standard error
    blind = expected(np.array([100.0, 100.0, -3.0]), np.full(3, 1000.0**2), 3)
    assert blind == pytest.approx([200] * 3)  # nothing is known: no less than the usual count, and the least


def test_spare_centres_are_merged_where_it_costs_least():
    at = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.5, 0.0]])
    found = fused(Centres(at, np.ones((4, 2)), np.array([100.0, 50.0, 100.0, 150.0]), np.zeros(4)), 3)
    assert found.at == pytest.approx(np.array([[0.0, 0.0], [10.375, 0.0], [0.0, 10.0]]))
    assert found.weight == pytest.approx([100.0, 200.0, 100.0])
    assert found.variance[1] == pytest.approx([1 + 0.25 * 0.75 * 0.25, 1.0])


def test_what_a_merge_costs_is_not_what_noise_makes_of_it():
    at, error = np.array([[0.0], [4.0], [9.0]]), np.array([0.0, 0.0, 20.0])
    pair = Centres(at, np.ones((3, 1)), np.full(3, 100.0), error)
    assert fused(pair, 2).at[:, 0] == pytest.approx([0.0, 6.5])  # 25 - 20 is less than 16


def test_counts_are_averaged_over_steps():
    seen = Shapes(np.array([120.0, -30.0]), *(np.zeros((2, 1)),) * 2, 20.0, *(np.zeros((2, 1)),) * 2)
    count, doubt = averaged(np.array([100.0, 10.0]), np.inf, seen)
    assert (count == seen.count).all()
    assert doubt == pytest.approx([400.0, 400.0])
    count, doubt = averaged(np.array([100.0, 10.0]), np.full(2, 300.0), seen)
    assert count == pytest.approx([110.0, 10 - 40 * 301 / 701])
    assert doubt == pytest.approx([200.0, 400 * 301 / 701])


def test_laplace_noise_has_fewer_steps():
    """At the same standard error of the whole budget, shares of a pure one are worth less."""
    frame = Frame(Box((-1.0,) * 4, (1.0,) * 4))
    root = Leaves(
        np.array([0]), np.array([4000.0]), np.ones(1), np.zeros((1, 4)), np.full((1, 4), 0.1), -np.ones((1, 4)),
        np.ones((1, 4)),
    )  # fmt: skip

    def steps(norm):
        grant = SimpleNamespace(norm=norm, share=1.0, stderr=lambda query: np.full(query.shape, 20.0))
        grant.worth = lambda share: grant
        return affordable_steps(grant, frame, root, 4)

    assert 1 <= steps(1) < steps(2)
