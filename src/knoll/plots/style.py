"""The frame of every picture: its ink and colours, the names of columns, the headline and the budget below."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

INK, FAINT, WARNING = "#22303c", "#c9d1d8", "#a00"
STYLE: dict[Any, Any] = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": FAINT, "axes.labelcolor": INK,
    "text.color": INK, "xtick.color": INK, "ytick.color": INK, "font.size": 10,
}  # fmt: skip


def plain(name: object) -> str:
    """A name as it is, without dollars that would start mathematics."""
    return str(name).replace("$", r"\$")


def column_names(model: Any) -> list[str]:
    """Names of a fitted model's columns, or x0, x1, ... if it has none."""
    if hasattr(model, "columns_"):
        return [plain(name) for name in model.bounds_.names]
    return [plain(name) for name in getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]


def palette(n: int) -> np.ndarray:
    """Return n colours, one at least."""
    return matplotlib.colormaps["tab10" if n <= 10 else "turbo"](np.linspace(0, 1, max(n, 10)))[: max(n, 1)]


def two_columns(values: np.ndarray, half: np.ndarray) -> tuple[int, int | None]:
    """The two columns in which points differ most, measured by their bounds, in their own order."""
    spread = np.std(values / half, axis=0)
    if len(spread) == 1:
        return 0, None
    first, second = sorted(np.argsort(-spread, kind="stable")[:2].tolist())
    return first, second


def headline(figure: Figure, text: str) -> None:
    """Write what a picture shows above it."""
    figure.suptitle(text, x=0.01, ha="left", fontsize=14, fontweight="bold")


def footer(figure: Figure, privacy: Any, note: str = "", *, budget: bool = True) -> None:
    """Write the budget and a note below a picture; or, if its values are not private, that they are not."""
    spent = f"epsilon = {privacy.epsilon:g}, delta = {privacy.delta:g}, {privacy.relation}." if budget else ""
    text = privacy.warning or f"{spent} {note}".strip()
    figure.supxlabel(text, x=0.01, ha="left", fontsize=9, color=WARNING if privacy.warning else INK)
