"""Every query: no neighbour moves the exact total by more than declared, and the declared figure is tight."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knoll.privacy import Relation
from tests.contract.registry import NOT_TIGHT, QUERIES, interesting_points

CASES = [pytest.param(query, d, id=name) for name, (query, d) in QUERIES.items()]
PAIRS = [pytest.param(r, n, id=f"{r}-l{n}") for r in Relation for n in (1, 2)]


def contribution(query, row):
    return (query.summarise(np.asarray(row, dtype=float).reshape(1, -1)) * query.weights).astype(float)


def change(query, relation, before, after, norm):
    """Change of the weighted total when one record `before` becomes `after` under a relation."""
    moved = contribution(query, after)
    if relation is Relation.REPLACE_ONE:
        moved = moved - contribution(query, before)
    return np.linalg.norm(moved.ravel(), norm)


def coordinate(query, d):
    domain = getattr(query, "domain", getattr(query, "box", None)) or getattr(
        getattr(query, "cells", None), "domain", None
    )
    domain = getattr(domain, "source", domain)
    domain = query.frame.domain if hasattr(query, "frame") else domain
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324]
    if domain is not None:
        low, high = domain.centre - domain.half, domain.centre + domain.half
        special += [*low, *high, *domain.centre, *np.nextafter(high, np.inf), *np.nextafter(low, -np.inf)]
        wide = float(np.abs([low, high]).max())
        inside = st.floats(-2 * wide, 2 * wide)
    else:
        inside = st.floats(-1e7, 1e7)
    return st.one_of(st.sampled_from([float(x) for x in special]), inside, st.floats())


@pytest.mark.parametrize(("relation", "norm"), PAIRS)
@pytest.mark.parametrize(("query", "d"), CASES)
def test_no_neighbour_moves_the_total_by_more_than_declared(query, d, relation, norm):
    declared = query.sensitivity(relation, norm)
    row = st.lists(coordinate(query, d), min_size=d, max_size=d)

    @settings(max_examples=60)
    @given(row, row)
    def search(before, after):
        assert change(query, relation, before, after, norm) <= declared

    search()


@pytest.mark.parametrize(("relation", "norm"), PAIRS)
@pytest.mark.parametrize(("query", "d"), CASES)
def test_declared_sensitivity_is_tight(query, d, relation, norm, rng):
    points = interesting_points(query, d, rng)
    moved = np.stack([contribution(query, point).ravel() for point in points])
    null = np.zeros((1, moved.shape[1]))
    if relation is Relation.REPLACE_ONE:
        everything = np.vstack([moved, null])
        reached = max(np.linalg.norm(everything - one, norm, axis=1).max() for one in everything)
    else:
        reached = np.linalg.norm(moved, norm, axis=1).max()
    declared = query.sensitivity(relation, norm)
    assert reached <= declared
    if (query.name, str(relation), norm) not in NOT_TIGHT:
        assert reached >= 0.9 * declared


@pytest.mark.parametrize(("query", "d"), CASES)
def test_total_is_the_sum_of_what_each_record_adds_alone(query, d, rng):
    rows = interesting_points(query, d, rng)
    rows = np.vstack([rows, rows[:7], np.full((2, d), np.nan)])
    alone = sum(query.summarise(row.reshape(1, -1)) for row in rows)
    assert np.array_equal(query.summarise(rows), alone)
    assert query.summarise(rows).dtype == np.int64


@pytest.mark.parametrize(("query", "d"), CASES)
def test_total_does_not_depend_on_order_blocks_padding_or_layout(query, d, rng):
    rows = np.vstack([interesting_points(query, d, rng)] * 5 + [rng.normal(scale=30, size=(1003, d))])
    total = query.summarise(rows)
    for _ in range(3):
        shuffled = rows[rng.permutation(len(rows))]
        assert np.array_equal(query.summarise(shuffled), total)
        cuts = np.sort(rng.integers(0, len(rows), size=9))
        assert np.array_equal(sum(query.summarise(part) for part in np.split(shuffled, cuts)), total)
    padded = np.insert(rows, rng.integers(0, len(rows), size=50), np.nan, axis=0)
    assert np.array_equal(query.summarise(padded), total)
    assert np.array_equal(query.summarise(np.asfortranarray(rows)), total)
    wide = np.repeat(rows, 2, axis=1)[:, ::2]
    assert np.array_equal(query.summarise(wide), total)


@pytest.mark.parametrize(("query", "d"), CASES)
def test_empty_and_single_rows(query, d):
    assert np.array_equal(query.summarise(np.empty((0, d))), np.zeros(query.shape, dtype=np.int64))
    assert query.summarise(np.zeros((1, d))).shape == query.shape
    assert query.summarise(np.full((1, d), np.nan)).any() == np.False_


@pytest.mark.parametrize(("query", "d"), CASES)
def test_a_record_touches_no_more_coordinates_than_declared(query, d, rng):
    for point in interesting_points(query, d, rng):
        moved = contribution(query, point)
        assert np.count_nonzero(moved) <= query.touched
        assert np.abs(moved).max() <= query.largest


@pytest.mark.parametrize(("query", "d"), CASES)
def test_the_input_is_not_changed(query, d, rng):
    rows = interesting_points(query, d, rng)
    before = rows.copy()
    query.summarise(rows)
    assert np.array_equal(rows, before)
