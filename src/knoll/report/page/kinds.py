"""Which kind of report a result gets: the first line whose attribute it has. A new kind is a builder and a line."""

from collections.abc import Callable
from typing import Any

from knoll.report.page.audit import audit_found
from knoll.report.page.clusters import clusters_found
from knoll.report.page.curves import curves_found
from knoll.report.page.found import Found
from knoll.report.page.mixtures import mixture_found
from knoll.report.page.modes import modes_found
from knoll.report.page.morse import morse_found
from knoll.report.page.plan import plan_found
from knoll.report.page.profile import profile_found
from knoll.report.page.topics import topics_found

KINDS: tuple[tuple[str, str, Callable[..., Found]], ...] = (
    ("topics", "word_counts_", topics_found),
    ("morse", "dendrogram_", morse_found),
    ("clusters", "cluster_centers_", clusters_found),
    ("mixture", "weights_", mixture_found),
    ("curves", "curves", curves_found),
    ("modes", "totals_", modes_found),
    ("profile", "cell_shares_", profile_found),
    ("plan", "risks", plan_found),
    ("audit", "attacks", audit_found),
)
"""Name, the attribute that tells it, and the builder."""
MAPS = {"morse", "clusters", "mixture", "modes"}
"""Those that can draw a map."""


def kind_of(result: Any) -> tuple[str, Callable[..., Found]]:
    """Return the kind of a result and its builder; a TypeError if there is none."""
    for name, attribute, build in KINDS:
        if hasattr(result, attribute):
            return name, build
    raise TypeError(f"no report of {type(result).__name__}: it is not fitted, or of no kind that has one")
