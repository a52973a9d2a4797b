"""Words and tables about fitted models, from released values alone."""

from knoll.report.clusters import centers_table, write_centers

__all__ = ["centers_table", "write_centers"]
