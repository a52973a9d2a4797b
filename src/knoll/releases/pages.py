"""The table of releases for readers: as Markdown, and as a note in a docstring."""

import re
import textwrap

from knoll.releases.grammar import As, Case, Release
from knoll.releases.pieces import BALANCED, BOUNDS, IMPUTED, OUTSIDE
from knoll.releases.table import RELEASES

COMMON = (
    "Bought bounds come before that, as 3 to 5 `ColumnHistograms` and one `OutsideVotes`; means that fill in "
    "missing values, as one `ObservedMeans`. A range means that released values decide; logs are "
    "rounded up. All fitted attributes are post-processing of what was released. Assumed public: the parameters, given "
    "bounds, column names, and under the two replace relations the number of records."
)


def _steps(case: Case) -> str:
    """What a case releases, in words."""
    steps = "; ".join(step.words for step in case.steps)
    return f"{steps}. {case.note}" if case.note else steps


def releases_table() -> str:
    """Return the table as Markdown: a row for each case."""
    lines = ["| estimator | if | releases, in order | assumed public besides |", "|---|---|---|---|"]
    for name, cases in RELEASES.items():
        lines += [f"| `{name}` | {case.when.words} | {_steps(case)} | {', '.join(case.public)} |" for case in cases]
    return "\n".join(lines)


def names_table() -> str:
    """Return a Markdown table of what ``privacy_`` and the ledger call each query."""
    names: dict[str, list[str]] = {}
    for ask in [
        BOUNDS,
        OUTSIDE,
        IMPUTED,
        BALANCED,
        *(step for cases in RELEASES.values() for case in cases for step in _asks(case)),
    ]:
        known = names.setdefault(ask.query.__name__, [])
        known += [] if ask.name in known else [ask.name]
    rows = [f"| `{query}` | {'; '.join(known)} |" for query, known in sorted(names.items())]
    return "\n".join(["| query | called in `privacy_` and in the ledger |", "|---|---|", *rows])


def _asks(case: Case) -> list[Release]:
    return [step for step in case.steps if not isinstance(step, As)]


def releases_note(estimator: str) -> str:
    """Return what an estimator releases as a paragraph or list for its docstring, indented by four."""
    cases = RELEASES[estimator]
    if len(cases) == 1:
        return _indented(f"**Privacy.** Releases, in this order: {_steps(cases[0])}. {COMMON}")
    items = [_indented(f"- {case.when.words}: {_steps(case)}", "  ") for case in cases]
    return "\n    ".join(["**Privacy.** Releases, in this order:", "", *items, "", _indented(COMMON)]).replace(
        "\n    \n", "\n\n"
    )


def _indented(text: str, more: str = "") -> str:
    text = re.sub(r"`([^`]*=[^`]*)`", r"``\1``", text)  # code in docstrings has two backticks, names have one
    return textwrap.fill(text, 112, subsequent_indent="    " + more, break_long_words=False, break_on_hyphens=False)
