"""What an attacker can learn about one person, at most, in plain words.

The attacker knows everybody else's records, and thinks that each of two neighbouring datasets is as likely as the
other: that you are in the data, or that you are not. They see the result and guess.

How often they are right. At most (1 + TV) / 2, where TV is the total variation distance between the two laws of the
result. Gaussian noise that is mu-GDP has TV <= 2 Phi(mu / 2) - 1 (Dong, Roth and Su 2022: the trade-off curve at its
middle), so they are right with probability at most Phi(mu / 2). Under pure epsilon-DP it is
e^epsilon / (1 + e^epsilon).

What they can believe. By Bayes' rule, from even odds, they are more than e^epsilon / (1 + e^epsilon) sure only after a
result whose likelihood ratio exceeds e^epsilon. Under pure DP there is none. Under Gaussian noise there are some, and
belief has no limit, but they are rare: let A be these results, P the law with you and Q the one without. Then
P(A) > e^epsilon Q(A), and (e, delta(e))-DP says P(A) <= e^e Q(A) + delta(e), for every e. For e below epsilon both
together give P(A) <= delta(e) / (1 - e^(e - epsilon)). The least over e is the chance that is stated here. (delta
itself is smaller, but it is not this chance.)
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from knoll.privacy.accounting import RESERVE, gaussian_log_delta
from knoll.privacy.budget import Budget
from knoll.privacy.relation import Relation

_TRIED = 400  # values of e below epsilon: each gives a bound that holds, more of them a slightly better one


@dataclass(frozen=True)
class Risk:
    """What a result tells at most about one person, to somebody for whom it was 50/50 before.

    Attributes
    ----------
    right : float
        Largest probability that the best guess is right.
    belief : float
        e^epsilon / (1 + e^epsilon): how sure they can be after seeing the result ...
    beyond : float
        ... but for results of at most this chance. 0 under pure differential privacy.
    """

    epsilon: float
    delta: float
    relation: Relation
    right: float
    belief: float
    beyond: float

    @property
    def limit(self) -> str:
        """How often the best guess is right at most, as a percentage, rounded up."""
        return percent_up(self.right)

    def __str__(self) -> str:
        what = (
            "that you are in the data" if self.relation is not Relation.REPLACE_ONE else "which of two records is yours"
        )
        who = f"Someone who is 50 % sure {what}"
        if self.beyond == 0.0:
            return f"{who} is at most {percent_up(self.belief)} sure after seeing the result, whatever it is."
        return (
            f"{who} is right at most {self.limit} of the time after seeing the result. They can become "
            f"more than {percent_up(self.belief)} sure only by a rare result: a chance of at most {_rare(self.beyond)}."
        )


def risk_of(epsilon: float, delta: float = 1e-6, relation: str = "add_remove") -> Risk:
    """Return what an attacker can learn about one person from a result of this budget.

    Examples
    --------
    >>> print(risk_of(1.0, 0.0))
    Someone who is 50 % sure that you are in the data is at most 73.2 % sure after seeing the result, whatever it is.
    >>> round(risk_of(1.0, 1e-6).right, 3)
    0.547
    """
    budget, kind = Budget(epsilon, delta), Relation.parse(relation)
    belief = float(expit(budget.epsilon))
    if not budget.law.gdp:
        return Risk(budget.epsilon, budget.delta, kind, belief, belief, 0.0)
    mu, spare = budget.ratio(1.0), budget.epsilon * budget.reserve  # what is kept back is pure, and a part of delta
    right = float(ndtr(mu / 2)) + math.tanh(spare / 2) / 2 + RESERVE * budget.delta / 2
    e = np.linspace(0.0, budget.epsilon, _TRIED, endpoint=False)
    failing = (
        np.array([math.exp(gaussian_log_delta(max(each - spare, 0.0), mu)) for each in e]) + RESERVE * budget.delta
    )
    beyond = float((failing / -np.expm1(e - budget.epsilon)).min())
    return Risk(budget.epsilon, budget.delta, kind, min(right, 1.0, belief + budget.delta), belief, min(beyond, 1.0))


def percent_up(share: float) -> str:
    """A share as a percentage, rounded up: what is said to be a limit is one. Only a whole one is 100 %.

    >>> percent_up(0.54701), percent_up(0.75), percent_up(0.99995), percent_up(1.0)
    ('54.8 %', '75 %', '99.995 %', '100 %')
    """
    tries = (math.ceil(100 * share * 10**digits - 1e-9) / 10**digits for digits in range(1, 8))
    return f"{next((each for each in tries if each < 100), 100.0):.10g} %"


def _rare(chance: float) -> str:
    """A small chance as "1 in so many", rounded so that it is not below the truth."""
    if chance >= 0.1:
        return percent_up(chance)
    many = 1 / chance
    unit = 10 ** max(math.floor(math.log10(many)) - 1, 0)
    return f"1 in {math.floor(many / unit) * unit:,}"
