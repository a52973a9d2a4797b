"""What every estimator releases, written down once: the documents are made from it, and tests fit against it.

Nothing here runs in a fit. See `table.py` for the table, `grammar.py` for the words and numbers it is made of.
"""

from knoll.releases.grammar import Case, Fit
from knoll.releases.pages import names_table, releases_note, releases_table
from knoll.releases.table import BALANCED, BOUNDS, IMPUTED, OUTSIDE, RELEASES, assumed_public, case_of, counted

__all__ = [
    "BALANCED", "BOUNDS", "IMPUTED", "OUTSIDE", "RELEASES", "Case", "Fit", "assumed_public", "case_of", "counted",
    "names_table", "releases_note", "releases_table",
]  # fmt: skip
