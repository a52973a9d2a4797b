"""Every benchmark can be started: what it takes from the package is there."""

import importlib

import pytest

SUBJECTS = (
    *("bounds", "choose", "coverage", "diagnostics", "engines", "kmeans", "mixed", "mixtures", "modes", "morse"),
    *("profile", "small", "speed", "topics"),
)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_it_can_be_started(subject):
    assert importlib.import_module(f"benchmarks.{subject}.run")


def test_the_cost_model_adds_up():
    from benchmarks.engines.model import Costs, table_of

    costs = Costs("Dask", passes=20, row=1e-6, task=1e-3, fixed=0.5)
    assert costs.a_pass(1e12, 1000) == 0.5 + 1e-3 * 1e5 + 1000.0
    assert costs.a_pass(1e9, 1000) == 0.5 + 1.0 + 1.0  # a task for each core
    assert table_of([costs])[-1]["Dask, a fit, minutes"] == "367"


def test_the_page_has_the_tables_that_were_measured():
    from benchmarks.engines import page

    assert page.written(page.PAGE.read_text()) == page.PAGE.read_text()
