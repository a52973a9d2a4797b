"""Neighbouring datasets chosen to hurt."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.privacy.relation import Relation


@dataclass(frozen=True)
class Pair:
    """Two neighbours: `without` the canary and `present` with it.

    Attributes
    ----------
    name : str
        What makes it hurt.
    without, present : array of shape (rows, columns)
        The neighbours.
    canary : array of shape (columns,)
        The record in question, within the bounds: where an attacker looks.
    """

    name: str
    without: np.ndarray
    present: np.ndarray
    canary: np.ndarray


def hurtful_pairs(
    columns: int = 2, *, rows: int = 24, relation: str = "add_remove", lower: Any = -1.0, upper: Any = 1.0
) -> list[Pair]:
    """Return pairs of neighbours in the box [lower, upper]^columns.

    There are few records, so that one more is as visible as it can be. The canary is, in turn: a far outlier, alone in
    its cell, in a corner of the bounds, in a cluster that is otherwise empty, a duplicate, beside a single other.

    Parameters
    ----------
    columns, rows : int
        Shape of the data.
    relation : {"add_remove", "replace_special", "replace_one"}
        Under replace_special the canary becomes a row of NaN; under replace_one it moves to the opposite side.
    lower, upper : float or array of shape (columns,)
        Bounds of every column, or of each.

    Examples
    --------
    >>> [pair.name for pair in hurtful_pairs()][:3]
    ['a far outlier', 'alone in its cell', 'on the boundary']
    """
    rng = np.random.default_rng(0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    signs = np.where(np.arange(columns) % 2, -1.0, 1.0)
    blobs = np.array([-0.6 * signs, 0.1 * np.ones(columns), -0.5 * np.ones(columns)])
    crowd = np.clip(blobs[np.arange(rows) % 3] + rng.normal(scale=0.05, size=(rows, columns)), -1, 1)
    one_place = np.clip(-0.5 * signs + rng.normal(scale=0.02, size=(rows, columns)), -1, 1)
    cases = {
        "a far outlier": (crowd, 1e9 * signs),
        "alone in its cell": (crowd, 0.8 * signs),
        "on the boundary": (crowd, np.ones(columns)),
        "an empty cluster": (one_place, signs),
        "a duplicate": (np.tile(crowd[:1], (rows, 1)), crowd[0]),
        "one of two": (crowd[:1], signs),
    }
    kind = Relation.parse(relation)
    pairs = []
    for name, (others, canary) in cases.items():
        if kind is Relation.ADD_REMOVE:
            without = others
        else:
            instead = np.full(columns, np.nan) if kind is Relation.REPLACE_SPECIAL else -canary
            without = np.vstack([others, instead])
        present = np.vstack([others, canary])
        seen = middle + half * np.clip(canary, -1, 1)
        pairs.append(Pair(name, middle + half * without, middle + half * present, seen))
    return pairs
