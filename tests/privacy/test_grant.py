"""Grants: parts of a budget as values, which never add up to more than they came from."""

from dataclasses import dataclass

import numpy as np
import pytest

from knoll.engines import ArrayEngine
from knoll.privacy import Budget, BudgetExceededError, Curator, Grant, PrivacyError, Shares
from knoll.queries import Count


@dataclass(frozen=True)
class Plan(Shares):
    first: float = 0.25
    second: float = 0.5


@pytest.fixture
def grant():
    return Grant(Curator(ArrayEngine(np.zeros((50, 1))), Budget(1.0, 1e-6)))


def test_a_plan_names_its_grants(grant):
    plan = grant.split(Plan())
    assert (plan.first.share, plan.second.share) == (0.25, 0.5)
    assert plan.first.release(Count()).share == 0.25
    assert (plan.first.left, plan.second.left, grant.left) == (0.0, 0.5, 0.75)


def test_a_grant_is_spent_once(grant):
    part = grant.part(0.5)
    part.release(Count())
    with pytest.raises(PrivacyError, match="outside"):
        part.release(Count())
    assert grant.left == 0.5


def test_what_nobody_spent_is_in_the_rest(grant):
    used, unused = grant.even(2)
    rest = grant.rest
    used.part(0.5).release(Count())
    assert (rest.share, rest.left) == (1.0, 0.75)
    assert rest.release(Count()).share == 0.75
    with pytest.raises(BudgetExceededError, match="its giver has 0 left"):
        unused.release(Count())


def test_a_part_cannot_spend_more_than_its_giver_has(grant):
    half = grant.part(0.5)
    greedy = half.worth(0.75)
    with pytest.raises(BudgetExceededError, match="its giver has 0.5 left"):
        greedy.release(Count())
    assert grant.left == 1.0


def test_equal_parts_and_proportions_make_up_the_whole(grant):
    for part in grant.part(0.3).even(3) + grant.rest.in_proportion(np.array([1.0, 2.0, 4.0]))[:0]:
        part.release(Count())
    for part in grant.rest.in_proportion(np.array([1.0, 2.0, 4.0])):
        part.release(Count())
    assert grant.left == pytest.approx(0.0, abs=1e-12)


def test_joined_grants_and_errors_before_a_release(grant):
    first, second = grant.part(0.2), grant.part(0.3)
    both = first.joined(second)
    assert both.share == pytest.approx(0.5)
    expected = float(both.stderr(Count()))
    assert float(both.release(Count()).stderr) == expected
    assert grant.left == pytest.approx(0.5)
    assert grant.norm == 2
