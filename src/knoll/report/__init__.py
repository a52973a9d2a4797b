"""Words and tables about fitted models, from released values alone."""

from knoll.report.clusters import MEANING, centers_table, write_centers
from knoll.report.mixtures import components_table, write_components
from knoll.report.modes import write_curves, write_modes
from knoll.report.rows import check_ending, write_rows
from knoll.report.summary import apart_lines, summary_rows, write_summary

__all__ = [
    "MEANING",
    "apart_lines",
    "centers_table",
    "check_ending",
    "components_table",
    "summary_rows",
    "write_centers",
    "write_components",
    "write_curves",
    "write_modes",
    "write_rows",
    "write_summary",
]
