"""How well clusters fit, in plain words."""

from typing import Any

from knoll.report.clusters import with_error
from knoll.report.page.html import Html, paragraph, table, tag

_WORDS = {
    "explained": (
        "Explained part of the variance",
        "From 0 to 1. How much of the records' differences the groups account for; 1 would be all.",
    ),
    "silhouette": (
        "Silhouette",
        "From 0 to 1. How much nearer records are to their own centre than to the next; above 0.5 groups are clear.",
    ),
    "within_variance": (
        "Variance within groups",
        "Mean squared distance of a record to its centre, in units of the bounds; smaller is tighter.",
    ),
}


def quality_part(model: Any) -> list[Html]:
    """Return the quality of clusters or components as a table; nothing if it was not released."""
    quality = getattr(model, "quality_", None)
    if quality is None:
        return []
    rows = [
        [name, with_error(getattr(quality, key), getattr(quality, f"{key}_stderr")), words]
        for key, (name, words) in _WORDS.items()
    ]
    note = paragraph("From released values; two private fits can be compared by these figures.", class_="faint")
    return [tag("h3", "How well they fit"), table("Quality", ["figure", "value", "meaning"], rows, texts=(0, 2)), note]
