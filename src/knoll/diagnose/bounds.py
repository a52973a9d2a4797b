"""Remarks on bounds: those that cut the data, are far too wide, are in doubt, or let one column rule the distances."""

import numpy as np

from knoll.diagnose.diagnostic import Diagnostic, listed
from knoll.diagnose.facts import Facts

NEAR = 0.01  # a centre this near to a bound, in widths, is on it, if no spread was released
PILED, FROM = 0.6, 0.05  # or if it is within FROM widths, and nearer than PILED spreads: one half normal curve has 1.3
TIGHT = 0.003  # or this near, with a spread below NEAR: all of its records are there
IN_CELL = 1.1  # or within half a cell of a grid, and so narrow: all are in the outermost cells, whose middle counts
SPHERE = 0.93  # a cluster whose records lie on average beyond this part of a ball's radius, squared, is on its surface
MATTERS = 0.1  # part of the records whose clusters must be on a bound for a remark
TWO_VALUES = 0.6  # part of the largest possible variance above which a column has two values, both of them bounds
EXTENT = 3.0  # standard deviations about the centres that hold the data
WIDE = 0.12  # part of the bounds that the data fill, below which the bounds are far too wide
WIDE_CENTRES = 0.02  # the same for the centres alone, if no spread was released
FEW_CENTRES = 2  # so many agree in one column by chance: they must agree in all
UNEQUAL = 10.0  # times that one column's bounds are wider than another's: squared distances then differ by 100


def centres_on_bounds(facts: Facts) -> Diagnostic | None:
    """Say in which columns the centres lie on the bounds."""
    if not facts.seen.any():
        return None
    low, high = _on_sphere(facts) if facts.ball else _on_sides(facts, piled=True)
    two_valued = _two_valued(facts, low, high)
    if not facts.ball:  # zero is a natural limit: records pile up there uncut, and only all of them count
        low_all, high_all = _on_sides(facts, piled=False)
        low, high = np.where(facts.lower == 0, low_all, low), np.where(facts.upper == 0, high_all, high)
    every = low[facts.seen].all(axis=0) | high[facts.seen].all(axis=0)
    cut = np.maximum(facts.weight @ (low & (facts.lower != 0)), facts.weight @ (high & (facts.upper != 0)))
    some = (cut >= MATTERS) & ~two_valued
    if not facts.ball:
        every, some = every & ~facts.closed, some & ~facts.closed
    if not (every | some).any():
        return None
    names = "the surface of the ball" if facts.ball else f"the bounds of {listed(facts.columns(every | some))}"
    how = "Every" if every.any() else "Some"
    message = f"{how} {facts.kind}{' is' if every.any() else 's are'} on {names}: the bounds cut the data."
    advice = "Give bounds that hold all records; if values cannot lie beyond, ignore this."
    return Diagnostic("centres-on-bounds", "error" if every.any() else "warning", message, advice)


