"""The columns of a fitted model as axes, in the user's terms.

An axis holds a value and an error of each cluster in the units that are drawn: days of a date, logarithms of base two,
shares of a level. The script knows by the word of its kind how to write ticks; the texts beside marks are made here.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from knoll.maps import map_pairs
from knoll.report.clusters import NOT_SEEN, with_error

MapAsked = tuple[str, str] | bool | None
MOST_AXES = 200  # columns that can be chosen: more would make the page slow and large


@dataclass
class Axis:
    """One axis: what is drawn of a column.

    Attributes
    ----------
    label : str
        Its name.
    kind : str
        How ticks are written: "number", "log", "date", "share" or "levels".
    low, high : float
        The bounds, in drawn units.
    at, error : list of float
        Places of the marks, and their standard errors.
    text : list of str
        Both in words.
    spread : list of float or None
        Standard deviations of the records about them, if they were released.
    place : int or None
        The coordinate of the model that is drawn; None if it is made of several.
    levels : list of str
        Names at 0, 1, 2, ... of ordered levels.
    longitude, latitude : int or None
        The number of the map on which it goes across, or up.
    """

    label: str
    kind: str
    low: float
    high: float
    at: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    spread: list[float] | None = None
    place: int | None = None
    levels: list[str] = field(default_factory=list)
    longitude: int | None = None
    latitude: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what the script reads."""
        return {name: value for name, value in asdict(self).items() if value not in (None, [])}


def axes_of(
    model: Any, points: np.ndarray, errors: np.ndarray, spreads: np.ndarray | None = None, map: MapAsked = None
) -> list[Axis]:
    """Return the axes of a model and where marks stand on them.

    Parameters
    ----------
    model : fitted estimator
        With `bounds_` and, if kinds were declared, `columns_`.
    points, errors : arrays of shape (k, n_coordinates)
        Released places and their standard errors.
    spreads : array of shape (k, n_coordinates), optional
        Released standard deviations of the records.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes; by default, their names tell.
    """
    found: list[Axis] = []
    for name, kind, where in columns_of(model):
        if kind is not None and kind.word == "cyclic":
            found.append(_circle(name, kind, points[:, where], errors[:, where]))
            continue
        names = [name] if kind is None else kind.coordinates(name)
        for each, j in zip(names, range(where.start, where.stop), strict=True):
            axis = empty_axis(model, each, kind, j)
            axis.at, axis.error = points[:, j].tolist(), errors[:, j].tolist()
            axis.text = [value_text(kind, *pair) for pair in zip(points[:, j], errors[:, j], strict=True)]
            axis.spread = None if spreads is None else spreads[:, j].tolist()
            found.append(axis)
        if len(found) >= MOST_AXES:
            break
    return on_maps(model, found[:MOST_AXES], map)


def on_maps(model: Any, axes: list[Axis], map: MapAsked = None) -> list[Axis]:
    """Mark the axes of longitudes and latitudes."""
    for number, (east, north) in enumerate(map_pairs(model, map)):
        for axis in axes:
            axis.longitude = number if axis.place == east else axis.longitude
            axis.latitude = number if axis.place == north else axis.latitude
    return axes


def columns_of(model: Any) -> list[tuple[str, Any, slice]]:
    """Return name, kind and coordinates of every column; no kind where bounds are numbers."""
    if hasattr(model, "columns_"):
        pairs = zip(model.columns_, model.bounds_.slices, strict=True)
        return [(str(name), kind, where) for (name, kind), where in pairs]
    names = getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    return [(str(name), None, slice(j, j + 1)) for j, name in enumerate(names)]


def empty_axis(model: Any, name: str, kind: Any, j: int) -> Axis:
    """Return the axis of one coordinate, without marks."""
    bounds = model.bounds_
    low, high = getattr(bounds, "ends", (bounds.centre - bounds.half, bounds.centre + bounds.half))
    word = "number" if kind is None else {"whole": "number"}.get(kind.word, kind.word)
    if kind is not None and (kind.part[0] == "corners" or word == "boolean"):
        word = "share"
    axis = Axis(name, word, float(low[j]), float(high[j]), place=j)
    if word == "ordered":
        axis.kind, axis.levels = "levels", [str(level) for level in kind.levels]
    return axis


def value_text(kind: Any, value: float, error: float) -> str:
    """Return a released value and its error in the user's terms, as in the model's summary."""
    word = "" if kind is None else kind.word
    if not np.isfinite(error):
        return NOT_SEEN
    if kind is not None and (kind.part[0] == "corners" or word == "boolean"):
        return f"{with_error(100 * value, 100 * error)} %"
    if word == "date":
        return f"{kind.decode(np.array([value]))[0]} ± {error:.{1 if error < 10 else 0}f} days"
    if word == "log":
        centre = float(kind.decode(np.array([value]))[0])
        return with_error(centre, centre * float(np.exp2(min(error, 60.0)) - 1))
    return with_error(float(value), float(error))


def two_widest(axes: list[Axis]) -> tuple[int, int | None]:
    """Return the axes of a map, if there is one; or the two in which marks differ most, of numbers if there are two."""
    if len(axes) == 1:
        return 0, None
    sides = [{axis.longitude: i for i, axis in enumerate(axes)}, {axis.latitude: i for i, axis in enumerate(axes)}]
    if all(0 in each for each in sides):
        return sides[0][0], sides[1][0]
    lines = [i for i, axis in enumerate(axes) if axis.kind not in ("share", "levels")]
    among = lines if len(lines) >= 2 else list(range(len(axes)))
    spread = [np.std(axes[i].at) / max(axes[i].high - axes[i].low, 1e-300) if axes[i].at else 0.0 for i in among]
    first, second = sorted(among[i] for i in np.argsort(-np.array(spread), kind="stable")[:2])
    return first, second


def _circle(name: str, kind: Any, points: np.ndarray, errors: np.ndarray) -> Axis:
    """Return the axis of a circle: the middle of each cluster's records on it, from its start to a period later."""
    turn = np.mod(np.arctan2(points[:, 1], points[:, 0]) / (2 * np.pi), 1.0)
    length = np.maximum(np.linalg.norm(points, axis=1), 1e-9)
    at = kind.start + kind.period * turn
    error = errors.max(axis=1) / length / (2 * np.pi) * kind.period
    text = [with_error(value, each) for value, each in zip(at.tolist(), error.tolist(), strict=True)]
    low, high = float(kind.start), float(kind.start + kind.period)
    return Axis(name, "number", low, high, at.tolist(), error.tolist(), text)
