"""Every estimator, registered once.

From here come the names of the package, the methods of the commands, the kinds of saved models, the contract tests,
the audits and the transcripts. What an estimator releases is said in `knoll.releases`; a test asks for it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Registered:
    """An estimator.

    Attributes
    ----------
    name, module : str
        The class, and the module that holds it.
    command, method : str or None
        The command that offers it, and its word there: ``knoll cluster --method lloyd``. The first of a command is its
        default.
    example : mapping
        Parameters of a small fit in the box [-1, 1]^d: contract tests and transcripts use it.
    attack : mapping or None
        Parameters of the fit that audits attack, if it is another one.
    local : bool
        Whether it fits reports of respondents instead of records.
    """

    name: str
    module: str
    command: str | None = None
    method: str | None = None
    example: Mapping[str, Any] = field(default_factory=dict)
    attack: Mapping[str, Any] | None = None
    local: bool = False

    @property
    def room(self) -> str:
        """The package that holds its module, which has its name too."""
        return self.module.rpartition(".")[0]

    def load(self) -> Any:
        """Return the class."""
        return getattr(import_module(self.module), self.name)


def _clusterer(name: str, module: str, method: str, **more: Any) -> Registered:
    more = {"example": {"n_clusters": 3}, **more}
    return Registered(name, f"knoll.cluster.{module}", "cluster", method, **more)


def _mixture(name: str, module: str, method: str, **more: Any) -> Registered:
    return Registered(name, f"knoll.mixture.{module}", "mixture", method, **more)


_PACKED = {"n_components": 2, "start": "packed", "n_steps": 2}

ESTIMATORS = (
    _clusterer("KMeans", "kmeans", "kmeans"),
    _clusterer("Lloyd", "lloyd", "lloyd"),
    _clusterer("FastLloyd", "fast_lloyd", "fast-lloyd"),
    _clusterer("PEMeans", "pe_means", "pe-means"),
    _clusterer("LSHTree", "lsh_tree", "lsh-tree"),
    _clusterer("Cubes", "cubes", "cubes"),
    Registered("TopicMap", "knoll.cluster.topics", example={"n_clusters": 3, "bounds": "sphere"}),
    _clusterer(
        "SphericalKMeans", "spherical", "spherical-kmeans", example={"n_clusters": 3, "bounds": "sphere"}
    ),
    _clusterer("MorseClustering", "morse", "morse", example={"n_clusters": 2, "n_subclusters": 6}),
    Registered("ModeClustering", "knoll.modes.mode_clustering", example={"n_clusters": 3}, attack={}),
    _mixture("GaussianMixture", "central", "central", example={"n_components": 3}, attack={"n_components": 2}),
    _mixture("EMGaussianMixture", "em", "em", example=_PACKED),
    _mixture("HardEMGaussianMixture", "hard_em", "hard-em", example=_PACKED),
    Registered("KernelDensity", "knoll.modes.density", example={"bandwidth": "private", "n_frequencies": 64}),
    Registered(
        "ModeSeeking", "knoll.modes.mode_seeking", example={"bandwidth": 0.25, "n_frequencies": 64},
        attack={"n_frequencies": 64},
    ),
    Registered("ModalRegression", "knoll.modes.modal_regression", example={"bandwidth": 0.3, "n_frequencies": 64}),
    Registered("Profile", "knoll.profile.profile", example={"missing": "refuse"}),
    Registered("LocalGaussianMixture", "knoll.local.mixture", local=True),
)  # fmt: skip


def methods(command: str) -> dict[str, str]:
    """Return the methods that a command offers, by their word there: the name of the class.

    >>> methods("mixture")
    {'central': 'GaussianMixture', 'em': 'EMGaussianMixture', 'hard-em': 'HardEMGaussianMixture'}
    """
    return {each.method: each.name for each in ESTIMATORS if each.command == command and each.method}


def exports(room: str, **others: str) -> tuple[list[str], Callable[[str], Any]]:
    """Return `__all__` and `__getattr__` of a package: its estimators, and other names by their modules.

    They load when they are first used.
    """
    where = {each.name: each.module for each in ESTIMATORS if each.room == room} | others

    def load(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(where[name]), name)

    return sorted(where), load
