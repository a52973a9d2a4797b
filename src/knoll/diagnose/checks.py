"""All checks, in the order in which their remarks are told: the gravest subject first."""

from knoll.diagnose import bounds, columns, groups, trust
from knoll.diagnose.diagnostic import Diagnostic
from knoll.diagnose.facts import Facts

CHECKS = (
    trust.seeded_noise,
    bounds.centres_on_bounds,
    groups.not_seen,
    groups.too_many,
    groups.few_records,
    groups.number_in_doubt,
    bounds.in_doubt,
    bounds.raw_units,
    bounds.too_wide,
    columns.undeclared_levels,
    columns.id_as_feature,
    columns.without_differences,
)


def diagnose(facts: Facts) -> tuple[Diagnostic, ...]:
    """Return the remarks on a fit. The same facts give the same remarks."""
    found = (check(facts) for check in CHECKS)
    return tuple(each for each in found if each is not None)
