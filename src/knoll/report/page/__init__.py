"""A report as one HTML file: what was found, how sure it is, what it cost, how to use it. From released values alone.

html       elements; what is not made there is text, and is escaped
document   the whole page with style, script and data, under a policy that lets nothing else load
axes       columns in the user's terms
kinds      which builder makes the first section: topics, clusters, morse, mixtures, modes, curves, profile, plan, audit
sure, cost, use   the sections that all models share
static/    style and script
"""

from os import PathLike
from pathlib import Path
from typing import Any

from knoll.report.page.axes import MapAsked
from knoll.report.page.cost import cost_part, ledger_part
from knoll.report.page.data import published
from knoll.report.page.document import Page, Section, document
from knoll.report.page.html import facts
from knoll.report.page.kinds import MAPS, kind_of
from knoll.report.page.sure import sure_part
from knoll.report.page.use import use_part

__all__ = ["report_html", "write_report"]


def write_report(result: Any, path: str | PathLike[str], *, command: str | None = None, map: MapAsked = None) -> None:
    """Write a report of a fitted model, a plan or an audit as one HTML file. It costs no budget.

    Parameters
    ----------
    result : fitted estimator, SimulatedPlan or Audit
        What to report on. Only released values and public parameters are shown.
    path : path-like
        The file to write; replaced in one step if it exists.
    command : str, optional
        The command that made it, to be shown.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes, which are drawn as a map; by default, their names tell.
    """
    path = Path(path)
    draft = path.with_name(path.name + ".part")
    draft.write_text(report_html(result, command=command, map=map), encoding="utf-8", errors="replace")
    draft.replace(path)


def report_html(result: Any, *, command: str | None = None, map: MapAsked = None) -> str:
    """Return the report as text."""
    return document(page_of(result, command, map))


def page_of(result: Any, command: str | None = None, map: MapAsked = None) -> Page:
    """Return what the report shows."""
    kind, build = kind_of(result)
    if map is not None and kind not in MAPS:
        raise TypeError(f"no map of {type(result).__name__}: leave map out")
    found = build(result) if map is None else build(result, map)
    privacy = getattr(result, "privacy_", None)
    sections = [Section("found", "What was found", found.parts)]
    figures, top, warning = dict(found.figures), list(found.facts), ""
    sure = [*found.sure, *(sure_part(result) if privacy is not None else [])]
    sections.append(Section("sure", "How sure it is", sure))
    if privacy is not None:
        cost, drawn = cost_part(privacy)
        figures |= drawn
        warning = privacy.warning
        sections.append(Section("cost", "What it cost", [*cost, *ledger_part(result)]))
        top += [
            ("Epsilon", f"{privacy.epsilon:g}"),
            ("Delta", f"{privacy.delta:g}"),
            ("Protected", f"one {privacy.unit.partition(' (')[0]}"),
        ]
    sections.append(Section("use", "How to use it", use_part(result, command)))
    return Page(found.title, found.lead, facts(top), sections, figures, published(result, kind), warning)
