"""Disjoint parts of the records: every record in one part, whatever the others are; all parts for the price of one."""

import numpy as np
import pytest

from knoll.engines import ArrayEngine
from knoll.engines.ids import ids_of
from knoll.privacy import Budget, BudgetExceededError, Curator, MemoryLedger, PrivacyError, Relation, User
from knoll.privacy.parts import InPart, part_of
from knoll.privacy.sources import noise_source
from knoll.queries import Box, CellMoments, Count, KernelSteps, Nearest
from knoll.testing import zero_noise

ROWS = np.random.default_rng(0).uniform(-1, 1, size=(5000, 2))
BOX = Box((-1, -1), (1, 1))
STARTS = np.array([[0.3, 0.3], [-0.5, 0.2], [0.0, -0.8]])


def curator(rows=ROWS, budget=None, **kw):
    return Curator(ArrayEngine(rows), budget or Budget(1.0, 1e-6), **kw)


def test_a_part_is_a_function_of_the_record_alone(rng):
    part = part_of(ROWS, 7, 6)
    order = rng.permutation(len(ROWS))
    assert np.array_equal(part_of(ROWS[order], 7, 6), part[order])
    assert np.array_equal(np.concatenate([part_of(rows, 7, 6) for rows in np.split(ROWS, [1, 9, 400])]), part)
    assert np.array_equal(part_of(np.asfortranarray(ROWS), 7, 6), part)
    assert np.array_equal(part_of(np.repeat(ROWS, 2, axis=1)[:, ::2], 7, 6), part)
    assert np.array_equal(part_of(np.array([[0.0, 1.0]]), 7, 6), part_of(np.array([[-0.0, 1.0]]), 7, 6))
    assert part_of(np.empty((0, 2)), 7, 6).shape == (0,)


def test_parts_are_even_and_keys_differ():
    for rows in (ROWS, np.round(ROWS, 2), np.arange(5000.0)[:, None]):
        sizes = np.bincount(part_of(rows, 3, 5), minlength=5)
        assert np.abs(sizes - 1000).max() < 250
        assert abs((part_of(rows, 3, 5) == part_of(rows, 4, 5)).mean() - 0.2) < 0.1


def test_all_parts_together_are_all_records():
    with zero_noise():
        whole = curator().release(Count(), 1.0).value
        parts = curator().disjoint_parts(4, 1.0, 11)
        found = [parts.release(Count()).value for _ in range(4)]
    assert sum(found) == whole == len(ROWS)
    assert min(found) > 1000


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_all_parts_cost_what_one_release_does(delta):
    one, many = curator(budget=Budget(1.0, delta)), curator(budget=Budget(1.0, delta))
    alone = one.release(KernelSteps(BOX, STARTS, BOX.half / 4), 0.6)
    parts = many.disjoint_parts(5, 0.6, 0)
    found = [parts.release(KernelSteps(BOX, STARTS + 0.01 * i, BOX.half / 4)) for i in range(5)]
    assert all(np.array_equal(each.stderr, alone.stderr) for each in found)
    (entry,) = many.statement().releases
    assert "5 disjoint parts" in entry.query
    assert entry.cost.mu_squared == one.statement().spent.mu_squared
    assert many.statement().spent_epsilon == pytest.approx(one.statement().spent_epsilon, rel=1e-4)
    assert many.share_left == pytest.approx(0.4)


def test_a_part_answers_once_and_only_what_was_paid_for():
    parts = curator().disjoint_parts(2, 1.0, 0)
    parts.release(Count())
    with pytest.raises(PrivacyError, match="shape or noise"):
        parts.release(KernelSteps(BOX, STARTS, BOX.half / 4))
    with zero_noise(), pytest.raises(PrivacyError, match="shape or noise"):
        parts.release(Count())
    parts.release(Count())
    with pytest.raises(BudgetExceededError, match="all 2 parts"):
        parts.release(Count())
    with pytest.raises(PrivacyError):
        curator().disjoint_parts(0, 1.0, 0)
    spent = curator()
    spent.release(Count(), 0.7)
    with pytest.raises(BudgetExceededError):
        spent.disjoint_parts(3, 0.4, 0).release(Count())


def test_the_one_entry_is_recorded_before_any_noise():
    ledger = MemoryLedger()

    class Watching:
        private, label = False, "watching noise"

        def perturb(self, total, law, scale):
            assert len(ledger.lines) == 1
            return total

    token = noise_source.set(Watching())
    try:
        parts = curator(ledger=ledger).disjoint_parts(3, 1.0, 0)
        for _ in range(3):
            parts.release(Count())
    finally:
        noise_source.reset(token)
    assert len(ledger.lines) == 1


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("relation", list(Relation))
def test_no_neighbour_moves_all_parts_together_by_more_than_one_unit(relation, norm, rng):
    """Each part answers another query; changes are in units of each part's own sensitivity."""
    queries = [
        Count(),
        KernelSteps(BOX, STARTS, BOX.half / 4),
        CellMoments(Nearest([[0.5, 0.5], [-0.5, 0.0]], BOX)),
        Count(),
    ]
    seen = [InPart(query, part, 4, 5) for part, query in enumerate(queries)]
    units = [query.sensitivity(relation, norm) for query in seen]

    def contribution(row):
        totals = [query.summarise(row[None]) * query.weights / unit for query, unit in zip(seen, units, strict=True)]
        return np.concatenate([np.ravel(total).astype(float) for total in totals])

    records = np.vstack([rng.uniform(-1, 1, size=(40, 2)), STARTS, [[1, 1], [np.nan, 0.0]]])
    adds = np.array([contribution(row) for row in records])
    if relation is Relation.REPLACE_ONE:
        moves = np.linalg.norm(adds[:, None] - adds, norm, axis=2)
        assert moves.max() > 0.99  # a count that goes from one part to another
    else:
        moves = np.linalg.norm(adds, norm, axis=1)
    assert moves.max() <= 1.0


def test_users_scale_the_noise_of_parts():
    engine = ArrayEngine(ROWS, users=ids_of(np.arange(len(ROWS)) // 3), unit=User(0, 3))
    door = Curator(engine, Budget(1.0, 1e-6), unit=User(0, 3))
    alone = curator().disjoint_parts(2, 1.0, 0).release(Count())
    assert door.disjoint_parts(2, 1.0, 0).release(Count()).stderr == pytest.approx(3 * alone.stderr, rel=1e-3)
