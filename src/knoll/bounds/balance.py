"""How far numbers spread, in a table of several kinds: released once, so that all count alike in distances.

Two levels of a category are a fixed distance apart, so are the points of a circle, and dates mostly fill their bounds.
Numbers in units of their bounds do not: wide bounds, which are safe, would make them count for little. So in a table of
several kinds, a small share of the budget releases count, mean and variance of each column on a line (one `CellShapes`
of all records), and these are measured in units of the spread that was released, drawn to a usual one as far as it is
noise. Weights of columns stay as declared; so do circles, whose width nobody has to guess.
"""

import numpy as np

from knoll.arrays import Floats
from knoll.columns import Columns, Number, Whole
from knoll.privacy import Ask, Grant
from knoll.queries import Ball, Box, CellShapes, Frame, Line, Product, SplitTree

SHARE = 0.03  # of the budget: at 20,000 records the noise of a variance is a hundredth of it
SPREAD = 0.4  # variance of every column of numbers in the metric, where two levels are 1 apart (`benchmarks/mixed`)
USUAL, DIFFER = 0.1, 1.2  # variance of numbers, in units of half their bounds; how much its logarithm differs
LEAST = 0.002  # no column counts for more than if its standard deviation were a twentieth of half its bounds
_LIKELY = np.linspace(np.log(LEAST), 0.0, 400)  # logarithms of variances that are thought of
_NUMBER, _WHOLE = Number.word, Whole.word
_IDLE = 2.0**-12  # weight of coordinates that are not asked about


def balances(domain: Box | Ball | None, columns: Columns | None) -> bool:
    """Return whether columns are of several kinds, some of them on lines. Plain and whole numbers are one kind."""
    if columns is None or not isinstance(domain, Product):
        return False
    kinds = {_NUMBER if kind.word == _WHOLE else kind.word for _, kind in columns}
    return len(kinds) > 1 and bool(_lines(domain))


def balance_asks(domain: Product) -> list[Ask]:
    """Return what `balanced` releases."""
    return [Ask.like(spread_query(domain), share=SHARE)]


def balanced(grant: Grant, domain: Product) -> Floats:
    """Spend a share of a grant on the spread of the numbers. Return the scales of the metric."""
    query = spread_query(domain)
    released = grant.worth(SHARE * grant.share).release(query)
    d, (value, error) = domain.n_columns, (released.value[0], released.stderr[0])
    n = max(float(value[0]), 2 * float(error[0]))
    scales = domain.scales.copy()
    for j in (domain.slices[j].start for j in _lines(domain)):
        mean, square = value[1 + j] / n, value[1 + d + j] / n
        noise = np.hypot(error[1 + d + j], 2 * mean * error[1 + j]) / n
        scales[j] *= np.sqrt(likely_variance(square - mean**2, noise) / SPREAD)
    return scales


def likely_variance(seen: float, noise: float) -> float:
    """Return the variance that is expected of a released one with noise; as a logarithm, since scales multiply.

    A variance below its noise may be anything small: without what is usual, a column would count for far too much.

    >>> round(likely_variance(0.2, 0.001), 2), round(likely_variance(-0.02, 0.03), 2), round(likely_variance(0.2, 9), 1)
    (0.2, 0.02, 0.1)
    """
    misfit = np.square((np.exp(_LIKELY) - seen) / max(noise, 1e-9)) + np.square((_LIKELY - np.log(USUAL)) / DIFFER)
    chance = np.exp((misfit.min() - misfit) / 2)
    return float(np.exp(chance @ _LIKELY / chance.sum()))


def _lines(domain: Product) -> list[int]:
    """Return the columns on lines, but for yes and no, and for constant ones."""
    return [j for j in domain.numbers if isinstance(domain.parts[j], Line)]


def spread_query(domain: Product) -> CellShapes:
    """Return the query of count, mean and variances of all records, lines in units of half their bounds."""
    lines = np.zeros(domain.n_columns, dtype=bool)
    lines[[domain.slices[j].start for j in _lines(domain)]] = True
    unit = np.where(lines, domain.half, domain.half / _IDLE)  # others are so short then that they cost nothing
    frame = Frame(domain, unit)
    radius = np.hypot(lines.sum() ** 0.5, _IDLE * len(domain.parts) ** 0.5)
    at = np.zeros((1, domain.n_columns))
    return CellShapes(
        SplitTree(domain), frame, at, np.ones_like(at), np.array([radius]), count_weight=0.5,
        square_weight=float(radius), name="spread of numbers",
    )  # fmt: skip