def _on_sides(facts: Facts, *, piled: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return which centres lie on the lower and on the upper bound of each column, (k, d).

    `piled` counts those of whose records a good part piles up there, too.
    """

    def on(gap: np.ndarray, bound: np.ndarray) -> np.ndarray:
        if facts.spread is None:
            return (gap <= NEAR) & facts.seen[:, None]
        spread = facts.spread / facts.width
        cell = IN_CELL * np.where(bound == 0, 0.0, facts.grain)  # in the first cell, zero is not all there is
        near = (gap <= np.maximum(TIGHT, cell)) & (spread <= np.maximum(NEAR, cell))
        if piled:
            near |= (gap <= FROM) & (gap < PILED * spread)
        return near & facts.seen[:, None]

    below, above = (facts.at - facts.lower) / facts.width, (facts.upper - facts.at) / facts.width
    return on(below, facts.lower), on(above, facts.upper)


def _on_sphere(facts: Facts) -> tuple[np.ndarray, np.ndarray]:
    """Return which clusters lie on the surface of the ball, as if it were the upper bound of one column.

    Records of length one lie there, too, and are not cut: nothing is said of the unit ball.
    """
    half = facts.width / 2
    away = (facts.at - (facts.lower + facts.upper) / 2) / half
    spread = 0.0 if facts.spread is None else np.square(facts.spread / half).sum(axis=1)
    on: np.ndarray = facts.seen & (np.square(away).sum(axis=1) + spread >= SPHERE)
    if (facts.upper == 1).all() and (facts.lower == -1).all():
        on = np.zeros(len(on), dtype=bool)
    return np.zeros((len(on), 1), dtype=bool), on[:, None]


def _two_valued(facts: Facts, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the columns of zeros and ones, so to speak: centres on both bounds, or between them as mixtures."""
    if facts.ball:
        return np.zeros(1, dtype=bool)
    both = np.asarray(low.any(axis=0) & high.any(axis=0))
    between = facts.seen[:, None] & ~low & ~high
    if facts.spread is None:
        return both
    largest = np.where(between, (facts.at - facts.lower) * (facts.upper - facts.at), 0.0)
    spread = np.where(between, np.square(facts.spread), 0.0)
    return both & np.asarray(facts.weight @ spread >= TWO_VALUES * (facts.weight @ largest))


def too_wide(facts: Facts) -> Diagnostic | None:
    """Say which bounds are far wider than the data."""
    at = facts.at[facts.seen]
    if facts.kind == "mode" or not len(at) or (facts.spread is None and len(at) < 2):
        return None
    spread = 0.0 if facts.spread is None else np.sqrt(facts.weight @ np.square(facts.spread))
    filled = (at.max(axis=0) - at.min(axis=0) + 2 * EXTENT * spread) / facts.width
    wide = _agree(facts, filled) if facts.spread is None else filled < WIDE
    if facts.ball:
        wide = np.full(len(filled), wide.all())
    if not facts.ball:  # where data are cut off at a bound they seem narrow; those near zero may be narrow
        low, high = _on_sides(facts, piled=False)
        wide &= ~facts.closed & ~(low[facts.seen].all(axis=0) | high[facts.seen].all(axis=0))
        wide &= (facts.lower == 0) | (facts.weight @ low < MATTERS)
        wide &= (facts.upper == 0) | (facts.weight @ high < MATTERS)
    if not wide.any():
        return None
    message = f"The bounds of {listed(facts.columns(wide))} are many times wider than the data."
    advice = "Give narrower bounds if you know them without looking at the records: the noise then gets smaller."
    return Diagnostic("bounds-too-wide", "warning", message, advice)


def _agree(facts: Facts, filled: np.ndarray) -> np.ndarray:
    """Return the columns in which centres alone show that the bounds are too wide: they agree, and not by chance."""
    errors = facts.errors[facts.seen].max(axis=0) / facts.width
    agree = (filled < WIDE_CENTRES) & (errors < WIDE_CENTRES)
    if facts.seen.sum() <= FEW_CENTRES and not (len(agree) > 1 and agree.all()):
        agree[:] = False
    return agree


def in_doubt(facts: Facts) -> Diagnostic | None:
    """Say which bought bounds may cut the data."""
    if not facts.in_doubt.any():
        return None
    message = f"The bought bounds of {listed(facts.columns(facts.in_doubt))} are in doubt: they may cut the data."
    advice = "Give bounds that are known without looking at the records, or raise epsilon."
    return Diagnostic("bounds-in-doubt", "warning", message, advice)


def raw_units(facts: Facts) -> Diagnostic | None:
    """Say that one column rules the distances."""
    width = facts.width
    if not facts.raw_units or len(width) < 2 or width.max() <= UNEQUAL * width.min():
        return None
    widest, narrowest = repr(facts.names[int(width.argmax())]), repr(facts.names[int(width.argmin())])
    ratio = width.max() / width.min()
    message = f"Distances are in raw units, and {widest} is {ratio:,.0f} times as wide as {narrowest}: it rules them."
    advice = "Set scale_by_bounds=True, unless all columns have the same unit."
    return Diagnostic("raw-units", "warning", message, advice)
