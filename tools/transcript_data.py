"""Small made-up datasets for `transcripts.py`: every kind of input and bounds that changes what a fit does.

All numbers come from seeded generators. Nothing here imports a part of knoll that may move: public names only.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import knoll


@dataclass(frozen=True)
class Data:
    """What `fit` gets, and how.

    Attributes
    ----------
    X : array, frame, table or path
        For `fit` and `predict`.
    rows : array of shape (n_rows, n_columns)
        Complete rows without ids, for the other methods.
    half : array of shape (n_columns,)
        About half the width of each column, for bandwidths.
    epsilon : float
        Large where the structure should be found in few records, small where it should drown.
    options : dict
        Parameters of the estimator.
    """

    X: Any
    rows: np.ndarray
    half: np.ndarray
    epsilon: float
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def n_columns(self) -> int:
        """Number of features."""
        return self.rows.shape[1]


DATASETS: dict[str, Callable[[], Data]] = {}


def dataset(make: Callable[[], Data]) -> Callable[[], Data]:
    """Register a dataset under the name of its function; it is made once."""
    DATASETS[make.__name__] = cache(make)
    return DATASETS[make.__name__]


def blobs(n: int, centres: Any, spread: Any, seed: int) -> np.ndarray:
    """Return Gaussian groups of unequal sizes."""
    rng, middles = np.random.RandomState(seed), np.asarray(centres, dtype=float)
    weight = np.arange(1.0, len(middles) + 1)
    group = rng.choice(len(middles), n, p=weight / weight.sum())
    return middles[group] + spread * rng.standard_normal((n, middles.shape[1]))


def boxed(rows: np.ndarray, low: float, high: float, epsilon: float, **options: Any) -> Data:
    """Return an array with the same bounds for every column."""
    half = np.full(rows.shape[1], (high - low) / 2)
    return Data(rows, rows, half, epsilon, {"bounds": (low, high), **options})


@dataset
def blobs_2() -> Data:
    """Three groups in the plane."""
    return boxed(blobs(600, [[-5, -5], [5, -4], [0, 6]], 1.0, 0), -10, 10, 10.0)


@dataset
def bumps_1() -> Data:
    """One column, two bumps."""
    return boxed(blobs(500, [[-4], [3]], 1.0, 1), -10, 10, 5.0)


@dataset
def tight_1() -> Data:
    """One column, a narrow bump in wide bounds."""
    return boxed(blobs(500, [[-3], [2]], 1.0, 17), -500, 500, 20.0)


@dataset
def moons_2() -> Data:
    """Two bent shapes; the groups of a plane that are not round."""
    rng = np.random.RandomState(2)
    angle, side = rng.uniform(0, np.pi, 700), rng.randint(2, size=700)
    rows = np.column_stack([np.cos(angle) * (1 - 2 * side) + side, np.sin(angle) * (1 - 2 * side) + 0.5 * side])
    return boxed(rows + 0.06 * rng.standard_normal(rows.shape), -3, 3, 20.0)


@dataset
def uniform_2() -> Data:
    """No structure at all."""
    return boxed(np.random.RandomState(3).uniform(-1, 1, size=(300, 2)), -1, 1, 4.0)


@dataset
def drowned_2() -> Data:
    """Sixty records in a corner, and a budget that shows none of them."""
    return boxed(np.random.RandomState(4).uniform(0.8, 1.0, size=(60, 2)), -1, 1, 0.1)


@dataset
def drowned_8() -> Data:
    """The same in more columns, with the least of budgets."""
    return boxed(np.random.RandomState(16).uniform(-1, -0.5, size=(60, 8)), -1, 1, 0.01)


@dataset
def tight_3() -> Data:
    """Narrow groups in wide bounds."""
    return boxed(blobs(500, [[-400, 0, 300], [500, 500, -20], [0, -700, 0]], 1.0, 5), -1000, 1000, 30.0)


@dataset
def heavy_5() -> Data:
    """Heavy tails, cut off by the bounds."""
    return boxed(np.random.RandomState(6).standard_t(1.5, size=(400, 5)), -8, 8, 10.0)


@dataset
def blobs_12() -> Data:
    """Just enough columns for a search along principal axes."""
    return boxed(blobs(500, 3.0 * np.random.RandomState(7).standard_normal((3, 12)), 1.0, 7), -10, 10, 40.0)


@dataset
def blobs_20() -> Data:
    """More columns than votes are cast in."""
    return boxed(blobs(400, 3.0 * np.random.RandomState(8).standard_normal((4, 20)), 0.7, 8), -8, 8, 60.0)


def two_scales(scale_by_bounds: bool) -> Data:
    """Return a named frame with columns of different sizes, and bounds by name."""
    rows = blobs(400, [[20, 0.2, 1500], [60, 0.7, 4000], [35, 0.9, 2500]], [5, 0.05, 200], 9)
    frame = pd.DataFrame(rows, columns=["age", "share", "pay"])
    bounds = {"pay": (0.0, 6000.0), "age": (0.0, 110.0), "share": (0.0, 1.0)}
    half = np.array([55.0, 0.5, 3000.0])
    return Data(frame, rows, half, 15.0, {"bounds": bounds, "scale_by_bounds": scale_by_bounds})


@dataset
def frame_3_scaled() -> Data:
    """A frame with names, distances in units of the bounds."""
    return two_scales(True)


@dataset
def frame_3_unscaled() -> Data:
    """The same frame, distances as they are."""
    return two_scales(False)


@dataset
def ball_2() -> Data:
    """A ball as bounds, in the plane; some records outside."""
    rows = blobs(400, [[-2, 0], [2, 1]], 0.8, 10)
    return Data(rows, rows, np.full(2, 3.0), 8.0, {"bounds": knoll.Ball(3.0, (0.0, 0.5))})


@dataset
def ball_14() -> Data:
    """A ball as bounds, in many columns."""
    rows = blobs(400, 0.6 * np.random.RandomState(11).standard_normal((3, 14)), 0.2, 11)
    return Data(rows, rows, np.full(14, 4.0), 30.0, {"bounds": knoll.Ball(4.0, (0.0,) * 14)})


@dataset
def private_bounds_2() -> Data:
    """Bounds that are bought; an Arrow table."""
    rows = blobs(800, [[100, -3], [140, 3]], [5, 0.5], 12)
    table = pa.table({"size": rows[:, 0], "tilt": rows[:, 1]})
    return Data(table, rows, np.array([40.0, 5.0]), 10.0, {"bounds": "private"})


@dataset
def users_2() -> Data:
    """Users with several records each, of which three count; ids in the last column."""
    rows = blobs(600, [[-4, 2], [4, -2]], 1.0, 13)
    ids = np.random.RandomState(13).randint(150, size=600)
    half = np.full(2, 8.0)
    return Data(np.column_stack([rows, ids]), rows, half, 20.0, {"bounds": (-8, 8), "unit": knoll.User(2, 3)})


@dataset
def missing_2() -> Data:
    """Gaps: rows with a missing value, infinite ones, and null records."""
    rows = blobs(400, [[-4, 2], [4, -2]], 1.0, 14)
    gaps = rows.copy()
    gaps[::17, 1], gaps[5::41], gaps[7::53, 0] = np.nan, np.nan, np.inf
    whole = rows[np.isfinite(gaps).all(axis=1)]
    return Data(gaps, whole, np.full(2, 8.0), 10.0, {"bounds": (-8, 8), "missing": "drop"})


@dataset
def csv_2() -> Data:
    """A CSV file that is streamed: a column of text that is not used, two features and a gap."""
    rows = blobs(300, [[10, 2], [30, 7]], [2, 0.5], 15).round(3)
    lines = [f"p{i},{a},{'' if i == 9 else b}" for i, (a, b) in enumerate(rows.tolist())]
    path = Path(_folder().name) / "visits.csv"
    path.write_text("\n".join(["who,age,dose", *lines]) + "\n", encoding="utf-8")
    bounds = {"age": (0.0, 50.0), "dose": (0.0, 10.0)}
    return Data(path, np.delete(rows, 9, axis=0), np.array([25.0, 5.0]), 8.0, {"bounds": bounds, "missing": "drop"})


@dataset
def users_folder_3() -> Data:
    """A folder of parquet files; users by name, of which two records count."""
    rows = blobs(500, [[-4, 2, 0], [4, -2, 1]], 1.0, 18)
    who = [f"user {i}" for i in np.random.RandomState(18).randint(200, size=500)]
    table = pa.table({"a": rows[:, 0], "who": who, "b": rows[:, 1], "c": rows[:, 2]})
    folder = Path(_folder().name) / "parts"
    folder.mkdir()
    for name, first in {"1.parquet": 0, "2.parquet": 250}.items():
        pq.write_table(table.slice(first, 250), folder / name, row_group_size=100)
    options = {"bounds": {"a": (-8, 8), "b": (-8, 8), "c": (-8, 8)}, "unit": knoll.User("who", 2)}
    return Data(folder, rows, np.full(3, 8.0), 20.0, options)


@cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """Kept for the life of the process."""
    return tempfile.TemporaryDirectory()
