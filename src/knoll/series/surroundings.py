"""Where a kernel sum lives."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Surroundings:
    """Where a release lives: its domain, the scales of the columns, and limits of the release."""

    domain: Any
    scales: np.ndarray
    pure: bool
    most_features: int

    @property
    def low(self) -> np.ndarray:
        """Lower corner."""
        return self.domain.centre - self.domain.half

    @property
    def high(self) -> np.ndarray:
        """Upper corner."""
        return self.domain.centre + self.domain.half

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.domain.n_columns
