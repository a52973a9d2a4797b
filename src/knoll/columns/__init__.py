"""Kinds of columns: number, log, whole, boolean, category, ordered, date, cyclic.

They are declared, and public. Each turns the values of its column into one double, each value by itself; a product of
lines, corners and circles holds them all (`Columns.parts`).
"""

from knoll.columns.columns import Columns, as_columns
from knoll.columns.dates import Cyclic, Date
from knoll.columns.domain import domain_of, require_lines
from knoll.columns.kind import Kind
from knoll.columns.levels import Boolean, Category, Ordered
from knoll.columns.numbers import Log, Number, Whole
from knoll.columns.table import encode_table

__all__ = [
    "Boolean", "Category", "Columns", "Cyclic", "Date", "Kind", "Log", "Number", "Ordered", "Whole", "as_columns",
    "domain_of", "encode_table", "require_lines",
]  # fmt: skip
