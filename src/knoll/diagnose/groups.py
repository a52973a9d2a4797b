"""Remarks on clusters, components and modes: whether they are seen, and whether their number is right."""

import numpy as np

from knoll.diagnose.diagnostic import Diagnostic, listed
from knoll.diagnose.facts import Facts

CLEAR = 4.0  # standard errors in an average cluster: one of half that size is at 2, where clusters count as not seen
FEWEST = 20.0  # standard errors in all records: fewer cannot show even five equal clusters clearly (5 x CLEAR)
# Twice as many of the least noise of any release: a fit spends as much on finding clusters as on counting them. Beyond,
# sizes are uncertain because it is in doubt which cluster records belong to, and more records do not help.
QUIET = 2 * FEWEST
DOUBT = 0.5  # confidence below which all other numbers together are more probable than the chosen one
CLOSE = 0.5  # a runner-up is close if it is at least this many times as probable as the best


def not_seen(facts: Facts) -> Diagnostic | None:
    """Say which clusters cannot be told from noise; for modes also that there is none."""
    unseen, k, kind = np.flatnonzero(~facts.seen), len(facts.seen), facts.kind
    if (k and not len(unseen)) or (not k and kind != "mode"):
        return None
    advice = "Raise epsilon, take more records, or ask for fewer."
    if len(unseen) == k:
        message = f"No {kind} can be told from noise."
        return Diagnostic("clusters-not-seen", "error", message, advice)
    if facts.spread is None and len(unseen) == k - 1 and kind != "mode":  # starts all over the bounds: one has all
        advice = f"If the bounds may be many times wider than the data, give narrower ones. {advice}"
    which = f"{kind}s {listed([str(i) for i in unseen])}" if len(unseen) > 1 else f"{kind} {unseen[0]}"
    message = f"{len(unseen)} of {k} {kind}s cannot be told from noise: {which}."
    return Diagnostic("clusters-not-seen", "warning", message, f"Do not use them. {advice}")


def too_many(facts: Facts) -> Diagnostic | None:
    """Say that more clusters were asked for than the noise lets one see."""
    if facts.asked is None or facts.asked < 2 or facts.records >= CLEAR * facts.noise * facts.asked:
        return None
    most = max(1, int(facts.records / (CLEAR * facts.noise)))
    message = (
        f"{facts.asked:,} {facts.kind}s of about {facts.records:,.0f} records are too many for this budget: "
        f"each size has a standard error of {facts.noise:,.0f}."
    )
    advice = f"Ask for at most {most:,}, or raise epsilon."
    return Diagnostic("too-many-clusters", "warning", message, advice)


def number_in_doubt(facts: Facts) -> Diagnostic | None:
    """Say that the chosen number is not sure, and which other is close."""
    if facts.asked is not None:
        return None
    order = np.argsort(-facts.candidates[:, 1], kind="stable")
    ranked = facts.candidates[order]
    close = len(ranked) > 1 and ranked[1, 1] >= CLOSE * ranked[0, 1] > 0
    if not close and facts.confidence >= DOUBT:
        return None
    kind, k = facts.kind, len(facts.seen)
    message = f"The number of {kind}s, {k}, was chosen with a confidence of {facts.confidence:.0%}."
    if close:
        other = ranked[1] if ranked[0, 0] == k else ranked[0]
        message = f"The number of {kind}s is in doubt: {k} was chosen, and {other[0]:.0f} is about as probable."
    advice = "Give the number if you know it, or raise epsilon."
    return Diagnostic("number-of-clusters-in-doubt", "warning", message, advice)


def few_records(facts: Facts) -> Diagnostic | None:
    """Say that there are few records for this budget, whatever is asked of them."""
    enough = min(FEWEST * facts.noise, QUIET * facts.quietest)
    if facts.records >= enough:
        return None
    message = (
        f"About {max(facts.records, 0.0):,.0f} records are few for this budget: a cluster's size has a standard error "
        f"of {facts.noise:,.0f}."
    )
    advice = f"Take more records (about {enough:,.0f} at least), or raise epsilon."
    return Diagnostic("few-records", "warning", message, advice)
