"""The sampler's arithmetic against dense matrices, and its draws against a posterior that is computed on a grid."""

import numpy as np
import pytest

from knoll.numeric.posterior import chains
from knoll.numeric.posterior.paint import paint
from knoll.numeric.posterior.view import Kernel

WIDTHS = np.array([0.05, 0.08, 0.12])
EVEN = 0.4


def state(rng, size=6, d=2):
    """Random Gaussians, the tables of a kernel, and the matrix A of all of them."""
    table, reach = Kernel(0.1, np.array([0.7, 0.2]), np.array([0.15, 0.06])).smeared(WIDTHS, d)
    table = 3.0 * table
    at, level, pull = rng.uniform(size=(size, d)), rng.integers(0, 3, size), rng.normal(2.0, 1.0, size)
    own = table[np.arange(3), np.arange(3), 0] + EVEN + 0.3
    return table, reach, own, at, level, pull


def dense(table, reach, own, at, level):
    """The matrix, entry by entry."""
    square = np.square(at[:, None] - at).sum(axis=2)
    found = [[EVEN + chains.kernel_at(table, reach, a, b, s) for b, s in zip(level, row, strict=True)]
             for a, row in zip(level, square, strict=True)]  # fmt: skip
    found = np.array(found)
    found[np.arange(len(at)), np.arange(len(at))] = own[level]
    return found


def evidence(matrix, pull):
    return 0.5 * pull @ np.linalg.solve(matrix, pull) - 0.5 * np.linalg.slogdet(matrix)[1]


def inverted(table, reach, own, at, level, pull):
    size = len(level)
    root, inverse, weight, ones = np.zeros((size, size)), np.empty((size, size)), np.empty(size), np.empty(size)
    chains.factorise(at, level, table, reach, own, EVEN, root)
    chains.invert(root, pull, inverse, weight, ones)
    return root, inverse, weight, ones


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_table_is_the_kernel_smeared_twice(d):
    kernel = Kernel(0.1, np.array([0.7, 0.2]), np.array([0.15, 0.06]))
    table, reach = kernel.smeared(WIDTHS, d)
    variance = kernel.bandwidths**2 + 0.05**2 + 0.12**2
    for square in (0.0, 0.01, 0.07):
        right = (kernel.heights * (kernel.bandwidths**2 / variance) ** (d / 2) * np.exp(-square / 2 / variance)).sum()
        assert chains.kernel_at(table, reach, 0, 2, square) == pytest.approx(right, rel=2e-3, abs=1e-5)


def test_factor_inverse_and_products_are_those_of_the_matrix(rng):
    given = state(rng)
    matrix = dense(*given[:5])
    root, inverse, weight, ones = inverted(*given)
    assert np.tril(root) @ np.tril(root).T == pytest.approx(matrix)
    assert inverse @ matrix == pytest.approx(np.eye(6), abs=1e-9)
    assert weight == pytest.approx(np.linalg.solve(matrix, given[5]))
    assert ones == pytest.approx(inverse.sum(axis=1))


@pytest.mark.parametrize("j", [0, 3, 5])
def test_a_move_is_weighed_and_made_as_if_all_were_computed_anew(j, rng):
    table, reach, own, at, level, pull = given = state(rng)
    _, inverse, weight, ones = inverted(*given)
    before = evidence(dense(table, reach, own, at, level), pull)
    to, near, held, found = rng.uniform(size=2), np.empty(6), np.empty(6, dtype=np.int64), np.empty(4)
    was = 0.5 * weight[j] ** 2 / inverse[j, j] + 0.5 * np.log(inverse[j, j])
    args = (at, level, table, reach, own, EVEN, inverse, weight, ones, j, to, 1, 1.7, near, held, found)
    gain = chains.weigh(*args) - was
    at[j], level[j], pull[j] = to, 1, 1.7
    matrix = dense(table, reach, own, at, level)
    assert gain == pytest.approx(evidence(matrix, pull) - before)
    chains.replace_row(j, near, held, found, EVEN, inverse, weight, ones, np.empty(6), np.empty(6))
    assert inverse @ matrix == pytest.approx(np.eye(6), abs=1e-9)
    assert weight == pytest.approx(np.linalg.solve(matrix, pull))
    assert ones == pytest.approx(inverse.sum(axis=1))


def test_weights_are_drawn_with_the_right_covariance(rng):
    given = state(rng, size=3)
    root, inverse, *_ = inverted(*given)
    drawn = np.zeros((20_000, 3))
    for normal, each in zip(rng.normal(size=drawn.shape), drawn, strict=True):
        chains.scatter(root, normal, each)
    assert np.cov(drawn.T) == pytest.approx(inverse, abs=0.06 * inverse.max())


