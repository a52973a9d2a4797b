"""Remarks on columns: those in which no cluster differs, ids among the features, levels that the data does not have."""

import re

import numpy as np

from knoll.diagnose.diagnostic import Diagnostic, Severity, listed
from knoll.diagnose.facts import Facts

SAME = 0.02  # part of a column's variance within clusters that their centres differ by: below, it tells nothing
SURE = 2.0  # standard errors by which the noise of that part must leave it below
GUESS = 0.25  # guess of a cluster's standard deviation, in half widths of the bounds, where none was released
FINE = 0.01  # differences of centres, in half widths, that do not count there: few clusters are so narrow
COARSE = 0.05  # centres with larger standard errors, in half widths, cannot show that a column is the same for all
MANY, MOST = 0.4, 0.8  # shares of values that are none of the declared levels: worth a remark, and a warning
DIFFERS = 10.0  # times its noise that some other column must differ by, where no spread was released

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")  # of a name: "userID_2" is user, id, 2
_IDS = {"id", "ids", "uuid", "guid", "uid", "idx", "ssn", "mrn", "imei"}  # as any word, whatever the others
_ALONE = {"index", "row", "rowid", "rownum", "key", "pk", "pid"}  # only as the whole name: "body_mass_index" is none
_NUMBERS = {"no", "nr", "nbr", "num", "number", "key", "index", "code"}  # as the last word, after one of these:
_THINGS = {
    "user", "customer", "client", "patient", "person", "member", "employee", "account", "record", "order", "visit",
    "case", "subject", "student", "device", "session", "transaction", "household", "invoice", "ticket", "row", "serial",
    "passport", "policy", "sample", "respondent", "object", "nhs", "national", "insurance", "licence", "license",
}  # fmt: skip


def looks_like_id(name: str) -> bool:
    """Return whether a column's name says that it numbers or names records: "user_id", "visitNo", "uuid", "index"."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and words[-1].isdigit():  # "user_id_2", "Unnamed: 0"
        words.pop()
    if not words:
        return False
    first, last = words[0], words[-1]
    joined = last.removesuffix("s").removesuffix("id") in _THINGS and last.endswith(("id", "ids"))
    if len(words) == 1:
        return first in _IDS | _ALONE | {"unnamed"} or joined
    numbered = last in _NUMBERS and words[-2] in _THINGS
    return bool(set(words) & _IDS) or numbered or joined or (last in ("no", "nr") and words[-2] != "yes")


def id_as_feature(facts: Facts) -> Diagnostic | None:
    """Say which features are ids by their names. Names are public."""
    ids = np.array([looks_like_id(name) for name in facts.names])
    if not ids.any():
        return None
    message = (
        f"By name, {listed(facts.columns(ids))} {'is an id' if ids.sum() == 1 else 'are ids'}, and used as a feature."
    )
    advice = "Leave ids out: choose the columns, or give the users' column as unit=knoll.User(...), --user."
    return Diagnostic("id-as-feature", "warning", message, advice)


def undeclared_levels(facts: Facts) -> Diagnostic | None:
    """Say in which categories many values are none of the declared levels: a slip of the declaration, perhaps."""
    many = [(name, share) for name, share, error in facts.others if share - SURE * error > MANY]
    if not many:
        return None
    shares = listed([f"{min(share, 1.0):.0%} of {name!r}".replace("%", " %") for name, share in many])
    advice = (
        'They count as "other". Compare the declared levels with how the data is written: capitals count, and 1 is '
        "not 01."
    )
    severity: Severity = "warning" if max(share for _, share in many) > MOST else "info"
    return Diagnostic("undeclared-levels", severity, f"Values that are none of the declared levels: {shares}.", advice)


def without_differences(facts: Facts) -> Diagnostic | None:
    """Say in which columns all clusters are the same."""
    if facts.kind == "mode" or len(facts.names) < 2 or facts.seen.sum() < 2:
        return None
    same = _same(facts) if facts.spread is not None else _same_by_noise(facts)
    if not same.any() or same.all():
        return None
    message = f"No {facts.kind} differs from the others in {listed(facts.columns(same))}."
    advice = "Leave such columns out: they add noise, and tell nothing."
    return Diagnostic("column-without-differences", "info", message, advice)


def _same(facts: Facts) -> np.ndarray:
    """Return the columns whose centres differ by a negligible part of what records differ within clusters."""
    assert facts.spread is not None
    weight, seen = facts.weight[facts.seen], facts.seen
    at, errors = facts.at[seen], facts.errors[seen]
    between = weight @ np.square(at - weight @ at)
    noise = weight @ np.square(np.where(np.isfinite(errors), errors, 1e150))
    within = weight @ np.square(facts.spread[seen])
    doubt = SURE * noise * np.sqrt(2 / len(at))
    return np.maximum(between - noise, 0.0) + doubt < SAME * within


def _same_by_noise(facts: Facts) -> np.ndarray:
    """Return the columns whose centres differ no more than by noise and chance, if some other column does differ."""
    half, seen = facts.width / 2, facts.seen
    at, k = facts.at[seen], int(seen.sum())
    chance = np.square(GUESS * half) / np.maximum(facts.sizes[seen], 1.0)[:, None] + np.square(FINE * half)
    square = np.square(np.where(np.isfinite(facts.errors[seen]), facts.errors[seen], 1e150)) + chance
    middle = (at / square).sum(axis=0) / (1 / square).sum(axis=0)
    apart = (np.square(at - middle) / square).sum(axis=0)
    fine = np.sqrt(square.mean(axis=0)) < COARSE * half
    return fine & (apart < k + SURE * np.sqrt(2 * k)) & bool((apart > DIFFERS * k).any())
