"""What runs on the respondent's side: one record in, one randomised report out. Nobody else sees the record.

A client is a small frozen object: public parameters, no data, no state. It pickles, and goes to and from JSON. Its
randomness comes from the operating system, through the kernel's entropy door.

Local differential privacy: for any two records x, x' and any set S of reports,
P(report(x) in S) <= e^epsilon P(report(x') in S) + delta. Probabilities are integers over 2^64, rounded to the private
side, so the ratio holds for the law that is really drawn.

A respondent's device gets its client from a server that it does not trust, so a client proves itself. Only public
parameters arrive. What a class computes from them (thresholds, noise scales) is never read from a document. However a
client is made (called, from JSON, copied, unpickled), the type and range of its parameters are checked, then its law.
That check takes the largest ratio of two probabilities, as a fraction of whole numbers from the very thresholds of the
draw. The ratio must not exceed a lower bound of e^epsilon (law.py). A client that fails is not made, and the check is
asked for again before every report. (A pickle is a program and can do anything; take a stranger's client as JSON.)
"""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from knoll.local.fields import box_of, finite_numbers, number
from knoll.privacy import Budget, Cost, DataError
from knoll.queries import Box


@dataclass(frozen=True)
class Client(ABC):
    """Base of clients.

    Attributes
    ----------
    epsilon, delta : float
        What one report costs its respondent.
    lower, upper : tuple of float
        Public bounds; a record outside is clipped to them.
    """

    epsilon: float
    delta: float
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        box = box_of(self.lower, self.upper)
        budget = Budget(number("epsilon", self.epsilon), number("delta", self.delta))
        known = {"epsilon": budget.epsilon, "delta": budget.delta, "lower": box.lower, "upper": box.upper}
        for name, value in (known | self._checked()).items():
            object.__setattr__(self, name, value)
        _ = self._lawful

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, each.name) for each in fields(self))

    def _checked(self) -> dict[str, Any]:
        """Return the fields that only this kind has, checked."""
        return {}

    @cached_property
    def _lawful(self) -> bool:
        self._check_law()
        return True

    @abstractmethod
    def _check_law(self) -> None:
        """Refuse a client whose reports tell more than its budget allows."""

    @property
    def box(self) -> Box:
        """The public bounds."""
        return Box(self.lower, self.upper)

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """Return what one report costs, recomputed from the probabilities or noise that are used."""

    def report(self, record: Any) -> Any:
        """Randomise one record: a number, or one number per column. The report is plain Python, fit for JSON."""
        d = len(self.lower)
        row = finite_numbers(record, d)
        if row.ndim > 1 or row.size != d:
            raise DataError(f"a record has {d} numbers")
        return self.reports(row.reshape(1, d))[0]

    def reports(self, X: Any) -> list[Any]:
        """Randomise many records, each on its own: a simulation, or a device with several."""
        d = len(self.lower)
        rows = finite_numbers(X, d)
        if rows.ndim != 2 or rows.shape[1] != d:
            raise DataError(f"records must be finite numbers, {d} each")
        _ = self._lawful  # a PrivacyError, and no report, unless the law was proven
        return self._randomise(rows)

    @abstractmethod
    def _randomise(self, rows: np.ndarray) -> list[Any]:
        """Return a report for each row."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python, for JSON."""
        return {"client": self.kind, **{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}}
