"""Released cells as people draw histograms: equal bars, where cells are too narrow to be seen."""

import numpy as np

TAIL = 0.25  # of the middle 98 % of the records, drawn beyond them
MOST_BARS = 60


def drawn_bars(
    edges: np.ndarray, share: np.ndarray, error: np.ndarray, *, whole: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return edges, shares and standard errors of the bars of a column, from most of its records to a little beyond.

    Cells may be as narrow as a single value that many records have. Where one is narrower than a bar, all are joined in
    equal bars, each cell spread over its width; the errors of joined cells are added as if they were independent.

    Parameters
    ----------
    edges, share, error : arrays of shape (n + 1,), (n,) and (n,)
        The released cells of one column.
    whole : bool
        Whether values are whole numbers, which a bar should not cut.

    Examples
    --------
    >>> edges, share, _ = drawn_bars(np.array([0.0, 1.0, 1.001, 6.0]), np.array([0.2, 0.5, 0.3]), np.zeros(3))
    >>> len(share), bool(share.max() > 0.5), bool(np.isclose(share.sum(), 1.0))
    (60, True, True)
    """
    first, last = np.interp([0.01, 0.99], np.append(0.0, np.cumsum(share)) / max(float(share.sum()), 1e-300), edges)
    room = max(TAIL * (last - first), 2 * float(np.diff(edges).min()))
    low, high = max(float(edges[0]), first - room), min(float(edges[-1]), last + room)
    kept = np.flatnonzero((edges[1:] > low) & (edges[:-1] < high))
    ends = np.append(edges[kept], edges[kept[-1] + 1])
    if np.diff(ends).min() >= (high - low) / MOST_BARS:
        return ends, share[kept], error[kept]
    bars = np.linspace(low, high, MOST_BARS + 1)
    if whole:
        step = np.ceil((high - low) / MOST_BARS)
        bars = np.arange(np.floor(low) - 0.5, np.ceil(high) + step, step)
    return bars, _joined(bars, edges, share), np.sqrt(_joined(bars, edges, np.square(error)))


def _joined(bars: np.ndarray, edges: np.ndarray, amounts: np.ndarray) -> np.ndarray:
    """Return amounts of cells in other cells, each spread evenly over its own."""
    return np.diff(np.interp(bars, edges, np.append(0.0, np.cumsum(amounts))))
