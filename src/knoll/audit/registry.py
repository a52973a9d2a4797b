"""What `knoll audit` and `make audit` attack: one line per estimator, a factory each.

Add an estimator: add a line. The factory takes keyword parameters (epsilon, delta, relation, ...) and returns an
unfitted estimator for rows in the box [-1, 1]^2, or a callable from such rows to published numbers with the attributes
`epsilon`, `delta` and `relation`.
"""

from collections.abc import Callable
from typing import Any

import knoll
from knoll.privacy.errors import PrivacyError


def _centres(name: str, **fixed: Any) -> Callable[..., Any]:
    """Return a factory of a clusterer of three clusters in the box."""

    def make(**given: Any) -> Any:
        size = {} if "n_components" in fixed else {"n_clusters": 3}
        return getattr(knoll, name)(**{**size, "bounds": (-1.0, 1.0), "random_state": 0, **fixed, **given})

    return make


def _components(name: str, **fixed: Any) -> Callable[..., Any]:
    """Return a factory of a mixture of two components in the box."""
    return _centres(name, n_components=2, **fixed)


AUDITED: dict[str, Callable[..., Any]] = {
    "KMeans": _centres("KMeans"),
    "Lloyd": _centres("Lloyd"),
    "Lloyd, private bounds": _centres("Lloyd", bounds="private"),
    "FastLloyd": _centres("FastLloyd"),
    "PEMeans": _centres("PEMeans"),
    "LSHTree": _centres("LSHTree"),
    "Cubes": _centres("Cubes"),
    "GaussianMixture": _components("GaussianMixture"),
    "EMGaussianMixture": _components("EMGaussianMixture", start="packed", n_steps=2),
    "HardEMGaussianMixture": _components("HardEMGaussianMixture", start="packed", n_steps=2),
}


def make_audited(name: str, **parameters: Any) -> Any:
    """Return the audited estimator of this name with these parameters.

    >>> make_audited("Lloyd", epsilon=0.5).epsilon
    0.5
    """
    if name not in AUDITED:
        raise PrivacyError(f"no audit of {name!r}; there are {', '.join(AUDITED)}")
    if parameters.get("relation") == "replace_special":
        parameters["missing"] = "drop"
    return AUDITED[name](**parameters)
