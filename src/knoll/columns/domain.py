"""Where encoded rows lie: the product of what each declared column holds."""

from knoll.columns.columns import Columns
from knoll.columns.levels import Boolean
from knoll.privacy.errors import BoundsError
from knoll.queries import Circle, Corners, Line, Product
from knoll.queries.product import Part

_YES_AND_NO = 0.5  # weight of a line from no to yes: they are then as far apart as two levels of a category
_ROUND = 0.4**0.5  # weight of a circle: all its points are on the rim, so that its variance, once spread evenly, is 0.4


def domain_of(columns: Columns) -> Product:
    """Return the domain of encoded rows.

    >>> domain_of(Columns({"age": (0, 110), "plan": {"basic", "gold"}})).names
    ('age', 'plan=basic', 'plan=gold', 'plan=other')
    """
    parts: list[Part] = []
    for _, kind in columns:
        part, weight = kind.part, kind.weight
        if part[0] == "line":
            yes_no = isinstance(kind, Boolean)
            parts.append(Line(part[1], part[2], weight * (_YES_AND_NO if yes_no else 1.0), yes_no))
        elif part[0] == "corners":
            parts.append(Corners(part[1], weight))
        else:
            parts.append(Circle(weight * _ROUND))
    return Product.of(parts, columns.names, columns.coordinates)


def require_lines(columns: Columns, what: str) -> None:
    """Refuse columns that are not on a line, for methods that need distances along each column."""
    for name, kind in columns:
        if kind.part[0] != "line":
            raise BoundsError(
                f"{what} takes columns on a line: numbers, logs, dates, booleans, ordered levels. Column {name!r} is "
                f"{kind.describe()}; leave it out, or use KMeans, GaussianMixture or MorseClustering"
            )
