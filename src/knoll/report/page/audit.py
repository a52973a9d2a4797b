"""An audit: what attacks achieved against what the guarantee allows."""

from typing import Any

import numpy as np

from knoll.report.page.found import Found, bars_figure, rounded
from knoll.report.page.html import figure, paragraph, table, tag

_LEAST = 50  # with fewer runs on either side, a measured curve is only chance, and is not drawn
_MOST = 3.0  # times the declared epsilon: longer bars are cut there


def audit_found(audit: Any) -> Found:
    """Return what an audit found."""
    declared = audit.guarantee
    verdict = "nothing exceeds what is declared" if audit.passed else "this is not private"
    pairs = list(dict.fromkeys(each.pair for each in audit.attacks))
    figures = {"curve": _curve(audit, pairs), "bounds": _bounds(audit, pairs)}
    parts = [
        *(paragraph(line) for line in str(audit).split("\n")),
        figure("curve", "What attacks achieve.", "No attack may lie below the bold curve. Crosses: confidence limits."),
        figure("bounds", "The epsilon that attacks prove.", "The line marks what is declared."),
        tag("h3", "All attacks"),
        _sheet(audit),
    ]
    return Found(
        title=f"{audit.name}: {verdict}",
        lead=f"Attacks that know every other record proved epsilon ≥ {audit.epsilon:.4g}; declared is "
        f"epsilon = {declared.epsilon:g} at delta = {declared.delta:g}.",
        facts=[("Verdict", "passed" if audit.passed else "FAILED"), ("Declared epsilon", f"{declared.epsilon:g}"),
               ("Proved at least", f"{audit.epsilon:.4g}"), ("Runs", f"{audit.runs:,}")],
        parts=parts,
        sure=[paragraph(_sure(audit))],
        figures=figures,
    )  # fmt: skip


def _curve(audit: Any, pairs: list[str]) -> dict[str, Any]:
    grid = np.concatenate([[1e-9], np.linspace(1e-3, 1 - 1e-3, 200), [1 - 1e-9]])
    layers: list[dict[str, Any]] = [{"draw": "line", "x": [0, 1], "y": [1, 0], "dash": True, "text": "guessing"}]
    for name, (without, present) in audit.ratios.items():
        if len(without) < _LEAST or name not in pairs:
            continue
        cuts = np.quantile(np.concatenate([without, present]), np.linspace(0, 1, 120))
        false_positive = 1 - np.searchsorted(np.sort(without), cuts, side="right") / len(without)
        false_negative = np.searchsorted(np.sort(present), cuts, side="right") / len(present)
        layers.append({"draw": "line", "x": rounded(false_positive), "y": rounded(false_negative),
                       "mark": pairs.index(name), "text": name})  # fmt: skip
    layers.append({"draw": "line", "x": rounded(grid), "y": rounded(audit.guarantee.tradeoff(grid)), "bold": True,
                   "text": "the guarantee"})  # fmt: skip
    text = [f"{each.box} box, {each.pair}: epsilon ≥ {each.epsilon:.4g}" for each in audit.attacks]
    layers.append({
        "draw": "crosses", "x": rounded([each.false_positive for each in audit.attacks]), "text": text,
        "y": rounded([each.false_negative for each in audit.attacks]),
        "marks": [pairs.index(each.pair) for each in audit.attacks],
    })  # fmt: skip
    x, y = ({"label": f"false {word}", "kind": "share", "low": 0.0, "high": 1.0} for word in ("positives", "negatives"))
    return {"type": "xy", "x": x, "y": y, "layers": layers, "square": True}


def _bounds(audit: Any, pairs: list[str]) -> dict[str, Any]:
    most = _MOST * audit.guarantee.epsilon
    rows = [
        {"label": f"{each.pair}, {each.box} box", "value": min(each.epsilon, most), "error": 0.0,
         "text": f"{each.epsilon:.3g}", "mark": pairs.index(each.pair), "seen": True, "plain": True}
        for each in audit.attacks
    ]  # fmt: skip
    return bars_figure(rows, "epsilon", rule=(audit.guarantee.epsilon, "declared"))


def _sheet(audit: Any) -> Any:
    header = ["pair", "box", "statistic", "epsilon, at least", "exact cost", "runs"]
    rows, keys = [], []
    for each in audit.attacks:
        used = audit.used.get(each.pair)
        cost = "" if used is None else f"{used:.4g}"
        rows.append([each.pair, each.box, each.statistic, f"{each.epsilon:.4g}", cost, f"{each.runs:,}"])
        keys.append([each.pair, each.box, each.statistic, each.epsilon, -1.0 if used is None else used, each.runs])
    return table("Every attack", header, rows, keys=keys, texts=(0, 1, 2))


def _sure(audit: Any) -> str:
    return (
        f"All bounds hold together with {audit.confidence:.1%} confidence. A bound above the declared epsilon proves a "
        "mistake. A bound below it proves nothing, but the nearer it comes, the more a pass means. Data is made up."
    )
