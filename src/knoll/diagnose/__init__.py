"""Remarks on a fit and its quality, from released values and public parameters alone: free of budget.

facts        what a diagnosis reads, the same for every kind of estimator
checks       one function for each code, by subject: bounds, groups, columns, trust
quality      how well clusters fit the records, with standard errors
"""

from knoll.diagnose.checks import diagnose
from knoll.diagnose.diagnosed import Diagnosed
from knoll.diagnose.diagnostic import CODES, Diagnostic, DiagnosticWarning
from knoll.diagnose.facts import Facts, chosen, facts_of, quietest, visible
from knoll.diagnose.quality import CellSums, Quality, quality_of_cells, quality_of_mixture

__all__ = [
    "CODES",
    "CellSums",
    "Diagnosed",
    "Diagnostic",
    "DiagnosticWarning",
    "Facts",
    "Quality",
    "chosen",
    "diagnose",
    "facts_of",
    "quality_of_cells",
    "quality_of_mixture",
    "quietest",
    "visible",
]
