"""How pictures look: one ink, one faint grey, few lines."""

from typing import Any

INK, FAINT = "#22303c", "#c9d1d8"
STYLE: dict[Any, Any] = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": FAINT, "axes.labelcolor": INK,
    "text.color": INK, "xtick.color": INK, "ytick.color": INK, "font.size": 10,
}  # fmt: skip


def plain(name: object) -> str:
    """A name as it is, without dollars that would start mathematics."""
    return str(name).replace("$", r"\$")
