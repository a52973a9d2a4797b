"""A profile: the histogram, or the shares of levels, of every column."""

from typing import Any

import numpy as np

from knoll.report.clusters import count_with_error, with_error
from knoll.report.page.axes import columns_of, empty_axis
from knoll.report.page.found import Found, bars_figure, counted, in_data, rounded
from knoll.report.page.html import figure, paragraph, table, tag

MOST_FIGURES = 40  # columns that are drawn, as in the picture
_TOP = 1.25  # of the axis, above the highest bar
_DIGITS = 9  # days since 1970 with a fraction, numbers of a narrow range


def profile_found(model: Any) -> Found:
    """Return what a profile found."""
    header, rows = model.table()
    meaning, columns = model.meaning, columns_of(model)
    figures: dict[str, Any] = {}
    drawn = []
    for j, (name, kind, _) in enumerate(columns[:MOST_FIGURES]):
        levels = kind is not None and (kind.part[0] == "corners" or kind.word in ("boolean", "ordered"))
        figures[f"column{j}"] = _levels(model, name) if levels else _cells(model, j, name, kind)
        drawn.append(figure(f"column{j}", name, _missing(model, j)))
    more = [paragraph(f"The first {MOST_FIGURES} columns are drawn; the table has all.")][: len(columns) > MOST_FIGURES]
    words = [header.index("kind"), header.index("levels")]
    return Found(
        title=f"{counted(len(columns), 'column')}{in_data(model.privacy_, 'of')}",
        lead=f"A first look at {count_with_error(model.n_records_, model.n_records_stderr_)} records. It can be "
        "given as bounds= to any estimator.",
        facts=[("Columns", f"{len(columns):,}"), ("Records, about", f"{model.n_records_:,.0f}")],
        parts=[
            tag("div", *drawn, class_="pair"), *more, tag("h3", "All values"),
            table("Every column", header, rows, texts=[0, *words]),
        ],
        sure=[paragraph(f"{meaning}. Bands and bars in the pictures are two of them wide on each side.")],
        figures=figures,
    )  # fmt: skip


def _missing(model: Any, j: int) -> str:
    share, error = 100 * model.missing_shares_[j], 100 * model.missing_shares_stderr_[j]
    return f"{with_error(share, error)} % missing." if share >= max(0.05, 2 * error) else ""


def _levels(model: Any, name: str) -> dict[str, Any]:
    """Return bars of the levels, the largest first; ordered ones in their order."""
    found = model.histogram(name, None)
    share, error = np.array(found["share"]), np.array(found["share ±"])
    in_order = model.columns_[name].word == "ordered"
    order = np.arange(len(share)) if in_order else np.argsort(-share, kind="stable")
    rows = [
        {"label": str(found["level"][i]), "value": float(share[i]), "error": float(error[i]), "mark": 0,
         "text": f"{with_error(100 * share[i], 100 * error[i])} %"}
        for i in order
    ]  # fmt: skip
    return bars_figure(rows, "share", kind="share")


def _cells(model: Any, j: int, name: str, kind: Any) -> dict[str, Any]:
    """Return the density of a column as steps, with a band of two standard errors."""
    ends, share, error = model.drawn(j)
    width = np.diff(ends)
    top = max(float((share / width).max()), 1e-300)
    density, noise = share / width / top, 2 * error / width / top
    turn = (kind.start, kind.period) if kind is not None and kind.word == "cyclic" else (0.0, 1.0)
    ends = turn[0] + turn[1] * ends
    steps = rounded(np.repeat(ends, 2)[1:-1], _DIGITS)
    band = [rounded(np.repeat(np.clip(each, 0.0, _TOP), 2)) for each in (density - noise, density + noise)]
    word = "number" if kind is None or kind.word == "cyclic" else empty_axis(model, name, kind, 0).kind
    return {
        "type": "xy", "narrow": True,
        "x": {"label": name, "kind": word, "low": float(ends[0]), "high": float(ends[-1])},
        "y": {"label": "density, highest = 1", "kind": "number", "low": 0.0, "high": _TOP},
        "layers": [
            {"draw": "stairs", "edges": rounded(ends, _DIGITS), "y": rounded(density)},
            {"draw": "band", "x": steps, "low": band[0], "high": band[1]},
        ],
    }  # fmt: skip
