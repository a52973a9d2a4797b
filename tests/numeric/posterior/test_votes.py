"""What votes in a grid show: fields and kernel of a view, compared with sums over records and cells."""

import numpy as np
import pytest

from knoll.numeric.posterior.votes import BLUR, VoteGrid, view_of_votes
from knoll.queries import Box, Lattice


def voted(X, cells, noise=1.0):
    """Votes of records in a box from -1 to 1 without noise."""
    d = X.shape[1]
    low, high = np.full(d, -1.0), np.full(d, 1.0)
    lattice = Lattice(Box(tuple(low), tuple(high)), low, high, np.zeros(d), (1,) * d, cells)
    return VoteGrid(low, 2.0 / np.array(cells), lattice.histogram(X), noise)


@pytest.mark.parametrize("d", [2, 3])
def test_fields_are_smeared_sums_over_the_records(d, rng):
    """Of records in the middles of cells, smeared over a cell and by blur and width."""
    X, spacing = (rng.integers(2, 28, (300, d)) + 0.5) / 15 - 1, 0.6
    seen = voted(X, (30,) * d)
    view = view_of_votes([seen], np.full(d, -1.0), np.full(d, 2.0), spacing)
    nodes = np.stack(np.meshgrid(*[np.linspace(-1, 1, n) for n in view.shape], indexing="ij"), axis=-1).reshape(-1, d)
    chosen, level = rng.integers(0, len(nodes), 50), 5
    variance = (BLUR * spacing) ** 2 + view.widths[level] ** 2 + seen.side**2 / 12
    square = np.square(nodes[chosen, None] - X).sum(axis=2)
    total = seen.side**d * (2 * np.pi * variance) ** (-d / 2) * np.exp(-square / 2 / variance).sum(axis=1)
    assert view.fields[level, chosen] == pytest.approx(total, rel=0.01, abs=0.01 * total.max())


def test_the_kernel_is_the_product_of_two_smeared_gaussians(rng):
    """The field of records drawn from a Gaussian, at its middle: its size times the kernel's table at distance zero."""
    X, spacing = 0.1 * rng.standard_normal((200_000, 2)), 0.8
    seen = voted(X, (50, 50))
    view = view_of_votes([seen], np.full(2, -1.0), np.full(2, 2.0), spacing)
    table, _ = view.kernel.smeared(np.array([view.widths[2], 0.1]), 2)
    middle = seen.seen([np.zeros(1)] * 2, float(np.hypot(view.widths[2], BLUR * spacing))).item()
    assert middle == pytest.approx(len(X) * table[0, 1, 0], rel=0.01)


def test_two_grids_count_by_their_precision(rng):
    X = rng.uniform(-1, 1, (500, 2))
    one, other = voted(X, (20, 20), noise=3.0), voted(X, (50, 50), noise=1.0)
    low, window = np.full(2, -1.0), np.full(2, 2.0)
    both = view_of_votes([one, other], low, window, 0.5)
    alone = [view_of_votes([each], low, window, 0.5) for each in (one, other)]
    assert both.noise == pytest.approx((1 / 9 + 1) ** -0.5)
    assert both.shape == alone[1].shape
    assert both.kernel.heights == pytest.approx([0.1 * alone[0].kernel.heights[0], 0.9 * alone[1].kernel.heights[0]])
    nodes, width = [np.linspace(-1, 1, n) for n in both.shape], float(np.hypot(both.widths[4], BLUR * 0.5))
    expected = 0.1 * one.seen(nodes, width) + 0.9 * other.seen(nodes, width)
    assert both.fields[4] == pytest.approx(expected.ravel())
