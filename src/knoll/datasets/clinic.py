"""Made-up visits to a clinic: four groups of patients, in the disorder of a real export."""

import csv
from os import PathLike

import numpy as np

COLUMNS = ("age", "bmi", "systolic")
BOUNDS = {"age": (0.0, 110.0), "bmi": (10.0, 60.0), "systolic": (70.0, 230.0)}
USER, MOST_VISITS = "patient", 2  # the column that says whose visit it is, and how often a patient comes at most
_GROUPS = (
    # share, means and standard deviations of age, bmi, systolic pressure
    (0.20, (8.0, 17.0, 100.0), (4.0, 2.0, 8.0)),
    (0.35, (31.0, 23.5, 117.0), (7.0, 2.6, 9.0)),
    (0.25, (52.0, 34.0, 146.0), (8.0, 3.6, 11.0)),
    (0.20, (76.0, 26.0, 158.0), (7.0, 3.0, 13.0)),
)


def clinic_visits(n: int = 20_000, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return made-up visits (age, bmi, systolic pressure) and the group of each.

    >>> X, y = clinic_visits(1000)
    >>> X.shape, len(set(y.tolist()))
    ((1000, 3), 4)
    """
    rng = np.random.default_rng(random_state)
    group = rng.choice(len(_GROUPS), size=n, p=[share for share, *_ in _GROUPS])
    means, spreads = np.array([g[1] for g in _GROUPS]), np.array([g[2] for g in _GROUPS])
    rows = means[group] + spreads[group] * rng.standard_normal((n, 3))
    rows[:, 0] = np.abs(rows[:, 0])
    return rows.round(1), group


def write_clinic_csv(path: str | PathLike[str], n: int = 20_000, random_state: int = 0) -> None:
    """Write made-up visits as a messy CSV: notes, gaps, a few impossible values, and patients who come twice."""
    rng = np.random.default_rng(random_state + 1)
    rows, _ = clinic_visits(n, random_state)
    gap = rng.random(rows.shape) < 0.01
    slip = rng.random(rows.shape) < 0.0005
    notes = np.array(["", "follow-up", "new patient", "see letter, p. 2"])[rng.integers(0, 4, size=n)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([USER, *COLUMNS, "note"])
        for i, row in enumerate(rows):
            cells = ["NA" if gap[i, j] else f"{row[j] * (100 if slip[i, j] else 1):.1f}" for j in range(3)]
            table.writerow([f"P{i % max(1, n * 2 // 3):06d}", *cells, notes[i]])
