"""A pipeline or a search holds estimators: find what it declares, and make its runs repeatable.

Only the whole is attacked, from outside. It declares what the `privacy_` of its innermost estimator will say, because
people read that.
"""

from typing import Any

from sklearn.base import clone

from knoll.audit.evidence import Guarantee
from knoll.privacy import Budget, PrivacyError
from knoll.queries import Ball, Box, domain_from
from knoll.queries.given import SPHERE

_SAME = {"n_jobs": None, "ledger": None, "error_score": "raise"}
"""Parameters that an audit sets wherever they are: noise is watched in one thread, no ledger is charged for made-up
data, and a search must not hide that a fit went another way."""


def innermost(mechanism: Any) -> Any:
    """Return the estimator whose statement people read: the last step, what a search chose or is about to fit.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import knoll
    >>> innermost(make_pipeline(StandardScaler(), knoll.Lloyd()))
    Lloyd()
    """
    while True:
        steps = getattr(mechanism, "steps", None)
        inner = steps[-1][1] if isinstance(steps, list) and steps else getattr(mechanism, "estimator", None)
        inner = getattr(mechanism, "best_estimator_", inner)
        if not hasattr(inner, "fit") or "epsilon" in getattr(mechanism, "get_params", dict)():
            return mechanism
        mechanism = inner


def setting(mechanism: Any, name: str, default: Any) -> Any:
    """Return a parameter of a mechanism: its own, or that of the estimator inside it."""
    return getattr(mechanism, name, getattr(innermost(mechanism), name, default))


def declared_by(mechanism: Any, epsilon: float | None, delta: float | None, gaussian: bool | None) -> Guarantee:
    """Return the guarantee to test: what was said, else what the mechanism says."""
    estimator = hasattr(mechanism, "fit")
    epsilon = setting(mechanism, "epsilon", None) if epsilon is None else epsilon
    delta = setting(mechanism, "delta", 0.0) if delta is None else delta
    if not estimator and not callable(mechanism):
        raise PrivacyError(f"{mechanism!r} is neither an estimator nor a function of rows")
    if epsilon is None:
        what = "estimator" if estimator else "callable"
        raise PrivacyError(f"say which epsilon the {what} declares: audit(..., epsilon=1.0)")
    if gaussian is None:
        gaussian = (estimator or getattr(mechanism, "gaussian", False)) and Budget(epsilon, delta).law.gdp
    return Guarantee(float(epsilon), float(delta), "gaussian" if gaussian else "approximate")


def title_of(mechanism: Any) -> str:
    """Return a name for what is audited.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import knoll
    >>> title_of(make_pipeline(StandardScaler(), knoll.Lloyd()))
    'Pipeline (StandardScaler, Lloyd)'
    """
    if hasattr(mechanism, "__name__"):
        return str(mechanism.__name__)
    steps = getattr(mechanism, "steps", None)
    inside = [each for _, each in steps] if isinstance(steps, list) else [innermost(mechanism)]
    names = [type(each).__name__ for each in inside if each is not mechanism]
    return type(mechanism).__name__ + (f" ({', '.join(names)})" if names else "")


def repeatable(mechanism: Any) -> Any:
    """Return a copy whose runs differ only by data and noise: the attacker knows the public randomness."""
    if not hasattr(mechanism, "get_params"):
        return mechanism
    mechanism = clone(mechanism)
    changed: dict[str, Any] = {}
    for path, value in mechanism.get_params(deep=True).items():
        name = path.rpartition("__")[2]
        if name == "random_state" and value is None:
            changed[path] = 0
        elif name in _SAME and value != _SAME[name]:
            changed[path] = _SAME[name]
        elif name == "bounds" and isinstance(value, dict):  # made-up rows have no names
            changed[path] = domain_of(value, len(value))
        elif not hasattr(value, "get_params") and getattr(value, "random_state", 0) is None:
            value.random_state = 0  # how a search splits the rows
    return mechanism.set_params(**changed) if changed else mechanism


def domain_of(bounds: Any, columns: int) -> Box | Ball:
    """Return the domain in which to choose neighbours: given bounds, else [-1, 1]^columns."""
    if isinstance(bounds, str) and bounds == SPHERE:
        return domain_from(bounds, columns)
    if bounds is None or isinstance(bounds, str):
        return Box((-1.0,) * columns, (1.0,) * columns)
    if isinstance(bounds, Box | Ball):
        return bounds
    if isinstance(bounds, dict):
        named = domain_from(bounds, len(bounds), list(map(str, bounds)))
        return domain_from((named.centre - named.half, named.centre + named.half), len(bounds))
    lengths = [len(side) for side in bounds if hasattr(side, "__len__")]
    return domain_from(bounds, lengths[0] if lengths else columns)
