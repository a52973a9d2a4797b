"""Words and tables about fitted models, from released values alone."""

from knoll.report.clusters import MEANING, centers_table, write_centers
from knoll.report.mixtures import components_table, write_components
from knoll.report.modes import write_curves, write_modes
from knoll.report.summary import summary_rows, write_summary

__all__ = [
    "MEANING",
    "centers_table",
    "components_table",
    "summary_rows",
    "write_centers",
    "write_components",
    "write_curves",
    "write_modes",
    "write_summary",
]
