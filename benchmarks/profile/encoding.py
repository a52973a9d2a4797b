"""What kinds of columns add to a pass: a table as people have it, against the same table as plain numbers.

Both are read from the same kind of file, or frame, and summed by the same query (count and means of eight cells). The
plain table is the same one, with codes in place of what is no number: numbers stay as they are written (amounts in
cents are compressed in a parquet file, and unpacking them takes longer than reading their logarithms, which are not).
They take turns, and the median of the ratios of the processor's time counts. A frame is encoded once for all passes of
a fit, here ten.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import knoll
from knoll.columns import Columns, domain_of, encode_table
from knoll.engines.decode import frame_to_doubles
from knoll.queries import CellMoments, Nearest
from knoll.source import open_array, open_source, open_table

ROWS, TURNS, PASSES, LIMIT = 300_000, 7, 10, 1.3
KINDS: dict[str, dict[str, Any]] = {
    "numbers": {f"x{j}": (0, 1000) for j in range(8)},
    "logs": {f"x{j}": knoll.Log(1, 1000) for j in range(8)},
    "mixed": {
        "age": (0, 110), "income": knoll.Log(100, 1_000_000), "visits": knoll.Whole(0, 50),
        "plan": knoll.Category("basic", "silver", "gold"), "smoker": bool, "size": knoll.Ordered("S", "M", "L"),
        "joined": ("2015-01-01", "2025-12-31"), "score": (0, 1),
    },
}  # fmt: skip


def made(what: str, rows: int) -> tuple[pd.DataFrame, Columns]:
    """Return a table and what is declared of it."""
    rng, columns = np.random.default_rng(1), Columns(KINDS[what])
    if what != "mixed":
        return pd.DataFrame({name: rng.uniform(1, 1000, rows).round(2) for name in columns.names}), columns
    table = {
        "age": rng.integers(18, 95, rows), "income": np.exp(rng.normal(10, 1, rows)).round(2),
        "visits": rng.poisson(5, rows), "plan": rng.choice(["basic", "silver", "gold", "trial"], rows),
        "smoker": rng.choice(["yes", "no"], rows), "size": rng.choice(["S", "M", "L"], rows),
        "joined": (np.datetime64("2016-01-01") + rng.integers(0, 3000, rows)).astype(str),
        "score": rng.random(rows).round(6),
    }  # fmt: skip
    return pd.DataFrame(table), columns


def _query(columns: Columns) -> CellMoments:
    domain = domain_of(columns)
    return CellMoments(Nearest(np.random.default_rng(0).uniform(-0.5, 0.5, (8, domain.n_columns)), domain))


def compared(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    """Return the processor's seconds of a pass with kinds, and the median of its ratios to the plain one."""
    ours(), theirs()
    pairs = [(_processor_seconds(ours), _processor_seconds(theirs)) for _ in range(TURNS)]
    return float(np.median([one for one, _ in pairs])), float(np.median([one / other for one, other in pairs]))


def _processor_seconds(work: Callable[[], Any]) -> float:
    """Return what all threads of the process spend: other work on the machine changes it little."""
    start = time.process_time()
    work()
    return time.process_time() - start


def _passes(form: str, folder: Path, table: pd.DataFrame, columns: Columns) -> tuple[Callable, Callable]:
    """Return a pass over the table with kinds, and one over plain numbers; both open what they read."""
    plain = pd.DataFrame(encode_table(columns, table), columns=list(columns.names))
    numbers = [name for name in table if pd.api.types.is_numeric_dtype(table[name])]
    plain[numbers] = table[numbers].astype(float)
    query, rules = _query(columns), {"missing": "drop", "unit": None}
    if form in ("csv", "parquet"):
        paths = [folder / f"{name}.{form}" for name in ("kinds", "plain")]
        for path, each in zip(paths, (table, plain), strict=True):
            each.to_csv(path, index=False) if form == "csv" else each.to_parquet(path, index=False)
        codes = knoll.Source(paths[1])
        return (
            lambda: open_table(columns, str(paths[0]), **rules)[0].aggregate(query),
            lambda: open_source(codes, None, **rules).aggregate(query),
        )
    frames = (table, plain) if form == "pandas" else (pl.from_pandas(table), pl.from_pandas(plain))
    return (
        lambda: _several(open_table(columns, frames[0], **rules)[0], query),
        lambda: _several(open_array(frame_to_doubles(frames[1]), None, None, **rules), query),
    )


def _several(engine: Any, query: CellMoments) -> None:
    """A table in memory is encoded once for all passes of a fit."""
    for _ in range(PASSES):
        engine.aggregate(query)


def encoding_rows() -> list[dict[str, Any]]:
    """Return a row for each kind of table and form."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what in KINDS:
            table, columns = made(what, ROWS)
            for form in ("csv", "parquet", "pandas", "polars"):
                seconds, ratio = compared(*_passes(form, Path(folder), table, columns))
                rows.append(
                    {"table": what, "form": form, "rows": f"{ROWS:,}", "seconds": f"{seconds:.3f}",
                     "against plain numbers": f"{ratio:.2f}", "limit": f"{LIMIT:g}"}
                )  # fmt: skip
                print(*rows[-1].values(), sep="  ", flush=True)
    return rows
