"""knoll finds the structure in sensitive data under differential privacy.

Estimators follow scikit-learn: ``knoll.Lloyd(4, epsilon=1.0, bounds=(0, 1)).fit(X)``. Every fitted model prints what it
released and at what cost (``model.privacy_``) and may be published.

Names load when they are first used, so that ``import knoll`` stays quick.
"""

from importlib import import_module
from typing import Any

from knoll.registry import ESTIMATORS

__version__ = "0.1.0"

_WHERE = {
    "Ball": "knoll.queries",
    "Boolean": "knoll.columns",
    "Box": "knoll.queries",
    "Budget": "knoll.privacy",
    "Category": "knoll.columns",
    "Columns": "knoll.columns",
    "Cyclic": "knoll.columns",
    "Date": "knoll.columns",
    "Log": "knoll.columns",
    "Number": "knoll.columns",
    "Ordered": "knoll.columns",
    "Diagnostic": "knoll.diagnose",
    "DiagnosticWarning": "knoll.diagnose",
    "Ledger": "knoll.privacy.ledger",
    "Quality": "knoll.diagnose",
    "Record": "knoll.privacy",
    "Source": "knoll.source",
    "Table": "knoll.engines.sql",
    "User": "knoll.privacy",
    "Whole": "knoll.columns",
    "load": "knoll.model",
    "plan": "knoll.planning",
    "save": "knoll.model",
    "simulate_plan": "knoll.planning",
} | {each.name: each.module for each in ESTIMATORS}
_RENAMED = {"Ledger": "FileLedger"}
_ROOMS = {"audit", "datasets", "local", "morse", "planning", "plots", "reference", "testing"}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"knoll.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'knoll' has no attribute {name!r}")
    value = getattr(import_module(_WHERE[name]), _RENAMED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, *_ROOMS])
