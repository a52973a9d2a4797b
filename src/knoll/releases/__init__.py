"""What every estimator releases, written down once: the documents are made from it, and tests fit against it.

Nothing here runs in a fit. See `table.py` for the table, `pieces.py` and `grammar.py` for what it is made of, and
`following.py` for how fits are compared with it.
"""

from knoll.releases.following import assumed_public, case_of, counted
from knoll.releases.grammar import Case, Fit
from knoll.releases.pages import names_table, releases_note, releases_table
from knoll.releases.pieces import BALANCED, BOUNDS, IMPUTED, OUTSIDE
from knoll.releases.table import RELEASES

__all__ = [
    "BALANCED", "BOUNDS", "IMPUTED", "OUTSIDE", "RELEASES", "Case", "Fit", "assumed_public", "case_of", "counted",
    "names_table", "releases_note", "releases_table",
]  # fmt: skip