def chain(rng, sweeps, run=chains.run, nodes=81):
    """Two Gaussians of one width along a line where the field has three hills: draws, and what they were drawn by."""
    line = np.linspace(0, 1, nodes)
    table, reach = Kernel(0.1, np.array([0.9]), np.array([0.08])).smeared(WIDTHS[:1], 1)
    table, own = 3.0 * table, 3.0 * table[0, :, 0] + EVEN + 0.3
    hills = zip((0.2, 0.5, 0.85), (3.0, 2.4, 3.4), strict=True)
    fields = sum(h * np.exp(-0.5 * ((line - m) / 0.07) ** 2) for m, h in hills)[None]
    guide = np.full(nodes - 1, 1.0)
    guide[: nodes // 2] = 2.0
    guide *= (nodes - 1) / guide.sum()
    below = np.cumsum(guide) / guide.sum()
    at, level = np.array([[0.3], [0.6]]), np.zeros(2, dtype=np.int64)
    places, levels, weights = np.empty((sweeps, 2, 1)), np.empty((sweeps, 2), dtype=np.int64), np.empty((sweeps, 2))
    run(
        at, level, fields, np.array([nodes]), np.array([1 / (nodes - 1)]), table, reach, own, EVEN, np.array([1.0]),
        guide, below, 0.3, 0.2, 0.3, rng.random_sample((sweeps, 6, 6)), rng.standard_normal((sweeps, 6, 1)),
        rng.standard_normal((sweeps, 2)), 1, places, levels, weights,
    )  # fmt: skip
    return places, (line, fields[0], table, reach, own)


def test_a_chain_visits_places_as_often_as_they_are_likely():
    """The posterior of two places on a line, weights integrated out, is computed on a grid."""
    places, (line, field, table, reach, own) = chain(np.random.RandomState(1), 30_000)
    one, two = np.meshgrid(line, line, indexing="ij")
    cross = EVEN + np.array([[chains.kernel_at(table, reach, 0, 0, (a - b) ** 2) for b in line] for a in line])
    det = own[0] ** 2 - cross**2
    first, second = field[:, None] + 0 * one, field + 0 * two
    square = (own[0] * (first**2 + second**2) - 2 * cross * first * second) / det
    likely = np.exp(0.5 * square - 0.5 * np.log(det))
    likely[[0, -1]] *= 0.5
    likely[:, [0, -1]] *= 0.5
    marginal = likely.sum(axis=1) / likely.sum()
    below = np.cumsum(marginal) - marginal / 2
    for cut in (0.15, 0.3, 0.5, 0.7, 0.85):
        assert (places < cut).mean() == pytest.approx(np.interp(cut, line, below), abs=0.02)
    apart = (np.abs(one - two) > 0.25) * likely
    assert (np.abs(places[:, 0] - places[:, 1]) > 0.25).mean() == pytest.approx(apart.sum() / likely.sum(), abs=0.03)


def test_compiled_and_plain_chains_are_the_same():
    compiled, _ = chain(np.random.RandomState(2), 20)
    plain, _ = chain(np.random.RandomState(2), 20, run=chains.run.plain)
    assert np.array_equal(compiled, plain)


def test_a_start_finds_the_hills():
    nodes = 41
    line = np.linspace(0, 1, nodes)
    table, reach = Kernel(0.1, np.array([0.9]), np.array([0.08])).smeared(WIDTHS, 2)
    own = table[np.arange(3), np.arange(3), 0] + 0.1 + 1e-6
    true = np.array([[0.2, 0.3], [0.7, 0.8], [0.8, 0.1]])
    grid = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    square = np.square(grid[:, None] - true).sum(axis=2)
    fields = np.array(
        [[100 * sum(0.1 + chains.kernel_at(table, reach, m, 1, s) for s in row) for row in square] for m in range(3)]
    )
    at, level = np.empty((3, 2)), np.empty(3, dtype=np.int64)
    gap = np.full(2, 1 / (nodes - 1))
    chains.grow(fields, np.array([nodes, nodes]), gap, table, reach, own, 0.1, np.zeros(nodes**2), at, level)
    gaps = np.linalg.norm(at[:, None] - true, axis=2)
    assert (gaps.min(axis=0) < 0.03).all()


@pytest.mark.parametrize("d", [2, 3])
def test_painted_densities_have_the_moments_of_the_mixture(d, rng):
    shape, gap = np.array([40, 50, 30][:d]), np.array([0.025, 0.02, 1 / 30][:d])
    places, weights = rng.uniform(0.4, 0.6, (2, 3, d)), rng.uniform(10, 20, (2, 3))
    levels, density = rng.integers(0, 2, (2, 3)), np.zeros((2, int(np.prod(shape))))
    paint(places, levels, weights, WIDTHS, gap, shape, density)
    axes = [(np.arange(n) + 0.5) * g for n, g in zip(shape, gap, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, d)
    assert density.sum(axis=1) == pytest.approx(weights.sum(axis=1))
    mean = (weights[..., None] * places).sum(axis=1) / weights.sum(axis=1)[:, None]
    assert (density @ points) / weights.sum(axis=1)[:, None] == pytest.approx(mean, abs=1e-3)
