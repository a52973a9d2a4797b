"""What a kernel blurred is restored."""

import numpy as np

import knoll
from knoll.reference import nonprivate_partial_mean_shift
from knoll.testing import seeded_noise
from tests.made import branches


def test_a_restored_sum_is_nearer_to_the_records():
    x, y = branches(1000)
    with seeded_noise(0):
        model = knoll.ModalRegression((0.1, 0.3), epsilon=0.5, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
    series, known = model.series_, model.series_.stderr > 0
    exact = series.lattice.basis(0, x[:, 0]).T @ series.lattice.basis(1, y)
    far, near = (
        np.square((found.totals - exact)[known] / series.stderr[known]).sum() for found in (series, model.restored_)
    )
    assert near < 0.7 * far


def test_steps_on_a_restored_sum_end_nearer_to_those_on_the_records(monkeypatch):
    x, y = branches(1000)
    target = nonprivate_partial_mean_shift(x, y, x, y, (0.1, 0.3), steps=7, tolerance=0.0)
    errors = []
    for seed in range(6):
        with seeded_noise(seed):
            model = knoll.ModalRegression((0.1, 0.3), epsilon=0.2, bounds=([0, -2], [1, 5]), random_state=0).fit(x, y)
        ends = [model.ascend(x, y, 7), model.ascend(x, y, 7, restore=True)]
        del model.restored_
        with monkeypatch.context() as patch:
            patch.setattr("knoll.series.restore.PASSES", 1)
            ends.append(model.ascend(x, y, 7, restore=True))
        errors.append([np.mean((end - target) ** 2) for end in ends])
    released, restored, without_powers = np.mean(errors, axis=0)
    assert restored < 0.7 * released
    assert restored < without_powers
