import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("knoll", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("knoll")


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
