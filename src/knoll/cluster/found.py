"""What a clusterer found, its error bars, and how to leave out what cannot be told from noise."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from knoll.estimator import FitContext
from knoll.numeric.bars import Bars, bars
from knoll.numeric.distances import nearest
from knoll.numeric.made_up import Published
from knoll.queries import Ball, Box, Sphere
from knoll.queries.sphere import lengthened
from knoll.steps.means import CellMeans


@dataclass(frozen=True)
class Clusters:
    """What a clusterer found.

    Attributes
    ----------
    means : CellMeans
        The means of its cells, and what the last release showed of them.
    more : mapping
        Further fitted attributes by name.
    assign : callable, optional
        Rule by which rows get their clusters, if not by the nearest centre.
    bars : Bars, optional
        Error bars, if the method computes them itself.
    refers : tuple of str
        Names in `more` of arrays that hold numbers of clusters.
    each : tuple of str
        Names in `more` of arrays with a row for each cluster.
    """

    means: CellMeans
    more: Mapping[str, Any] = field(default_factory=dict)
    assign: Callable[[np.ndarray], np.ndarray] | None = None
    bars: Bars | None = None
    refers: tuple[str, ...] = ()
    each: tuple[str, ...] = ()


def places(domain: Box | Ball, centres: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return centres in the metric of the fit; on a sphere their directions, so that cosines count."""
    at = centres / scales
    return lengthened(at) if isinstance(domain, Sphere) else at


def error_bars(found: Clusters, context: FitContext) -> Bars:
    """Return the error bars of clusters, from what the last release showed and the rule that assigns records."""
    means = found.means
    if found.bars is not None:
        return found.bars
    if means.measured is None:
        return Bars(means.stderr, means.counts_stderr, means.seen)
    at = places(context.domain, means.centres, context.scales)

    def by_distance(rows: np.ndarray) -> np.ndarray:
        return nearest(rows / context.scales, at)

    published = Published(
        means.centres, np.maximum(means.counts, 0.0), found.assign or by_distance, context.domain,
        pure=context.grant.norm == 1,
    )  # fmt: skip
    return bars(means.measured, published)


def without_unseen(found: Clusters, known: Bars, context: FitContext) -> tuple[Clusters, Bars]:
    """Leave out clusters that cannot be told from noise; what they hold goes to the nearest cluster that stays."""
    keep = known.seen.copy()
    keep[found.means.counts.argmax()] |= not keep.any()
    if keep.all():
        return found, known
    means = found.means
    at = places(context.domain, means.centres, context.scales)
    instead = nearest(at, at[keep])
    new = np.where(keep, np.cumsum(keep) - 1, instead)
    more = dict(found.more)
    more |= {name: new[more[name].astype(int)].astype(more[name].dtype) for name in found.refers}
    more |= {name: more[name][keep] for name in found.each}
    left = {name: getattr(means, name)[keep] for name in ("centres", "stderr", "counts", "counts_stderr", "seen")}
    measured = means.measured
    if measured is not None:  # what was measured of the others now belongs to clusters of which it was not measured
        inside = (measured.group >= 0) & keep[measured.group]
        measured = replace(measured, group=np.where(inside, new[measured.group], -1))
    rule = found.assign
    less = replace(
        found, means=replace(means, **left, sums=means.sums and means.sums.take(keep), measured=measured), more=more,
        assign=None if rule is None else lambda rows: new[rule(rows)],
    )  # fmt: skip
    if found.bars is None:
        return less, error_bars(less, context)
    moved = float(np.maximum(means.counts[~keep], 0.0).sum()) / int(keep.sum())
    return less, Bars(known.centres[keep], np.hypot(known.sizes[keep], moved), known.seen[keep])
