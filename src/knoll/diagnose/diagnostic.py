"""One remark on a fit, and the warning that carries those of one fit."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Severity = Literal["info", "warning", "error"]

CODES = {
    "centres-on-bounds": "Centres lie on the bounds: the bounds cut the data.",
    "bounds-too-wide": "The bounds of a column are far wider than its data.",
    "bounds-in-doubt": "Bounds that were bought from the budget may cut more than 2 % of a column.",
    "raw-units": "Distances are in raw units, and one column's bounds are far wider than another's.",
    "clusters-not-seen": "Clusters, components or modes cannot be told from noise.",
    "too-many-clusters": "More clusters or components were asked for than the budget can see.",
    "number-of-clusters-in-doubt": "The number of clusters or components was chosen, and another fits nearly as well.",
    "few-records": "The number of records is small against the noise.",
    "column-without-differences": "No cluster differs from the others in a column.",
    "undeclared-levels": "Many values of a category are none of its declared levels.",
    "id-as-feature": "A column is used as a feature, and its name says that it is an id.",
    "seeded-noise": "The noise came from a test source: the result is not private.",
}
"""Every code there is, and what it means. Codes are stable: programs may compare them."""


class DiagnosticWarning(UserWarning):
    """Remarks on a fit that its user should read: see `diagnostics_`."""


@dataclass(frozen=True)
class Diagnostic:
    """A remark on a fit, from released values and public parameters alone. It costs no budget, and may be published.

    Attributes
    ----------
    code : str
        What it is about, as a stable word: docs/diagnostics.md lists them.
    severity : {"info", "warning", "error"}
        "error": the result is useless. "warning": a part of it is doubtful. "info": good to know.
    message : str
        What was seen.
    advice : str
        What to do about it.
    """

    code: str
    severity: Severity
    message: str
    advice: str

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(f"unknown code {self.code!r}")

    def __str__(self) -> str:
        return f"{self.severity}: {self.message} {self.advice} [{self.code}]"


def warn(estimator: str, found: Sequence[Diagnostic], stacklevel: int = 2) -> None:
    """Give one warning that lists all remarks from "warning" on; none if there are none."""
    serious = [each for each in found if each.severity != "info"]
    if serious:
        lines = "\n".join(f"  {each}" for each in serious)
        warnings.warn(f"{estimator}, see diagnostics_:\n{lines}", DiagnosticWarning, stacklevel=stacklevel + 1)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return names as a list in a sentence; long lists are cut."""
    shown, rest = list(names[:most]), len(names) - most
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
