"""Names above a threshold: what one unit alone holds stays hidden, and the small chance that it does not is charged."""

import math

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.pld import PLDAccountant
from scipy.stats import binom, norm

from knoll.privacy import Budget, Curator, FileLedger, Grant, Privacy, PrivacyError, Relation, User
from knoll.privacy.book import body_of, line_of
from knoll.privacy.discovery import NAME_WEIGHT, chance_of_showing, threshold_for
from knoll.queries import Count, OpenWords


class Names:
    """Rows whose counts of names are given."""

    row_limit = 10**6

    def __init__(self, **counts):
        self.counts = counts

    def tally(self, query):
        return list(self.counts), np.array(list(self.counts.values()), dtype=np.int64)

    def aggregate(self, query):
        return np.zeros(query.shape, dtype=np.int64)


def discovered(budget, share=0.1, most=10, relation=Relation.ADD_REMOVE, unit=None, **counts):
    with Curator(Names(**counts), budget, relation=relation, unit=unit) as curator:
        found = Grant(curator).worth(share).discover(OpenWords(most))
        return found, curator.statement()


def unit_sigma(entry, relation):
    """Standard deviation of the noise in units of one count, from public facts of an entry alone."""
    moved = math.sqrt(entry.shape[0] * (2 if relation is Relation.REPLACE_ONE else 1))
    return entry.scale / entry.sensitivity * moved


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("most", [1, 10, 300])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-12), (1.0, 1e-6), (8.0, 1e-4)])
def test_the_threshold_hides_what_one_unit_holds(epsilon, delta, most, relation):
    budget = Budget(epsilon, delta, hiding=0.1)
    _, privacy = discovered(budget, most=most, relation=relation, common=10**5)
    (entry,) = privacy.releases
    each = norm.sf((entry.threshold - 1) / unit_sigma(entry, relation))  # a name of one unit has a count of one
    assert most * each <= entry.cost.delta * (1 + 1e-3)
    assert most * each >= 0.98 * entry.cost.delta  # and is not hidden more than it costs
    assert entry.cost.delta <= budget.hidden
    assert entry.cost.epsilon >= -math.log1p(-entry.cost.delta)
    assert entry.shape == (most,)  # how many names occur is told by nothing


def test_a_name_of_one_unit_appears_as_rarely_as_is_charged():
    """With a delta that is far too large, so that the chance can be measured: 6,000 fits, false alarms below 1e-6."""
    budget, times = Budget(1.0, 0.1, hiding=0.5), 6000
    shown = 0
    for _ in range(times):
        found, privacy = discovered(budget, share=1.0, most=1, secret=1)
        shown += "secret" in found.names
    chance = privacy.releases[0].cost.delta
    assert shown <= binom.isf(1e-6, times, chance)
    assert shown >= binom.isf(1 - 1e-6, times, 0.8 * chance)
    (entry,) = privacy.releases
    lower = int((entry.threshold - 0.5) * NAME_WEIGHT)  # the test can tell a threshold that is half a count too low
    assert binom.isf(1e-6, times, chance) < binom.isf(1 - 1e-6, times, chance_of_showing(entry.scale, 1, lower))


def test_a_name_of_one_unit_is_not_shown_in_thousands_of_fits():
    for _ in range(2000):
        found, _ = discovered(Budget(20.0, 1e-4, hiding=0.5), share=1.0, most=5, secret=1, common=1000)
        assert found.names == ("common",)


@pytest.mark.parametrize("relation", list(Relation))
def test_the_referee_agrees_with_the_whole(relation):
    for epsilon, delta in [(1.0, 1e-6), (0.25, 1e-9), (4.0, 1e-5)]:
        with Curator(Names(common=10**5), Budget(epsilon, delta, hiding=0.1), relation=relation) as curator:
            grant = Grant(curator)
            grant.part(0.3).discover(OpenWords(10))
            grant.rest.release(Count())
            privacy = curator.statement()
        accountant, hidden = PLDAccountant(value_discretization_interval=1e-4), 0.0
        for entry in privacy.releases:
            accountant.compose(GaussianDpEvent(entry.scale / entry.sensitivity))
            if entry.threshold:
                hidden += entry.shape[0] * norm.sf((entry.threshold - 1) / unit_sigma(entry, relation))
        assert hidden > 0.05 * delta
        found = accountant.get_epsilon(delta - hidden)
        assert 0.98 * epsilon <= found <= epsilon + 3e-4
        assert privacy.spent_epsilon <= epsilon


def test_released_names_are_in_order_with_counts_and_errors():
    found, privacy = discovered(Budget(1.0, 1e-6, hiding=0.1), zebra=9000, apple=8000, pear=3, unit=User("id", 7))
    assert found.names == ("apple", "zebra")
    assert np.abs(found.value - [8000, 9000]).max() < 8 * found.stderr[0]
    assert found.threshold == privacy.releases[0].threshold > 1
    alone, _ = discovered(Budget(1.0, 1e-6, hiding=0.1), zebra=9000)
    assert found.stderr[0] == alone.stderr[0]  # a user adds ten names at most, not ten of each record
    assert "Hidden by a threshold" in str(privacy)
    assert Privacy.from_dict(privacy.to_dict()) == privacy


def test_the_ledger_reserves_and_records_the_delta_of_the_threshold(tmp_path):
    budget = Budget(1.0, 1e-6, hiding=0.1)
    ledger = FileLedger(tmp_path / "privacy.db", dataset="texts")
    ledger.set_cap("texts", Budget(1.0, 1e-6))
    curator = Curator(Names(common=10**5), budget, ledger=ledger)
    with curator:
        with ledger._open() as (_, book):
            (fit,) = book.fits.values()
        assert fit.reserved.delta >= budget.hidden
        Grant(curator).discover(OpenWords(10))
    spend = ledger.spend("texts")
    assert spend.cost.delta >= 0.98 * budget.hidden
    assert spend.epsilon <= 1.0
    (line,) = ledger.lines("texts")
    assert line.entry.threshold > 1
    earlier = {name: value for name, value in body_of(line, 2).items() if name != "threshold"}
    assert line_of(earlier).entry.threshold == 0.0  # as versions without thresholds wrote it


def test_what_cannot_be_hidden_is_refused():
    for budget in (Budget(1.0, 0.0), Budget(1.0, 1e-6)):
        with pytest.raises(PrivacyError, match="kept back"):
            discovered(budget, common=9)
    with pytest.raises(PrivacyError, match="hides rare names"):
        Budget(1.0, 0.0, hiding=0.1)
    with Curator(Names(common=9), Budget(1.0, 1e-6, hiding=0.1)) as curator:
        grant = Grant(curator)
        grant.part(0.2).discover(OpenWords(10))
        with pytest.raises(PrivacyError, match="once"):
            grant.part(0.2).discover(OpenWords(10))
    for most in (0, -1, True, 2.0, 10**7):
        with pytest.raises(PrivacyError, match="adds from 1"):
            discovered(Budget(1.0, 1e-6, hiding=0.1), most=most, common=9)
    with pytest.raises(PrivacyError, match="too small to hide"):
        threshold_for(1.0, 10**6, 1e-30)


def test_counts_that_rows_cannot_have_are_refused():
    for counts in ({"a": -1}, {"a": 10**7}):
        with pytest.raises(PrivacyError, match="internal error"):
            discovered(Budget(1.0, 1e-6, hiding=0.1), **counts)
    found, _ = discovered(Budget(1.0, 1e-6, hiding=0.1))
    assert found.names == ()
