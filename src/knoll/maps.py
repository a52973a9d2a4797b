"""Which columns are longitudes and latitudes: told by public names and bounds, or said by the user.

Only names, kinds and bounds are looked at, never released places: they say what a column *can* hold.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

LATITUDES = {"lat", "latitude", "breitengrad"}
LONGITUDES = {"lon", "lng", "long", "longitude", "längengrad", "laengengrad"}
DEGREE = 111.2  # kilometres that a degree of latitude is long
_WORD = re.compile(r"[A-ZÄÖÜ]?[a-zäöüß]+|[A-ZÄÖÜ]+|\d+")
_LEAST = 0.02  # of the cosine of a latitude: at the poles no map is wide enough


def map_pairs(model: Any, asked: Sequence[str] | bool | None = None) -> list[tuple[int, int]]:
    """Return the coordinates of a fitted model that are (longitude, latitude), pair by pair.

    Parameters
    ----------
    model : fitted estimator
        With `bounds_` and, if it has them, names of its columns.
    asked : pair of str, bool or None
        Names of the columns of longitudes and latitudes; False for none; None to be told by the names of the columns:
        ``lon`` and ``lat``, ``start_lng`` and ``start_lat``, ``pickupLongitude`` and ``pickupLatitude``.
    """
    names, bounds = _names(model), model.bounds_
    low, high = getattr(bounds, "ends", (bounds.centre - bounds.half, bounds.centre + bounds.half))
    if asked is False or names is None:
        return []
    if asked is None or asked is True:
        found = [pair for pair in named_pairs(names) if _on_earth(low, high, *pair) and _numbers(model, *pair)]
        if asked and not found:
            raise ValueError('no columns are called longitude and latitude; say which are: map=("x", "y")')
        return found
    if isinstance(asked, str) or len(asked) != 2 or not set(asked) <= set(names):
        raise ValueError(f"map must be the names of two columns, longitude and latitude, of {', '.join(names[:20])}")
    pair = names.index(asked[0]), names.index(asked[1])
    if not (_on_earth(low, high, *pair) and _numbers(model, *pair)):
        raise ValueError(f"{asked[0]} and {asked[1]} must be numbers with bounds in degrees: -180 to 180 and -90 to 90")
    return [pair]


def named_pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of columns whose names say longitude and latitude, and nothing else that differs.

    >>> named_pairs(["fare", "start_lat", "start_lng", "endLatitude", "endLongitude", "LAT"])
    [(2, 1), (4, 3)]
    """
    east, north = _called(names, LONGITUDES), _called(names, LATITUDES)
    return [(east[rest], north[rest]) for rest in east if rest in north]


def widening(latitude: float) -> float:
    """Return how many degrees of longitude are as long as one of latitude.

    >>> round(widening(60.0), 6)
    2.0
    """
    return 1 / max(_LEAST, float(np.cos(np.radians(latitude))))


def degrees_text(value: float, side: str) -> str:
    """Return degrees as maps write them, of "longitude" or "latitude".

    >>> degrees_text(-0.25, "longitude"), degrees_text(52.5, "latitude"), degrees_text(0, "latitude")
    ('0.25° W', '52.5° N', '0°')
    """
    value = (value + 180) % 360 - 180 if side == "longitude" and abs(value) > 180 else value
    mark = "EW" if side == "longitude" else "NS"
    shown = f"{abs(value):.6g}°"
    return shown if abs(value) < 1e-12 else f"{shown} {mark[int(value < 0)]}"


def _names(model: Any) -> list[str] | None:
    names = model.bounds_.names if hasattr(model, "columns_") else getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _called(names: Sequence[str], words: set[str]) -> dict[tuple[str, ...], int]:
    """Return the columns whose name has one of the words once, by the other words of their names."""
    found: dict[tuple[str, ...], int] = {}
    for i, name in enumerate(names):
        parts = [part.lower() for part in _WORD.findall(name)]
        rest = tuple(part for part in parts if part not in words)
        if len(rest) == len(parts) - 1:
            found.setdefault(rest, i)
    return found


def _on_earth(low: np.ndarray, high: np.ndarray, east: int, north: int) -> bool:
    """Tell whether the bounds of two coordinates are degrees."""
    across = low[east] >= -180 and high[east] <= 360 and high[east] - low[east] <= 360
    return bool(across and low[north] >= -90 and high[north] <= 90)


def _numbers(model: Any, *places: int) -> bool:
    """Tell whether coordinates are plain numbers: no logarithms, dates or shares."""
    if not hasattr(model, "columns_"):
        return True
    pairs = zip(model.columns_, model.bounds_.slices, strict=True)
    kinds = [kind for (_, kind), where in pairs for _ in range(where.start, where.stop)]
    return all(kinds[place].word == "number" for place in places)
