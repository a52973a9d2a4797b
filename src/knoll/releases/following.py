"""Do the releases of a fit follow the table? What it must say is public; what it may ask; how often it asked."""

import re

from knoll.releases.grammar import As, Case, Fit, Release
from knoll.releases.pieces import BALANCED, BOUNDS, IMPUTED, OUTSIDE
from knoll.releases.table import RELEASES


def case_of(estimator: str, fit: Fit) -> Case:
    """Return the case that a fit falls under."""
    (case,) = [case for case in RELEASES[estimator] if case.when.holds(fit)]
    return case


def assumed_public(estimator: str, fit: Fit) -> tuple[str, ...]:
    """Return what the statement of a fit must say is assumed public."""
    bounds = () if BOUNDS.when.holds(fit) else ("bounds",)
    number = () if fit["relation"] == "add_remove" else ("the number of records",)
    return ("column names", *bounds, "the parameters", *case_of(estimator, fit).public, *number)


def asked(estimator: str, fit: Fit) -> list[tuple[Release | As, Release, Fit]]:
    """Return, in order, the steps that a fit may take: the step of its own case, what that asks, and of which facts."""
    found: list[tuple[Release | As, Release, Fit]] = []
    for step in case_of(estimator, fit).steps:
        if not step.when.holds(fit):
            continue
        if isinstance(step, Release):
            found.append((step, step, fit))
        else:
            found += [(step, ask, facts) for _, ask, facts in asked(*step.inside(fit))]
    return found


def counted(estimator: str, fit: Fit, names: list[str]) -> list[tuple[Release | As, int, int, int]] | None:
    """Compare the names of a fit's releases with the table.

    Returns
    -------
    found : list of (step, times, least, most), or None
        How often each step that is due was asked, and could be. None if the names do not follow the table.
    """
    due: list[tuple[Release | As, Release, Fit]] = [
        (each, each, fit) for each in (BOUNDS, OUTSIDE, IMPUTED, BALANCED) if each.when.holds(fit)
    ]
    due += asked(estimator, fit)
    ranges = [(ask.number.least(facts), ask.number.most(facts)) for _, ask, facts in due]
    parts = [
        "((?:{}\n){{{},{}}})".format(re.escape(ask.name).replace(r"\#", r"\d+"), least, most)
        for (_, ask, _), (least, most) in zip(due, ranges, strict=True)
    ]
    match = re.fullmatch("".join(parts), "".join(f"{name}\n" for name in names))
    if match is None:
        return None
    return [
        (step, group.count("\n"), least, most)
        for (step, _, _), group, (least, most) in zip(due, match.groups(), ranges, strict=True)
    ]
