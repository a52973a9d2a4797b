"""Remarks, quality and privacy statement of a fitted model, for notebooks. Every word is escaped."""

import os
from functools import cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

COLOURS = {"error": "#b00020", "warning": "#a05a00", "info": "#3a5f8a"}


def doc_link(name: str) -> str:
    """Return the address of an estimator's page; an empty text if nobody has said where the site is.

    It is ``KNOLL_DOCS`` in the environment, a folder or an address (``docs/_build/html`` after ``make docs``); or what
    the installed package names as its documentation.
    """
    place = os.environ.get("KNOLL_DOCS") or _published_docs()
    if not place:
        return ""
    root = place if "://" in place else Path(place).resolve().as_uri()
    return f"{root.rstrip('/')}/api/knoll.{name}.html"


@cache
def _published_docs() -> str:
    """Return the address of the documentation that the package was published with."""
    try:
        pairs = [each.partition(", ") for each in metadata("knoll").get_all("Project-URL") or []]
    except PackageNotFoundError:
        return ""
    return next((address for label, _, address in pairs if label.lower() == "documentation"), "")


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
