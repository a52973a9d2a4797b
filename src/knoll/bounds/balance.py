"""How far numbers spread, beside categories: released once, so that both count alike in distances.

Two levels of a category are a fixed distance apart. Numbers in units of their bounds are not: wide bounds, which are
safe, would make them count for little. So in a table of both kinds, a small share of the budget releases count, mean
and variance of each column of numbers (one `CellShapes` of all records), and numbers are measured in units of the
spread that was released, drawn to a usual one as far as it is noise. Weights of columns stay as declared; so do
circles, whose width nobody has to guess.
"""

import numpy as np

from knoll.arrays import Floats
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, CellShapes, Frame, Line, Product, SplitTree

SHARE = 0.03  # of the budget: at 20,000 records the noise of a variance is a hundredth of it
SPREAD = 0.4  # variance of every column of numbers in the metric, where two levels are 1 apart (`benchmarks/mixed`)
USUAL, DIFFER = 0.1, 0.1  # variance of numbers in units of half their bounds, and how much it differs between columns
LEAST = 0.002  # no column counts for more than if its standard deviation were a twentieth of half its bounds
_COUNT, _SQUARES = 1.0, 1.0  # weights of count and squares beside a displacement
_IDLE = 2.0**-12  # weight of coordinates that are not asked about


def balances(domain: Box | Ball) -> bool:
    """Return whether a domain has both numbers and columns of levels."""
    if not isinstance(domain, Product) or not domain.levels:
        return False
    return any(isinstance(domain.parts[j], Line) for j in domain.numbers)


def balance_asks(domain: Box | Ball) -> list[Ask]:
    """Return what `balanced` releases."""
    return [Ask.like(_query(domain), share=SHARE)] if isinstance(domain, Product) and balances(domain) else []


def balanced(grant: Grant, domain: Product) -> Floats:
    """Spend a share of a grant on the spread of the numbers. Return the scales of the metric."""
    query = _query(domain)
    released = grant.worth(SHARE * grant.share).release(query)
    d, (value, error) = domain.n_columns, (released.value[0], released.stderr[0])
    n = max(float(value[0]), 2 * float(error[0]))
    scales = domain.scales.copy()
    for j in (j for j in domain.numbers if isinstance(domain.parts[j], Line)):
        where = domain.slices[j]
        sums, squares = value[1:][where], value[1 + d :][where]
        seen = float((squares / n - np.square(sums / n)).sum())
        noise = float(np.square(error[1 + d :][where] / n).sum())
        likely = USUAL + DIFFER**2 / (DIFFER**2 + noise) * (seen - USUAL)
        scales[where] *= np.sqrt(np.clip(likely, LEAST, 1.0) / SPREAD)
    return scales


def _query(domain: Product) -> CellShapes:
    """Return the query of count, mean and variances of all records, the numbers in units of half their bounds."""
    lines = np.zeros(domain.n_columns, dtype=bool)
    lines[domain.number_places] = True
    unit = np.where(lines, domain.half, domain.half / _IDLE)  # levels are so short then that they cost nothing
    frame = Frame(domain, unit)
    radius = np.hypot(len(domain.numbers) ** 0.5, _IDLE * len(domain.parts) ** 0.5)
    at = np.zeros((1, domain.n_columns))
    return CellShapes(
        SplitTree(domain), frame, at, np.ones_like(at), np.array([radius]), count_weight=_COUNT,
        square_weight=_SQUARES, name="spread of numbers",
    )  # fmt: skip
