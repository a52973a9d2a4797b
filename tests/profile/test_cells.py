"""How cells are chosen, how the budget is divided, and what counts tell: pure functions."""

import numpy as np
import pytest

import knoll
from knoll.numeric.cell_masses import Counted, Shape, fit_masses
from knoll.profile.figures import QUANTILES, _quantiles
from knoll.profile.lines import line_of, refined
from knoll.profile.rounds import ProfileShares, _weights


def test_heavy_cells_are_split_and_light_ones_joined():
    edges = np.array([0, 100, 200, 300, 400])
    assert refined(edges, np.array([1.0, 1.0, 1.0, 1.0]), 1.0, 10.0, 8).tolist() == [0, 400]
    assert refined(edges, np.array([4.0, 0.1, 0.1, 1.0]), 1.0, 0.5, 8).tolist() == [0, 25, 50, 75, 100, 300, 400]
    assert (
        refined(edges, np.array([1e9, 0, 0, 0]), 1.0, 0.5, 8).tolist()[:9]
        == np.linspace(0, 100, 9).astype(int).tolist()
    )


@pytest.mark.parametrize("norm", [1, 2])
def test_every_column_has_its_worth_of_the_budget(norm):
    kinds = [knoll.Number(0, 1), knoll.Whole(0, 9), knoll.Category("a", "b"), knoll.Number(0, 5)]
    lines = [line_of(kind) for kind in kinds]
    shares = ProfileShares.of(lines)
    assert shares.first + shares.second + shares.last == pytest.approx(1.0)
    parts = np.array(_weights(lines, norm)) ** norm
    worth = shares.last * parts / parts.sum() + (shares.first + shares.second) * np.array([0.5, 0, 0, 0.5])
    assert worth / worth[0] == pytest.approx([1.0, 0.7, 1.5, 1.0])
    assert max(_weights(lines, norm)) == 1.0


def test_counts_of_overlapping_runs_are_fitted_together(rng):
    """Estimates are better than the counts themselves, and their errors say how much."""
    truth = 1000 * np.exp(-0.5 * np.linspace(-2, 2, 32) ** 2)
    shape = Shape(np.ones(32), np.full(32, truth.mean()))
    begin, end = np.append(np.arange(32), [0, 16]), np.append(np.arange(1, 33), [16, 32])
    sums = np.array([truth[b:e].sum() for b, e in zip(begin, end, strict=True)])
    off, inside = [], []
    for _ in range(60):
        fitted = fit_masses(Counted(begin, end, sums + rng.normal(0, 40, 34), np.full(34, 1600.0)), shape)
        off.append(fitted.values - truth)
        inside.append(np.abs(off[-1]) < 2 * np.sqrt(np.diag(fitted.covariance)))
    assert np.abs(off).mean() < 0.6 * 40 * np.sqrt(2 / np.pi)
    assert 0.9 < np.mean(inside) < 0.995


def test_expectations_set_the_scale_only():
    """Noise in what is expected does not move estimates where counts are clear."""
    counted = Counted(np.arange(8), np.arange(1, 9), np.full(8, 500.0), np.full(8, 1.0))
    wild = fit_masses(counted, Shape(np.ones(8), np.array([1.0, 9, 2, 8, 3, 7, 4, 6])))
    assert wild.values == pytest.approx(500.0, abs=1.0)


def test_a_quantile_in_a_cell_of_one_value_is_anywhere_in_it():
    below, edges = np.array([0.0, 0.6, 0.7, 0.85, 1.0]), np.array([0.0, 0.1, 1.0, 2.0, 3.0])
    middle, low, high = _quantiles(below, edges, np.full(5, 1e-6), 1e9)
    at = QUANTILES.index(0.5)
    assert low[at] == 0.0
    assert high[at] == 0.1
    late = QUANTILES.index(0.95)
    assert 2.0 < low[late] <= middle[late] <= high[late] < 3.0
