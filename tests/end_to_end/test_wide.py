"""Tables of very many columns: cost grows with their number, not with its square; what makes no sense is refused."""

import time

import numpy as np
import pytest

import knoll
from knoll.columns.draft import draft_toml
from knoll.privacy import MemoryLedger
from knoll.privacy.errors import PrivacyError
from knoll.steps.refine import NUMBERS, POINTS, synthetic_points
from knoll.steps.tree import Leaves

_FEW, _TIMES = 400, 4  # four times the columns: eight times the work is allowed, sixteen would be the square


def _columns(number):
    return {f"c{j}": "int:0:50" if j % 2 else {"a", "b"} for j in range(number)}


def _file(folder, number, rows=60):
    rng = np.random.default_rng(0)
    cells = np.where(np.arange(number) % 2, rng.integers(0, 50, (rows, number)).astype(str), "a")
    path = folder / f"{number}.csv"
    lines = [",".join(_columns(number)), *(",".join(row) for row in cells)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _through(path, number):
    """Take a file from a draft of its columns to a summary, a page and labels."""
    draft_toml(path)
    model = knoll.KMeans(2, bounds=_columns(number), epsilon=100, random_state=0).fit(path)
    model.summary()
    model._repr_html_()
    knoll.save(model, path.with_suffix(".json"))
    return knoll.load(path.with_suffix(".json")).predict(path)


def test_cost_is_not_quadratic_in_columns(tmp_path):
    files = {number: _file(tmp_path, number) for number in (_FEW, _TIMES * _FEW)}
    _through(files[_FEW], _FEW)  # compiles, imports
    taken = {}
    for number, path in files.items():
        start = time.process_time()
        assert len(_through(path, number)) == 60
        taken[number] = time.process_time() - start
    assert taken[_TIMES * _FEW] < 2 * _TIMES * taken[_FEW]


@pytest.mark.parametrize(
    ("estimator", "number"),
    [
        (knoll.GaussianMixture(2), 3001),
        (knoll.MorseClustering(2), 1001),
        (knoll.ModeSeeking(), 401),
        (knoll.KernelDensity(), 401),
        (knoll.Profile(), 2001),
    ],
    ids=lambda each: type(each).__name__,
)
def test_too_many_columns_are_refused_before_a_spend(estimator, number):
    rows = np.random.default_rng(0).random((50, number))
    ledger = MemoryLedger()
    estimator.set_params(bounds=(0, 1), ledger=ledger)
    with pytest.raises(PrivacyError, match="too many for"):
        estimator.fit(rows)
    assert not ledger.lines


def test_the_draws_of_a_wide_start_are_bounded():
    wide = 10_000
    ones = np.ones((4, wide))
    leaves = Leaves(np.arange(4), np.full(4, 100.0), np.ones(4), 0 * ones, ones, -ones, ones)
    points, _ = synthetic_points(leaves, np.zeros((4, wide)), np.random.RandomState(0))
    assert points.size <= NUMBERS + 4 * wide < POINTS * wide
