"""A picture of an audit: what attacks achieved against what the guarantee allows."""

from typing import Any

import numpy as np

from knoll.audit.verdict import Audit
from knoll.plots.style import FAINT, INK, WARNING, headline, palette, picture

_LEAST = 50  # with fewer runs on either side, a measured curve is only chance, and is not drawn


def plot_audit(found: Audit, title: str | None = None) -> Any:
    """Draw the trade-off curve of the attacks against the guarantee, and the bound of every pair.

    On the left, false negatives against false positives: no attack may lie below the black curve. Lines are the
    likelihood-ratio tests of the pairs as measured (bold: the pair with most runs); crosses are the upper confidence
    limits of the judged attacks. On the right, each pair's lower bounds and exact cost against the declared epsilon.

    Parameters
    ----------
    found : Audit
        What `audit` returned.
    title : str, optional
        Headline.

    Returns
    -------
    figure : matplotlib Figure
    """
    names = list(dict.fromkeys(attack.pair for attack in found.attacks))
    colours = dict(zip(names, palette(len(names)), strict=True))
    verdict = "nothing exceeds what is declared" if found.passed else "NOT PRIVATE"
    declared = f"epsilon = {found.guarantee.epsilon:g}, delta = {found.guarantee.delta:g}"
    with picture((11.5, 5.2), title or f"{found.name}: {declared}: {verdict}") as figure:
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
        _draw_curves(left, found, colours)
        _draw_bounds(right, found, names, colours)
        if not found.passed:
            headline(figure, figure.get_suptitle(), WARNING)
        foot = f"{found.runs:,} runs; bounds hold together at {found.confidence:.1%} confidence."
        figure.supxlabel(foot, x=0.01, ha="left", fontsize=9)
    return figure


def _draw_curves(axes: Any, found: Audit, colours: dict[str, Any]) -> None:
    grid = np.concatenate([[1e-9], np.linspace(1e-4, 1 - 1e-4, 600), [1 - 1e-9]])
    allowed = found.guarantee.tradeoff(grid)
    axes.fill_between(grid, 0, allowed, color="#a00", alpha=0.07, lw=0)
    axes.plot(grid, allowed, color=INK, lw=2, label="the guarantee: nothing below it")
    axes.plot([0, 1], [1, 0], color=FAINT, lw=1, ls="--", label="guessing")
    for name, (without, present) in found.ratios.items():
        if len(without) < _LEAST:
            continue
        cuts = np.quantile(np.concatenate([without, present]), np.linspace(0, 1, 200))
        fp = 1 - np.searchsorted(np.sort(without), cuts, side="right") / len(without)
        fn = np.searchsorted(np.sort(present), cuts, side="right") / len(present)
        most = name == max(found.ratios, key=lambda each: len(found.ratios[each][0]))
        axes.plot(fp, fn, color=colours[name], lw=1.6 if most else 0.8, alpha=1.0 if most else 0.3)
    for attack in found.attacks:
        mark = "x" if attack.box == "white" else "+"
        axes.plot(attack.false_positive, attack.false_negative, mark, color=colours[attack.pair], ms=8, mew=1.8)
    axes.plot([], [], "x", color=INK, label="white box, confidence limit")
    axes.plot([], [], "+", color=INK, label="black box, confidence limit")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="false positives", ylabel="false negatives")
    axes.set_title("What attacks achieve", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)


def _draw_bounds(axes: Any, found: Audit, names: list[str], colours: dict[str, Any]) -> None:
    declared = found.guarantee.epsilon
    place = np.arange(len(names))[::-1]
    rows = {"white": 0.16, "black": -0.16}
    for attack in found.attacks:
        y = place[names.index(attack.pair)] + rows[attack.box]
        axes.barh(y, min(attack.epsilon, 3 * declared), height=0.28, color=colours[attack.pair],
                  alpha=0.9 if attack.box == "white" else 0.4)  # fmt: skip
        axes.text(min(attack.epsilon, 3 * declared), y, f" {attack.box} {attack.epsilon:.2g}", va="center", fontsize=8)
    for name, used in found.used.items():
        y = place[names.index(name)]
        axes.plot([min(used, 3 * declared)] * 2, [y - 0.36, y + 0.36], color=INK, lw=3, zorder=3)
    axes.axvline(declared, color="#a00", lw=1.2, zorder=2)
    axes.text(declared, len(names) - 0.45, " declared", color="#a00", fontsize=9, ha="left")
    axes.plot([], [], color=INK, lw=2, label="exact cost of the releases")
    axes.set_yticks(place, names)
    axes.set_ylim(-0.6, len(names) - 0.2)
    top = max([declared, *(min(attack.epsilon, 3 * declared) for attack in found.attacks)])
    axes.set_xlim(0, 1.22 * top)
    axes.set_xlabel("epsilon: lower bounds that the attacks prove")
    axes.set_title("Bounds by pair", loc="left", fontsize=11)
    axes.legend(frameon=False, fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.13))
