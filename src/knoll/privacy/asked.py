"""What the door needs to know of a query; `knoll.queries.Query` implements it."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from knoll.privacy.relation import Relation

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Answerable(Protocol):
    """A query whose total an engine can sum, and whose noise can be calibrated."""

    name: str
    shape: tuple[int, ...]
    weights: Integers
    step: Floats
    touched: int
    largest: int

    def sensitivity(self, relation: Relation, norm: int) -> float:
        """Return the largest change of the weighted total between neighbours."""
        ...

    def summarise(self, block: Floats) -> Integers:
        """Return the exact total over a block of records."""
        ...
