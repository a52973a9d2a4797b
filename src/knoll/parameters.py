"""Parameters that several estimators share, checked in one way: a value, or an error that says what would do."""

from numbers import Integral
from typing import Any

import numpy as np

from knoll.privacy import PrivacyError

MOST_CLUSTERS = 100_000
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


def check_count(name: str, value: Any, most: int) -> int:
    """Return a positive integer parameter, or explain what is wrong with it."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 1 <= int(value) <= most:
        raise PrivacyError(f"{name}={value!r} must be an integer from 1 to {most:,}")
    return int(value)


def check_preset(preset: Any) -> None:
    """Refuse an unknown preset."""
    if preset not in ("default", "paper"):
        raise PrivacyError(f'preset={preset!r} is not one of "default", "paper"')


def check_shape(covariance_type: Any, covariance_floor: Any) -> float:
    """Return the floor of standard deviations, as a fraction of the bounds, or explain what is wrong."""
    if covariance_type not in COVARIANCE_TYPES:
        raise PrivacyError(f"covariance_type={covariance_type!r} is not one of {', '.join(COVARIANCE_TYPES)}")
    try:
        number = float(covariance_floor)
    except (TypeError, ValueError):
        number = np.nan
    if not 1e-6 <= number <= 1.0:
        raise PrivacyError(
            f"covariance_floor={covariance_floor!r} must be a fraction of the bounds' half widths, from 1e-6 to 1"
        )
    return number
