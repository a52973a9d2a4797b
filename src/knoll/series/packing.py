"""A released series as plain arrays and back, so that a fitted model can be pickled, saved and read."""

from typing import Any, ClassVar

import numpy as np

from knoll.queries import Lattice
from knoll.series.features import FeatureSeries
from knoll.series.series import GridSeries, Series

MOST_TOTALS = 2**18  # most totals of a lattice in a file: twice what any fit has, so no file can take much memory


class PackedSeries:
    """What every fitted kernel model publishes: released totals, and how to read them as a function."""

    PUBLISHED: ClassVar = {
        "features_": "mp", "totals_": "mc", "totals_stderr_": "m", "count_": "", "count_stderr_": "",
        "frame_": "fp", "rungs_": "rp", "bandwidth_": "p",
    }  # fmt: skip
    ATTRIBUTES: ClassVar = """bandwidth_ : array of shape (n_features,)
        Bandwidth per column, given, bought, or chosen from the released ladder.
    rungs_ : array of shape (n_rungs, n_features)
        Bandwidths that the release serves.
    count_, count_stderr_ : float
        Released number of records, and the standard error of its noise.
    features_, totals_, totals_stderr_, frame_
        The release itself: frequencies, totals, their standard errors, and the window they live on.
    """

    bandwidth_: np.ndarray


def packed(series: Series, rungs: np.ndarray) -> dict[str, Any]:
    """Return a series as fitted attributes by name."""
    own = {
        "bandwidth_": series.bandwidth.copy(),
        "rungs_": np.array(rungs, dtype=np.float64),
        "count_": float(series.count),
        "count_stderr_": float(series.count_stderr),
    }
    if isinstance(series, GridSeries):
        lattice = series.lattice
        kept = np.nonzero(series.stderr)
        rows = (lattice.low, lattice.high, lattice.period, np.array(lattice.top), np.array(lattice.cells))
        return own | {
            "features_": np.column_stack(kept).astype(np.float64),
            "totals_": series.totals[kept][:, None].copy(),
            "totals_stderr_": series.stderr[kept].copy(),
            "frame_": np.array(rows, dtype=np.float64),
        }
    return own | {
        "features_": series.frequencies.copy(),
        "totals_": np.column_stack([series.cosines, series.sines]),
        "totals_stderr_": np.full(len(series.cosines), series.stderr),
        "frame_": series.centre[None].copy(),
    }


def unpack(model: Any) -> Series:
    """Rebuild the series from a model's attributes."""
    if len(model.frame_) == 1:
        return FeatureSeries(
            frequencies=model.features_,
            cosines=model.totals_[:, 0],
            sines=model.totals_[:, 1],
            count=model.count_,
            count_stderr=model.count_stderr_,
            stderr=float(model.totals_stderr_[0]),
            centre=model.frame_[0],
            drawn=model.rungs_,
            bandwidth=model.bandwidth_,
        )
    low, high, period, top, cells = model.frame_
    check_lattice(model.features_, period, top, cells)
    lattice = Lattice.of(low, high, period, top.astype(int), cells.astype(int))
    shape = tuple(2 * k + 1 for k in lattice.top)
    kept = tuple(model.features_.astype(int).T)
    totals, stderr = np.zeros(shape), np.zeros(shape)
    totals[kept], stderr[kept] = model.totals_[:, 0], model.totals_stderr_
    return GridSeries(lattice, totals, stderr, model.bandwidth_)


def check_lattice(features: np.ndarray, period: np.ndarray, top: np.ndarray, cells: np.ndarray) -> None:
    """Refuse a window that no fit can have, before memory is allocated: the file may come from a stranger."""
    whole = all((each == np.rint(each)).all() for each in (features, top, cells))
    sound = whole and (top >= 0).all() and (cells >= 1).all() and (period > 0).all() and np.isfinite(period).all()
    if not sound or np.prod(2 * top + 1) > MOST_TOTALS or not ((features >= 0) & (features < 2 * top + 1)).all():
        raise ValueError("its window cannot be one of a fit")
