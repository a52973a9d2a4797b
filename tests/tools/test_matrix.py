"""The matrix of versions knows every dependency, and floors are old enough to shut nobody out."""

import re

from tools import matrix


def test_every_dependency_has_a_floor_and_a_column():
    assert set(matrix.floors()) == set(matrix.OURS.split())


def test_floors_are_two_years_old_or_older():
    newest = {"scikit-learn": (1, 5), "numpy": (2, 1), "scipy": (1, 14), "pandas": (2, 2), "pyarrow": (18,)}
    for name, most in newest.items():
        low = tuple(map(int, re.findall(r"\d+", matrix.floors()[name])))
        assert low[: len(most)] <= most, name
