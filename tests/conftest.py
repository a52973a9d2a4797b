import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from knoll.privacy import entropy

settings.register_profile("knoll", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("repeatable", settings.get_profile("knoll"), derandomize=True)


def pytest_addoption(parser):
    parser.addoption("--fresh", action="store_true", help="draw noise and examples anew, not as in the last run")


def pytest_configure(config):
    settings.load_profile("knoll" if config.getoption("--fresh") else "repeatable")


@pytest.fixture(autouse=True)
def _noise_of_its_own(request, monkeypatch):
    """Key noise and public randomness of this process by the test's name: what passes once passes again, in any order.

    The operating system's own entropy is left to `--fresh`, to processes that tests start, and to tests marked
    `fresh_noise`, which are about it.
    """
    if not (request.config.getoption("--fresh") or request.node.get_closest_marker("fresh_noise")):
        key = zlib.crc32(request.node.nodeid.encode())
        keys = np.random.default_rng(key)
        monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=keys.bytes))
        np.random.seed(key)  # noqa: NPY002 (what random_state=None draws from)


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
