"""The contracts hold for any number of tries, so the choice of k tries few."""

import pytest

from knoll.steps import choose


@pytest.fixture(autouse=True)
def few_tries(monkeypatch):
    monkeypatch.setattr(choose, "MOST", 5)
    monkeypatch.setattr(choose, "REDRAWS", 2)
