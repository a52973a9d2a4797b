"""What it cost: the privacy statement, the risk in words, each release, and the state of the ledger."""

import math
from itertools import groupby
from typing import Any

from knoll.report.page.found import bars_figure
from knoll.report.page.html import Html, figure, paragraph, table, tag

MOST_RELEASES = 400  # listed one by one; beyond, runs of the same query are one line


def cost_part(privacy: Any) -> tuple[list[Html], dict[str, Any]]:
    """Return what a fit spent, and the figure of it."""
    warning, *sentences = privacy.sentences() if privacy.warning else ["", *privacy.sentences()]
    statement = tag("ul", *(tag("li", each) for each in sentences), class_="statement")
    alarm = [tag("p", warning, class_="alarm")] if warning else []
    risk = [] if warning else [tag("h3", "The risk, in words"), *_risk(privacy)]
    rows = _shares(privacy)
    figures = {"budget": bars_figure(rows, "share of the budget", kind="share")} if rows else {}
    drawn = [figure("budget", "Where the budget went.")] if rows else []
    parts = [*alarm, statement, *risk, tag("h3", "Each release"), *drawn, _releases(privacy)]
    return parts, figures


def ledger_part(model: Any) -> list[Html]:
    """Return the state of the ledger that a fit was recorded in: what its data has spent over all fits."""
    spend = getattr(model, "_spend", None)
    head = tag("h3", "The ledger")
    if spend is None:
        words = (
            "No ledger file was kept for this page. Every further fit of the same data adds to its risk; with "
            "ledger=“privacy.db” all of them are added up, and a cap can be set."
        )
        return [head, paragraph(words)]
    cap = f" of a cap of {spend.cap.epsilon:g} at delta = {spend.cap.delta:g}" if spend.cap else "; it has no cap"
    releases = f"{spend.releases:,} release{'' if spend.releases == 1 else 's'}"
    words = (
        f"The ledger records {releases} from {spend.dataset} over all fits so far: together they cost epsilon = "
        f"{spend.epsilon:.6g} at delta = {spend.delta:g}{cap}."
    )
    return [head, paragraph(words if spend.private else words + " Some of its noise was not secure: NOT PRIVATE.")]


def _risk(privacy: Any) -> list[Html]:
    words = [paragraph(str(privacy.risk), class_="risk")]
    if privacy.unit != "record":
        words.append(
            paragraph(f"“You” stands for one {privacy.unit}, with all records that were used.", class_="faint")
        )
    return words


def _shares(privacy: Any) -> list[dict[str, Any]]:
    """Return the share of the budget of each kind of query, in order."""
    shares: dict[str, float] = {}
    for entry in privacy.releases:
        shares[entry.query] = shares.get(entry.query, 0.0) + entry.share
    return [{"label": name, "value": value, "error": 0.0, "text": f"{value:.1%}"} for name, value in shares.items()]


def _releases(privacy: Any) -> Html:
    """Return one row per release, or per run of the same query if they are very many."""
    header = ["release", "query", "values", "share of budget", "noise, in units of one record's effect"]
    runs: list[tuple[str, list[Any]]] = [("", [entry]) for entry in privacy.releases]
    if len(runs) > MOST_RELEASES:
        runs = [(f" (x{len(each)})", each) for _, group in groupby(privacy.releases, _query) for each in [list(group)]]
    rows, keys = [], []
    for number, (times, entries) in enumerate(runs, start=1):
        first, share = entries[0], math.fsum(entry.share for entry in entries)
        values = sum(math.prod(entry.shape) for entry in entries)
        scale = first.scale / first.sensitivity
        cells = [first.query + times, f"{values:,}", f"{share:.1%}", f"{first.law}, {scale:.4g}"]
        rows.append([str(number), *cells])
        keys.append([number, first.query, values, share, scale])
    return table("Every release", header, rows, keys=keys, texts=(1,))


def _query(entry: Any) -> str:
    return str(entry.query)
