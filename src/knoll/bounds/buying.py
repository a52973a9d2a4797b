"""Bounds bought from the budget, for every column at once, in rounds of column histograms and a check.

1. Bins of every magnitude, 0 and ± powers of two, fit any unit without knowing it. The bins that stand out of the noise
   give a range per column, and all together the number of records, about.
2. Equal bins around each range and rings beyond, up to three times: values far from zero (years, times, identifiers)
   fill a small part of a power of two. It ends when every column fills its range.
3. The same with finer rings and less noise. What stands out is continued beyond what noise hides (`tails.py`).
4. A count of what lies outside the ranges. They are extended until what may be left outside is little (`outside.py`).

What a round spends depends on the number of records that was released before and on the number of columns: as little
as makes the noise small against the records, and never more than planned. All else is post-processing of what was
released. A column that does not stand out keeps the range of the round before, and is in doubt; so is one of which more
than 2 % may be outside.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knoll.arrays import Floats
from knoll.bounds.grids import around, closed, magnitudes, rarity, widened
from knoll.bounds.outside import MOST_OUTSIDE, RINGS, chance, extension, hidden_by_parts, surroundings
from knoll.bounds.seen import Seen, seen, segments, spread
from knoll.bounds.tails import upper_end
from knoll.privacy import Ask, Grant
from knoll.privacy.laws import Law
from knoll.queries import Box, ColumnHistograms, OutsideVotes, Query
from knoll.queries.domain import LARGEST_BOUND

PRIVATE = "private"

_FIRST = 0.04  # share of the first round, which knows no number of records: 1,000 in one column stand out clearly
_ZOOM = 0.04  # most share of a zoom; the last look takes half of what is left then, at most, and the check the rest
_LEAST = 0.01  # least share of a round: many records need no more
_ZOOMS = 3  # 1,000,000 ± 5 needs three with few records, and two with many
MOST_SHARE = 0.4
"""Share of the budget that ``bounds="private"`` spends at most: at 1,000 records bounds are worth that."""

_ZOOM_NOISE, _LAST_NOISE = 0.01, 0.0045
"""Standard error of a bin over the records, as rounds aim at: the last must tell the last 3 % of the records from noise
(`benchmarks/bounds`)."""

_CHECK_MARGIN = 0.004  # share of the records by which the check's limit is to exceed what it counts

_FEWEST_BINS, _MOST_BINS = 5, 9  # of a zoom, as powers of two
_FILLED = 0.11  # records over noise, over the root of the bins: records spread over all bins still stand out in runs
_FINE_BINS = 40  # of the last round: ends to a twentieth of the width; more bins in a tail have more noise together
_NEAR_RINGS, _FAR_RINGS = 3, 10  # of a zoom
_FINE_RINGS = 7  # of the last round
_MANY_POWERS, _FEW_RINGS = 16, 4
"""Longest runs: of powers of two at first, of rings at last, for heavy tails. Rings of a zoom are tried one by one: a
run of them would take in many powers of two."""

_RARE = 1 / 12  # standard errors a power of two costs if nothing stands out: one is likelier than 1e15


@dataclass(frozen=True)
class Bought:
    """Bounds, and for each column whether they are in doubt: more than 2 % of the records may be outside."""

    box: Box
    in_doubt: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Look:
    """One round: what was released, the closed edges of its bins, and what is seen in each column."""

    counts: Floats
    stderr: float
    law: Law
    edges: Floats
    seen: list[Seen]

    @property
    def clear(self) -> npt.NDArray[np.bool_]:
        return np.array([one.clear for one in self.seen])

    @property
    def records(self) -> float:
        """How many records there are, about: every column has all of them."""
        clear = [one.records for one in self.seen if one.clear]
        return max(float(np.mean(clear)) if clear else 0.0, self.stderr)

    @property
    def ranges(self) -> tuple[Floats, Floats]:
        pairs = list(zip(self.seen, self.edges, strict=True))
        return np.array([at[one.first] for one, at in pairs]), np.array([at[one.last + 1] for one, at in pairs])


def bounds_asks(n_columns: int) -> list[Ask]:
    """Return what buying bounds releases at most."""
    zoom = np.zeros((n_columns, 2**_MOST_BINS + 1 + 2 * (_NEAR_RINGS + _FAR_RINGS)))
    last = np.zeros((n_columns, _FINE_BINS + 1 + 2 * _FINE_RINGS))
    return [
        Ask.like(ColumnHistograms(magnitudes(n_columns)), share=_FIRST),
        Ask.like(ColumnHistograms(zoom), times=_ZOOMS, share=_LEAST),
        Ask.like(ColumnHistograms(last), share=_LEAST),
        Ask.like(OutsideVotes(np.zeros((n_columns, 2 * RINGS)), 2), share=_LEAST),
    ]


def buy_bounds(grant: Grant, n_columns: int, names: tuple[str, ...] | None) -> Bought:
    """Spend up to `MOST_SHARE` of a grant on bounds for every column."""
    look = _look(grant.worth(_FIRST), magnitudes(n_columns), 0, longest=_MANY_POWERS)
    lower, upper = look.ranges
    lower = np.where(look.clear, lower, np.minimum(lower, -1.0))  # a box around zero, where nothing stands out
    upper = np.where(look.clear, upper, np.maximum(upper, 1.0))
    widest, left = (lower, upper), MOST_SHARE - _FIRST
    for _ in range(_ZOOMS):
        part, noise = _enough(grant, ColumnHistograms(np.zeros((n_columns, 1))), _ZOOM, _ZOOM_NOISE * look.records)
        fitting = np.round(2 * np.log2(_FILLED * look.records / noise))
        bins = 2 ** int(np.clip(fitting, _FEWEST_BINS, _MOST_BINS))
        edges = around(lower, upper, bins=bins, near=_NEAR_RINGS, far=_FAR_RINGS)
        look, left = _look(part, edges, _NEAR_RINGS + _FAR_RINGS + 1, longest=1), left - part.share
        clear = look.clear
        lower, upper = (np.where(clear, new, old) for new, old in zip(look.ranges, (lower, upper), strict=True))
        widest = np.minimum(widest[0], lower), np.maximum(widest[1], upper)
        if all(map(spread, look.seen, look.counts)):
            break
    edges = around(lower, upper, bins=_FINE_BINS, near=_FINE_RINGS)
    part, _ = _enough(grant, ColumnHistograms(edges), left / 2, _LAST_NOISE * look.records)
    look, left = _look(part, edges, _FINE_RINGS + 1, longest=_FEW_RINGS), left - part.share
    lower, upper = _ends(look, lower, upper)
    lower, upper, enough = _checked(grant, left, (lower, upper), widest, look)
    return Bought(Box(tuple(lower.tolist()), tuple(upper.tolist()), names), ~(look.clear & enough))


def _look(part: Grant, edges: Floats, rings: int, *, longest: int) -> _Look:
    """Spend a grant on a histogram of every column, and see what stands out; runs of rings up to a length."""
    released = part.release(ColumnHistograms(edges))
    stderr, parts = float(released.stderr.flat[0]), segments(len(edges), edges.shape[1] + 1, rings, longest)
    rare = 0.0 if rings else _RARE * rarity()
    found = [seen(counts, stderr, released.law, parts, rare) for counts in released.value]
    return _Look(released.value, stderr, released.law, closed(edges), found)


def _enough(grant: Grant, query: Query, most: float, noise: float) -> tuple[Grant, float]:
    """Return the least part of a grant for a wanted standard error of a first count, or the most; and what it gives."""
    for share in np.geomspace(_LEAST, most, 20).tolist():
        part = grant.worth(share)
        stderr = float(part.stderr(query).flat[0])
        if stderr <= noise:
            break
    return part, stderr


def _ends(look: _Look, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return ranges from the last look: where tails end; the former range where nothing stands out."""
    lower, upper, rings = lower.copy(), upper.copy(), _FINE_RINGS + 1
    for j, (one, counts, edges) in enumerate(zip(look.seen, look.counts, look.edges, strict=True)):
        if one.clear:
            upper[j] = upper_end(counts, edges, one.last, rings, look.stderr, look.records)
            mirrored = len(counts) - 1 - one.first
            lower[j] = -upper_end(counts[::-1], -edges[::-1], mirrored, rings, look.stderr, look.records)
    return lower, upper


def _checked(
    grant: Grant, left: float, ranges: tuple[Floats, Floats], widest: tuple[Floats, Floats], last: _Look
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Count what lies outside of ranges. Return them extended, and which of them are known to leave little outside."""
    query = OutsideVotes(surroundings(*ranges, widest), grant.norm)
    sure = last.law.tail(chance(len(query.edges)))
    part, _ = _enough(grant, query, left, _CHECK_MARGIN * last.records / sure)
    released = part.release(query)
    totals, rings, classes = query.split(released.value)
    errors = [float(each.flat[0]) for each in query.split(released.stderr)]
    most = MOST_OUTSIDE * last.records / hidden_by_parts(query, classes, errors[2])
    found = [extension(*each, (errors[0], errors[1]), most, sure) for each in zip(totals, rings, strict=True)]
    columns = np.arange(len(found))
    lower = query.edges[columns, [RINGS - 1 - one.below for one in found]]
    upper = query.edges[columns, [RINGS + one.above for one in found]]
    lower, upper = widened(*np.clip([lower, upper], -LARGEST_BOUND / 2, LARGEST_BOUND / 2))
    return lower, upper, np.array([one.enough for one in found])
