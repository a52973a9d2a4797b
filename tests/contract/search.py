"""A search for the neighbours that move a total the most: structured records, then a climb from the best pairs.

A record is drawn in a chart of its query: a public point and the size of its cell, ellipsoid or box, in which the worst
records are simple (axes, diagonals, corners, few levels) and rounding happens at whole numbers of a known unit.
"""

from dataclasses import dataclass

import numpy as np

from knoll.queries import CellDisplacements, ComponentMoments, KernelSteps, Projected, WordsByTopic
from knoll.queries.query import UNIT
from knoll.queries.shapes import SHAPE_UNIT

FAR = 10_000  # numbers in a total above which the search looks at fewer records


@dataclass(frozen=True)
class Chart:
    """Records around one public point: row = origin + scale @ v, with rounding at multiples of 1 / unit."""

    origin: np.ndarray
    scale: np.ndarray
    unit: float

    def row(self, v):
        return self.origin + (self.scale @ v if self.scale.ndim == 2 else self.scale * v)


def charts(query, d):
    """The charts of a query: its domain's, and those of its first and last cells."""
    if hasattr(query, "frame"):
        frame = query.frame
        shapes = getattr(query, "_ellipsoids", None) or query._ellipsoid
        if isinstance(frame.domain, Projected):
            return [_of_domain(frame.domain.source)]
        made = [
            Chart(frame.outside(origin * frame.steps), size * frame.scales, SHAPE_UNIT)
            for origin, size in zip(shapes._origin, shapes.size, strict=True)
        ]
        return [made[0], *made[1:][-1:]]
    if isinstance(query, ComponentMoments):
        g, domain = query.gaussians, query.domain
        return [
            Chart(
                g._origins[i] * domain.steps + domain.centre,
                domain.steps[:, None] * np.linalg.inv(g._maps[i] * g._scales[i]) * g.unit,
                g.unit,
            )
            for i in sorted({0, g.n_cells - 1})
        ]
    domain = getattr(query, "domain", getattr(query, "box", None)) or getattr(
        getattr(query, "cells", None), "domain", None
    )
    domain = getattr(domain, "source", domain)
    if domain is None or isinstance(query, WordsByTopic):
        return [Chart(np.zeros(d), np.full(d, 10.0), UNIT)]
    made = [_of_domain(domain)]
    if isinstance(query, CellDisplacements):
        cells = query.cells
        made += [Chart(at, cells.steps * query.radius, query.radius) for at in cells.centres[[0, -1]]]
    if isinstance(query, KernelSteps):
        made += [Chart(at, domain.steps / query._per_step, 2.0**15) for at in query.points[[0, -1]]]
    return made


def _of_domain(domain):
    return Chart(domain.centre, domain.half, UNIT)


