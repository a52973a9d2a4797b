"""Every benchmark can be started: what it takes from the package is there."""

import importlib

import pytest

SUBJECTS = "bounds choose coverage diagnostics engines kmeans mixed mixtures modes morse profile small speed".split()  # noqa: SIM905


@pytest.mark.parametrize("subject", SUBJECTS)
def test_it_can_be_started(subject):
    assert importlib.import_module(f"benchmarks.{subject}.run")
