"""Remarks, quality and privacy statement of a fitted model, for notebooks. Every word is escaped."""

from html import escape
from typing import Any

COLOURS = {"error": "#b00020", "warning": "#a05a00", "info": "#3a5f8a"}


def remarks_html(model: Any) -> str:
    """Return what to show below scikit-learn's box: nothing before a fit."""
    if not hasattr(model, "diagnostics_"):
        return ""
    items = "".join(
        f"<li><b style='color:{COLOURS[each.severity]}'>{escape(each.severity)}</b> "
        f"<code>{escape(each.code)}</code>: {escape(each.message)} <i>{escape(each.advice)}</i></li>"
        for each in model.diagnostics_
    )
    remarks = f"<ul class='knoll-diagnostics'>{items}</ul>" if items else ""
    quality = getattr(model, "quality_", None)
    words = f"<p class='knoll-quality'>{escape(str(quality))}</p>" if quality is not None else ""
    return f"<div class='knoll'>{remarks}{words}{model.privacy_._repr_html_()}</div>"