def structured(d, unit, rng, many):
    """Vectors in which bounds are reached or rounding adds up, no longer than about 1 (corners apart)."""
    found = [np.zeros(d), np.ones(d), -np.ones(d), *rng.choice([-1.0, 1.0], size=(2, d)), np.full(d, 1e9)]
    found.append(np.append(np.ones(d - 1), -1.0))
    found += [np.full(d, 1 / d**0.5), np.full(d, -1 / d**0.5), np.full(d, 1.001 / d**0.5)]
    for j in {0, d - 1}:
        found += [s * np.eye(d)[j] for s in (1.0, -1.0, 0.5)]
    if d > 1:
        m = max(range(d // 2, d), key=lambda m: (m * ((unit // m**0.5) ** 2 // unit) / unit) ** 2 + 2 * m / unit)
        found.append(np.repeat([0.0, 1 / m**0.5], [d - m, m]))
        found += [w for c in (0.02, 0.15, 0.5) for w in _halves(d, c)]
        found += [_cut(d, unit, k) for k in (1, 7, 50, 100, 200, 250)]
    counts = np.unique(np.geomspace(1, d, 8).astype(int))
    for m in counts:  # m equal coordinates on the rim
        where = rng.permutation(d)[:m]
        v = np.zeros(d)
        v[where] = rng.choice([-1.0, 1.0], size=m) / m**0.5
        found.append(v)
    while len(found) < many:
        found.append(_levels(d, unit, rng))
    return np.array(found)


def _halves(d, c):
    """Two records whose sum and difference are orthogonal diagonals, of lengths 2 c and 2 sqrt(1 - c^2)."""
    half = np.repeat([1.0, -1.0], [d // 2, d - d // 2])
    p, q = (1 - c**2) ** 0.5 * np.ones(d), c * half
    return [(p + q) / d**0.5, (q - p) / d**0.5]


def _cut(d, unit, k):
    """Two levels of opposite signs: products of one sign are just cut to zero, those of the other just not.

    Beside a diagonal, cutting thus takes away the positive part of an inner product and leaves the negative one.
    """
    small = np.ceil(unit**0.5) - 1
    v = np.full(d, small / unit)
    few = max(1, round((d - 1) / (k + 2)))
    v[-few:] = -np.ceil(k * unit / small) / unit
    v[0] = max(0.0, 1 - np.square(v[1:]).sum()) ** 0.5
    return v


def _levels(d, unit, rng):
    """Few levels, each just at a place where a square is cut, in groups; the first coordinate takes what is left."""
    edges = np.ceil(np.sqrt(rng.integers(1, 40, size=3) * unit)) - rng.integers(0, 2, size=3)
    levels = np.where(rng.random(3) < 0.6, edges / unit, rng.random(3)) * rng.choice([-1.0, 1.0], size=3)
    cuts = np.sort(rng.integers(0, d + 1, size=2)) if rng.random() < 0.5 else np.array([d - d // 11, d])
    v = np.empty(d)
    v[: cuts[0]], v[cuts[0] : cuts[1]], v[cuts[1] :] = levels
    length = np.linalg.norm(v)
    if length > 1:
        return v / length
    if rng.random() < 0.7:
        v[0] = max(0.0, 1 - length**2 + v[0] ** 2) ** 0.5
    return v


def contribution(query, row):
    """The weighted contribution of one record."""
    return (query.summarise(row.reshape(1, -1)) * query.weights).astype(np.float64).ravel()


def _pool(query, d, rng, many):
    return [(chart, v) for chart in charts(query, d) for v in structured(d, chart.unit, rng, many)]


def best_of(query, d, rng):
    """Structured records and far ones, and what each of them adds."""
    far = [np.full(d, 1e300), np.full(d, -np.inf), np.zeros(d), np.full(d, 5e-324)]
    rows = np.array([chart.row(v) for chart, v in _pool(query, d, rng, 60)] + far)
    return rows, np.array([contribution(query, row) for row in rows])


def largest_change(query, d, norm, rng):
    """The largest norms found of one contribution, and of the difference of two (one of which may be null)."""
    wide = np.prod(query.shape) > FAR
    pool = _pool(query, d, rng, 44 if wide else 60)
    added = np.array([contribution(query, chart.row(v)) for chart, v in pool])
    alone = np.linalg.norm(added, norm, axis=1)
    apart = np.array([np.linalg.norm(added - one, norm, axis=1) for one in added])
    bound = _climb(query, [pool[alone.argmax()]], norm, rng, 20 if wide else 60)
    spread = 0.0
    for pair in np.argsort(apart, axis=None)[::-1][: (2 if wide else 4) * len(pool) : 2 * len(pool)]:
        both = [pool[i] for i in np.unravel_index(pair, apart.shape)]
        spread = max(spread, _climb(query, both, norm, rng, 160))
    return max(bound, alone.max()), max(spread, bound, apart.max())


def _climb(query, records, norm, rng, tries):
    """Change levels of one record at a time; keep what is farther."""
    added = [contribution(query, chart.row(v)) for chart, v in records]
    best = np.linalg.norm(added[0] - added[1] if len(added) == 2 else added[0], norm)
    for _ in range(tries):
        i = int(rng.integers(len(records)))
        chart, v = records[i]
        moved = _step(v, chart.unit, rng)
        new = contribution(query, chart.row(moved))
        reached = np.linalg.norm(new - added[1 - i] if len(added) == 2 else new, norm)
        if reached >= best:
            best, added[i], records[i] = reached, new, (chart, moved)
    return float(best)


def _step(v, unit, rng):
    """Move one level, half of one or a single coordinate: by whole units, by a part, or to the other side."""
    moved = v.copy()
    where = np.flatnonzero(v == v[rng.integers(len(v))])
    kind = rng.random()
    if kind < 0.3:
        where = rng.choice(where, size=1 if kind < 0.2 else (len(where) + 1) // 2, replace=False)
    way = rng.random()
    if way < 0.5:
        moved[where] += rng.choice([-1.0, 1.0]) * 2.0 ** rng.integers(0, 6) / unit
    elif way < 0.8:
        moved[where] *= 1 + rng.normal() * 10.0 ** -rng.integers(1, 4)
    else:
        moved[where] *= -1
    return moved
