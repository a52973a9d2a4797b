"""Calibration against 60-digit arithmetic, at sensible and absurd budgets."""

import math

import mpmath
import pytest

from knoll.privacy import Budget, Cost, PrivacyError, Shares, epsilon_for, mu_for
from knoll.privacy.accounting import RESERVE


def exact_delta(epsilon, mu):
    with mpmath.workdps(80):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)

        def phi(x):
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        return phi(m / 2 - e / m) - mpmath.exp(e) * phi(-m / 2 - e / m)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-4, 0.01, 0.25, 1.0, 4.0, 10.0, 50.0, 100.0])
@pytest.mark.parametrize("delta", [1e-24, 1e-12, 1e-6, 1e-3, 0.1])
def test_mu_is_exact_and_never_too_large(epsilon, delta):
    mu = mu_for(epsilon, delta)
    assert exact_delta(epsilon, mu) <= delta
    assert exact_delta(epsilon, mu * (1 + 1e-6)) > delta


@pytest.mark.parametrize("mu", [1e-7, 1e-3, 0.2, 1.0, 5.0, 14.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.05])
def test_epsilon_for_inverts(mu, delta):
    epsilon = epsilon_for(mu, delta)
    if epsilon > 0:
        assert exact_delta(epsilon * (1 + 1e-6) + 1e-15, mu) <= delta * (1 + 1e-6)
        assert mu_for(max(epsilon, 1e-12), delta) == pytest.approx(mu, rel=1e-6)


def test_shares_compose_exactly():
    budget = Budget(1.0, 1e-6)
    parts = [0.5, 0.3, 0.1, 0.06, 0.04]
    total = sum((budget.cost(share) for share in parts), Cost())
    assert total.mu_squared == pytest.approx(budget.ratio(1.0) ** 2, rel=1e-14)
    assert total.epsilon_at(1e-6) == pytest.approx(1.0 * (1 - RESERVE), rel=1e-6)


def test_pure_budget_composes_by_addition():
    budget = Budget(2.0, 0.0)
    total = budget.cost(0.25) + budget.cost(0.75)
    assert total.mu_squared == 0
    assert total.epsilon_at(0.0) == pytest.approx(2.0 * (1 - RESERVE))


def test_pure_and_gaussian_together():
    both = Budget(1.0, 1e-6).cost(1.0) + Budget(0.5, 0.0).cost(1.0)
    assert both.epsilon_at(1e-6) == pytest.approx(1.5 * (1 - RESERVE), rel=1e-6)
    assert both.epsilon_at(0.0) == math.inf


@pytest.mark.parametrize(
    ("epsilon", "delta", "reason"),
    [
        (0, 1e-6, "positive"), (-1, 1e-6, "positive"), (1e-7, 1e-6, "nothing but noise"),
        (101, 1e-6, "protects nobody"),
        (math.inf, 1e-6, "finite"), (math.nan, 0, "finite"), (1, 0.2, "outside"), (1, -1e-9, "outside"),
        (1, 1e-30, "delta=0"), ("x", 0, "not a number"), (None, 0, "not a number"), (1, "x", "not a number"),
    ],
)  # fmt: skip
def test_absurd_budgets_are_refused_with_a_reason(epsilon, delta, reason):
    with pytest.raises(PrivacyError, match=reason):
        Budget(epsilon, delta)


def test_shares_must_be_sound():
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Two(Shares):
        a: float = 0.5
        b: float = 0.5

    assert Two().a == 0.5
    for bad in ({"a": 0.6}, {"a": -0.1}, {"a": math.nan}, {"a": "x"}):
        with pytest.raises(PrivacyError):
            Two(**bad)
