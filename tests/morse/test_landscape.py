"""Landscapes of mixtures against brute force, degenerate mixtures, trees and cuts."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, is_valid_linkage
from scipy.optimize import minimize

from knoll.mixture import Mixture
from knoll.morse import choose_cut, clusters_of, join, landscape, merge_tree, overlap
from knoll.morse.field import Field
from knoll.morse.flow import ascend
from knoll.morse.saddles import polish
from tests.made import random_mixture


def level_set_merges(mixture, side=220):
    """Births and deaths of components of level sets, by flooding a fine grid from the top: brute force."""
    reach = 4 * np.sqrt(np.einsum("kii->ki", mixture.covariances))
    low, high = (mixture.means - reach).min(axis=0), (mixture.means + reach).max(axis=0)
    axes = [np.linspace(a, b, side) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    height = mixture.log_density(points)
    padded = np.full((side + 2) ** 2, -1)
    inside = (np.arange(1, side + 1)[:, None] * (side + 2) + np.arange(1, side + 1)).ravel()
    around = [a * (side + 2) + b for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
    parent, birth, merges = [], [], []

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for place, level in zip(inside[np.argsort(-height)].tolist(), np.sort(height)[::-1].tolist(), strict=True):
        near = {root(padded[place + step]) for step in around if padded[place + step] >= 0}
        if not near:
            padded[place] = len(parent)
            parent.append(len(parent))
            birth.append(level)
            continue
        oldest, *others = sorted(near, key=lambda i: -birth[i])
        padded[place] = oldest
        for other in others:
            merges.append((birth[other], level))
            parent[other] = oldest
    return merges


def lasting(pairs, least=0.05):
    """Births and deaths that a coarse grid can be trusted with, by falling birth."""
    kept = sorted((pair for pair in pairs if pair[0] - pair[1] > least), reverse=True)
    return np.array(kept).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(12))
def test_merges_are_those_of_level_sets(seed):
    mixture = random_mixture(seed)
    tree = landscape(mixture).tree
    ours = lasting(zip(tree.height + tree.persistence, tree.height, strict=True))
    theirs = lasting(level_set_merges(mixture))
    assert ours.shape == theirs.shape
    # a grid point may miss a pass by half a step
    np.testing.assert_allclose(ours, theirs, atol=0.06)


def brute_force_saddles(mixture, starts=400, seed=0):
    """Index-1 saddles by minimising the squared slope from many random points."""
    rng = np.random.default_rng(seed)
    low, high = mixture.means.min(axis=0), mixture.means.max(axis=0)
    found = []
    for x in rng.uniform(low, high, size=(starts, len(low))):
        result = minimize(
            lambda p: 0.5 * np.sum(mixture.gradient(p[None])[0] ** 2),
            x,
            jac=lambda p: mixture.hessian(p[None])[0] @ mixture.gradient(p[None])[0],
            method="BFGS",
            options={"gtol": 1e-9},
        )
        values = np.linalg.eigvalsh(mixture.hessian(result.x[None])[0])
        if np.linalg.norm(mixture.gradient(result.x[None])) < 1e-6 and (values > 0).sum() == 1:
            found.append(result.x)
    return np.array(found)


@pytest.mark.parametrize("seed", [100, 101, 102])
def test_saddles_agree_with_brute_force(seed):
    mixture = random_mixture(seed, k=4)
    found = landscape(mixture)
    brute = brute_force_saddles(mixture, starts=80)
    # every saddle of ours is one; those of brute force that join two peaks are all found
    assert np.abs(mixture.gradient(found.saddles)).max() < 1e-5
    assert ((np.linalg.eigvalsh(mixture.hessian(found.saddles)) > 0).sum(axis=1) == 1).all()
    inside = Field(mixture)
    values, vectors = np.linalg.eigh(inside.curvature(inside.inside(brute)).matrix)
    away = 0.02 / np.sqrt(values[:, -1:]) * vectors[:, :, -1]
    ends = [landscape_peaks(found, inside, inside.inside(brute) + side) for side in (away, -away)]
    joining = brute[ends[0] != ends[1]]
    for saddle in joining:
        assert np.linalg.norm(found.saddles - saddle, axis=1).min() < 1e-3


def landscape_peaks(found, field, points):
    rest = field.outside(ascend(field, points))
    return np.linalg.norm(rest[:, None] - found.peaks, axis=2).argmin(axis=1)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_field_derivatives(d):
    mixture = random_mixture(3, k=5, d=d)
    field, rng = Field(mixture), np.random.default_rng(0)
    x = rng.normal(size=(20, d))
    np.testing.assert_allclose(field.height(x), mixture.log_density(field.outside(x)), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(field.inside(field.outside(x)), x, atol=1e-10)
    look, step = field.curvature(x), 1e-5
    for j in range(d):
        shift = step * np.eye(d)[j]
        slope = (field.height(x + shift) - field.height(x - shift)) / (2 * step)
        np.testing.assert_allclose(look.slope[:, j], slope, rtol=1e-5, atol=1e-6)
        bend = (field.curvature(x + shift).slope - field.curvature(x - shift).slope) / (2 * step)
        np.testing.assert_allclose(look.matrix[:, j], bend, rtol=1e-4, atol=1e-5)


def test_the_flow_climbs_and_ends_on_peaks():
    mixture = random_mixture(5, k=8, d=3)
    field = Field(mixture)
    start = np.random.default_rng(0).normal(size=(200, 3))
    rest = ascend(field, start)
    assert (field.height(rest) >= field.height(start)).all()
    look = field.curvature(rest)
    assert np.abs(look.slope).max() < 1e-5
    assert (np.linalg.eigvalsh(look.matrix) < 0).all()


def test_polish_finds_the_saddle_between_two_equal_hills():
    mixture = Mixture([0.5, 0.5], [[-2.0, 0.0], [2.0, 0.0]], [np.eye(2)] * 2)
    field = Field(mixture)
    at, found = polish(field, field.inside(np.array([[0.4, 0.3], [-0.3, -0.2]])))
    assert found.all()
    np.testing.assert_allclose(field.outside(at), 0.0, atol=1e-6)


def equal_means():
    return Mixture([0.3, 0.7], [[1.0, 2.0]] * 2, [np.eye(2), 2 * np.eye(2)])


def twins():
    return Mixture([0.25] * 4, [[0.0, 0.0], [0.0, 0.0], [5.0, 0.0], [5.0, 0.0]], [np.eye(2)] * 4)


def needle():
    return Mixture([0.5, 0.5], [[0.0, 0.0], [1.0, 1.0]], [np.diag([1.0, 1e-12]), np.diag([1e-12, 1.0])])


def weightless():
    return Mixture([0.0, 1.0, 0.0], [[0.0], [1.0], [9.0]], np.ones((3, 1, 1)))


def far_apart():
    return Mixture([0.5, 0.5], [[-1e6, 0.0], [1e6, 0.0]], [np.eye(2)] * 2)


def a_square():
    return Mixture([0.25] * 4, [[-2.0, -2.0], [-2.0, 2.0], [2.0, -2.0], [2.0, 2.0]], [np.eye(2)] * 4)


def one():
    return Mixture([1.0], [[0.0, 3.0]], [np.eye(2)])


@pytest.mark.parametrize("make", [one, equal_means, twins, needle, weightless, far_apart, a_square])
def test_degenerate_mixtures_give_a_tree(make):
    mixture = make()
    found = landscape(mixture)
    n = len(found.tree.tops)
    assert n >= mixture.n_components
    assert len(found.tree.height) == n - 1
    assert np.isfinite(found.tree.tops).all()
    for k in range(1, mixture.n_components + 1):
        assert len(np.unique(found.tree.cut(k)[: mixture.n_components])) <= k
    if n > 1:
        assert is_valid_linkage(found.tree.linkage)


def test_equal_means_share_a_peak_and_far_ones_do_not():
    assert len(landscape(equal_means()).peaks) == 1
    assert len(landscape(twins()).peaks) == 2
    assert len(landscape(a_square()).peaks) == 4
    assert len(landscape(a_square()).saddles) == 4


@pytest.mark.parametrize("by", ["prominence", "persistence", "height"])
def test_any_number_of_clusters_can_be_cut(by):
    mixture = random_mixture(7, k=9)
    tree = landscape(mixture).tree
    for k in range(1, 10):
        assert len(np.unique(tree.cut(k, by))) == k


def test_trees_cut_as_wanted():
    # a great hill with a ripple, a second great one, and a speck far away
    tops, mass = np.array([0.0, -0.2, -0.5, -9.0]), np.array([0.4, 0.3, 0.299, 0.001])
    ends, height = np.array([[0, 1], [1, 2], [2, 3]]), np.array([-0.5, -6.0, -40.0])
    tree = merge_tree(tops, mass, ends, height)
    np.testing.assert_allclose(tree.persistence, [0.3, 5.5, 31.0])
    assert tree.cut(2).tolist() == [0, 0, 1, 1]
    assert tree.cut(2, "height").tolist() == tree.cut(2, "persistence").tolist() == [0, 0, 0, 1]
    assert tree.without(choose_cut(tree, [])).tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(cophenet(tree.linkage), [0.5, 6.0, 40.0, 6.0, 40.0, 40.0])
    quiet = merge_tree(tops, mass, ends, np.array([-0.5, -0.7, -9.3]))
    assert len(choose_cut(quiet, [])) == 0


def test_a_shoulder_far_down_parts_before_a_heavier_one_beside_the_summit():
    mixture = Mixture([0.5, 0.4, 0.1], [[0.0, 0.0], [0.3, 0.0], [4.0, 0.0]], [np.eye(2), np.eye(2), 4 * np.eye(2)])
    found = landscape(mixture)
    assert len(found.peaks) == 1
    assert found.tree.cut(2).tolist() == [0, 0, 1]
    assert found.tree.cut(3).tolist() == [0, 1, 2]


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_valley_of_two_components_is_that_of_their_landscape(d, seed):
    mixture = random_mixture(seed, k=2, d=d, spread=2.0)
    field = Field(mixture)
    found = overlap.valleys(field, np.ones((2, 2)))[0, 1]
    # stops on the curve may miss the lowest and the highest points
    np.testing.assert_allclose(found, landscape(mixture).tree.persistence.max(), rtol=0.05, atol=0.02)


def test_overlaps_are_shared_mass():
    mixture = random_mixture(3, k=6, d=3)
    found = overlap.overlaps(Field(mixture), mixture.weights, 200_000)
    np.testing.assert_allclose(found, found.T)
    np.testing.assert_allclose(found.sum(axis=1), mixture.weights, rtol=0.03)
    twice = Mixture([0.2, 0.3, 0.5], [[0.0], [0.0], [50.0]], np.ones((3, 1, 1)))
    np.testing.assert_allclose(
        overlap.overlaps(Field(twice), twice.weights), [[0.08, 0.12, 0], [0.12, 0.18, 0], [0, 0, 0.5]], atol=1e-12
    )


def core_and_halo(pieces, d=6):
    """A dense class in two halves, and a diffuse one all round it, in pieces."""
    away = np.vstack([np.eye(d), -np.eye(d)])[:pieces] * 2.0
    means = np.vstack([[0.3] + [0.0] * (d - 1), [-0.3] + [0.0] * (d - 1), away])
    covariances = [0.1 * np.eye(d)] * 2 + [2.0 * np.eye(d)] * pieces
    return Mixture([0.3, 0.3] + [0.4 / pieces] * pieces, means, covariances)


@pytest.mark.parametrize("pieces", [1, 2, 4, 8, 12])
def test_a_halo_is_one_cluster_in_however_many_pieces(pieces):
    mixture = core_and_halo(pieces)
    expected = [0, 0] + [1] * pieces
    assert join(mixture, 2).tolist() == expected
    by_tree = landscape(mixture).tree.cut(2)[: 2 + pieces].tolist()
    assert pieces == 1 or by_tree != expected


def test_of_three_clusters_apart_those_with_the_lower_valley_join():
    mixture = Mixture([0.8, 0.1, 0.1], [[0.0, 0.0], [4.0, 0.0], [0.0, 6.0]], [np.eye(2)] * 3)
    assert join(mixture, 2).tolist() == [0, 0, 1]


def test_specks_and_masses_that_may_be_noise_take_no_cluster():
    means, spreads = [[0.0, 0.0], [3.0, 0.0], [40.0, 0.0]], [np.eye(2)] * 3
    assert join(Mixture([0.5, 0.498, 0.002], means, spreads), 2).tolist()[:2] == [0, 1]
    mixture = Mixture([0.5, 0.42, 0.08], means, spreads)
    assert join(mixture, 2).tolist() == [0, 0, 1]
    assert join(mixture, 2, np.array([0.0, 0.0, 0.025])).tolist()[:2] == [0, 1]


@pytest.mark.parametrize("make", [one, equal_means, twins, needle, weightless, far_apart, a_square])
def test_degenerate_mixtures_can_be_joined(make):
    mixture = make()
    for k in range(1, mixture.n_components + 2):
        labels = join(mixture, k)
        assert len(np.unique(labels)) == min(k, mixture.n_components)
        mass = np.bincount(labels, mixture.weights)
        assert (np.diff(mass) <= 0).all()


def test_hills_come_before_overlap_if_there_are_enough():
    tails = Mixture(
        [0.8, 0.1, 0.1], [[0.0] * 4, [6.0, 0, 0, 0], [0, 8.0, 0, 0]], [0.1 * np.eye(4), 4 * np.eye(4), 4 * np.eye(4)]
    )
    tree = landscape(tails).tree
    assert tree.persistence.min() > 1
    assert join(tails, 2).tolist() == [0, 1, 1]
    assert clusters_of(tails, tree, 2).tolist() == [0, 0, 1]
    halo = core_and_halo(4)
    assert clusters_of(halo, landscape(halo).tree, 2).tolist() == join(halo, 2).tolist() == [0, 0, 1, 1, 1, 1]


def test_leaves_without_components_take_their_owners_cluster():
    mixture = random_mixture(5, k=8)
    found = landscape(mixture)
    labels = join(mixture, 3)
    known = found.of_leaves(labels)
    np.testing.assert_array_equal(known[:8], labels)
    assert len(known) == len(found.tree.tops)
