"""What an attacker can learn: the numbers that a plan states are limits, and nearly reached."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

from knoll.planning import risk_of
from knoll.privacy import PrivacyError
from knoll.privacy.accounting import mu_for
from knoll.privacy.risk import percent_up


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 4.0, 20.0])
def test_gaussian_noise_gives_the_best_guess_its_share_and_no_more(epsilon):
    """The best attack on a Gaussian release of the whole budget: does one draw lie above the middle?"""
    risk, mu = risk_of(epsilon, 1e-6), mu_for(epsilon, 1e-6)
    assert norm.cdf(mu / 2) <= risk.right + 1e-4 * epsilon
    assert risk.right == pytest.approx(norm.cdf(mu / 2), abs=2e-3)
    surer = norm.sf((epsilon - mu**2 / 2) / mu)  # the log likelihood ratio is N(mu^2 / 2, mu^2) with the person
    assert surer <= risk.beyond


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_a_coarse_look_at_the_result_makes_nobody_surer_than_stated(epsilon):
    """Merging results into one event is post-processing; the chance of a large posterior may grow by it."""
    risk, mu = risk_of(epsilon, 1e-6), mu_for(epsilon, 1e-6)
    for cut in np.linspace(0, epsilon / mu + 4, 400):
        present, absent = norm.sf(cut - mu), norm.sf(cut)
        if absent > 0 and present / (present + absent) > risk.belief:
            assert present <= risk.beyond


def test_pure_privacy_bounds_the_belief_whatever_the_result():
    risk = risk_of(math.log(3), 0.0)
    assert risk.right == risk.belief == pytest.approx(0.75)
    assert risk.beyond == 0.0
    assert "at most 75 % sure" in str(risk)
    assert "whatever it is" in str(risk)


def test_the_words_say_who_guesses_what():
    words = str(risk_of(1.0, 1e-6))
    assert "50 % sure that you are in the data is right at most 54.8 % of the time" in words
    assert "73.2 % sure only by a rare result" in words
    assert "which of two records is yours" in str(risk_of(1.0, 1e-6, "replace_one"))


def test_risk_grows_with_epsilon():
    risks = [risk_of(e, 1e-6) for e in (0.01, 0.1, 1, 10, 100)]
    assert all(a.right < b.right for a, b in pairwise(risks))
    assert all(0.5 < risk.right <= 1 and 0 < risk.beyond <= 1 for risk in risks)


def test_limits_are_rounded_up():
    assert percent_up(0.50001) == "50.1 %"
    assert percent_up(1.0) == "100 %"
    assert "99.996 % sure only by" in str(risk_of(10.0, 1e-6))  # not 100 %


def test_a_bad_budget_is_refused():
    with pytest.raises(PrivacyError, match="positive"):
        risk_of(0.0)
