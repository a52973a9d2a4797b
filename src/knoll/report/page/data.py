"""What was published, as data for programs: the block that a page carries beside its pictures."""

from dataclasses import asdict
from typing import Any

import numpy as np

MOST_NUMBERS = 12_000  # of one model: a page stays below 500 kB; the saved model has all


def published(result: Any, kind: str) -> dict[str, Any]:
    """Return everything that a result publishes, in JSON's types; of very large arrays, the shape alone."""
    if not hasattr(result, "privacy_"):
        return {"kind": kind, **_plain_result(result)}
    fitted: dict[str, Any] = {}
    left: dict[str, Any] = {}
    numbers = 0
    for name in sorted(result._published, key=lambda each: np.size(getattr(result, each))):
        array = np.asarray(getattr(result, name))
        numbers += array.size
        (fitted if numbers <= MOST_NUMBERS else left)[name] = array if numbers <= MOST_NUMBERS else list(array.shape)
    names = getattr(result, "feature_names_in_", None)
    quality = getattr(result, "quality_", None)
    return {
        "kind": kind,
        "estimator": type(result).__name__,
        "columns": None if names is None else [str(name) for name in names],
        "fitted": fitted,
        "too_large": left,
        "quality": None if quality is None else quality.to_dict(),
        "diagnostics": [asdict(each) for each in getattr(result, "diagnostics_", ())],
        "privacy": result.privacy_.to_dict(),
    }


def _plain_result(result: Any) -> dict[str, Any]:
    """Return a plan's table, or an audit's attacks."""
    if hasattr(result, "table"):
        return {"description": result.description, "recommended": result.recommended, "expected": result.table,
                "risks": [asdict(each) for each in result.risks]}  # fmt: skip
    return {
        "name": result.name, "epsilon": result.guarantee.epsilon, "delta": result.guarantee.delta,
        "confidence": result.confidence, "passed": result.passed, "attacks": [asdict(each) for each in result.attacks],
        "exact_cost": result.used, "leaks": list(result.leaks), "runs": result.runs,
    }  # fmt: skip
