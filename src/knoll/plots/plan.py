"""A picture of a simulated plan: what a fit finds, and what it risks, against epsilon."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from knoll.plots.style import FAINT, INK, WARNING, picture

_LEAST_PERCENT, _MOST_PERCENT = 0.01, 10_000.0  # drawn: less is nothing, and more is nonsense whatever it is exactly
_RIGHT_AXIS = (50, 101)  # per cent: a guess is right half the time without any result


def plot_plan(plan: Any, title: str | None = None) -> Figure:
    """Draw clusters found, loss, error bars and risk of a simulated plan against epsilon.

    Parameters
    ----------
    plan : SimulatedPlan
        What `knoll.simulate_plan` returned.
    title : str, optional
        Headline.

    Returns
    -------
    figure : matplotlib Figure
    """
    best = plan.recommended
    verdict = "No simulated epsilon will do" if best is None else f"epsilon = {best:g} will do"
    with picture((11.5, 8.2), title or verdict) as figure:
        (found, loss), (error, risk) = figure.subplots(2, 2)
        for axes in (found, loss, error, risk):
            _epsilon_axis(axes, plan)
        ks = list(dict.fromkeys(each.k for each in plan.expected))
        for k, colour in zip(ks, matplotlib.colormaps["viridis"](np.linspace(0, 0.8, len(ks))), strict=True):
            _draw_k(found, loss, error, [each for each in plan.expected if each.k == k], colour, plan.records)
        _found_words(found)
        _percent_axis(loss, "Loss above non-private k-means (band: all runs; dotted: 10 %)")
        loss.axhline(10, color=INK, lw=0.8, ls=":")
        _percent_axis(error, "Error bars: centre, % of the bounds (solid); size, % of a cluster (dashed)")
        _draw_risk(risk, plan)
        if len(ks) > 1:
            found.legend(frameon=False, fontsize=9, loc="lower right")
        figure.supxlabel("\n".join([plan.description, *plan.notes]), x=0.01, ha="left", fontsize=9)
    return figure


def _draw_k(found: Axes, loss: Axes, error: Axes, rows: list[Any], colour: Any, records: int) -> None:
    """Draw the lines of one number of clusters."""
    x = np.array([each.epsilon for each in rows])
    style: dict[str, Any] = {"color": colour, "marker": "o", "ms": 4, "lw": 1.6}
    found.plot(x, [100 * each.found for each in rows], label=f"{rows[0].k} clusters", **style)
    low, middle, high = (
        _percent([getattr(each, name) for each in rows]) for name in ("excess_low", "excess_loss", "excess_high")
    )
    loss.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
    loss.plot(x, middle, **style)
    error.plot(x, _percent([each.center_stderr for each in rows]), **style)
    error.plot(x, _percent([each.size_stderr * each.k / records for each in rows]), ls="--", **style)


def _found_words(axes: Axes) -> None:
    axes.set_ylim(-3, 103)
    axes.axhline(90, color=INK, lw=0.8, ls=":")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.set_title("Clusters found (dotted: 90 %)", loc="left", fontsize=11)


def _percent_axis(axes: Axes, title: str) -> None:
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(np.clip(low, 0.7 * _LEAST_PERCENT, 5.0), np.clip(high, 20.0, 1.4 * _MOST_PERCENT))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_title(title, loc="left", fontsize=11)


def _draw_risk(axes: Axes, plan: Any) -> None:
    x = [risk.epsilon for risk in plan.risks]
    right = [100 * risk.right for risk in plan.risks]
    axes.plot(x, right, color=WARNING, marker="o", ms=4, lw=1.6)
    for at, value in zip(x, right, strict=True):
        axes.annotate(
            f"{np.ceil(value):.0f} %", (at, value), (-6, 6), textcoords="offset points", ha="center", fontsize=8.5
        )
    axes.axhline(50, color=FAINT, lw=1)
    axes.set_ylim(*_RIGHT_AXIS)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.set_title("Risk: how often a 50/50 guess about you is right, at most", loc="left", fontsize=11)


def _epsilon_axis(axes: Axes, plan: Any) -> None:
    x = [risk.epsilon for risk in plan.risks]
    axes.set_xscale("log")
    axes.set_xticks(x, [f"{each:g}" for each in x])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("epsilon")
    axes.grid(color=FAINT, lw=0.4)
    if plan.recommended is not None:
        axes.axvline(plan.recommended, color="#2a7", lw=6, alpha=0.25, zorder=0)


def _percent(shares: list[float]) -> np.ndarray:
    """Shares in per cent, within what is drawn; what is infinite is not drawn."""
    values = np.array(shares)
    return np.where(np.isfinite(values), np.clip(100 * values, _LEAST_PERCENT, _MOST_PERCENT), np.nan)
