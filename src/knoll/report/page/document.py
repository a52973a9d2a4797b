"""The whole page: one file with its style, its script and its data, and a policy under which nothing else can load."""

import base64
import hashlib
import json
import math
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

import numpy as np

from knoll.report.page.html import Html, join, paragraph, tag

STYLE = ("page.css",)
SCRIPT = ("page.js", "plot.js", "figures.js", "start.js")
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}  # within JSON's texts: no tag can begin or end there


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    name, heading : str
        Its anchor and its headline.
    parts : list of Html
        What it shows.
    """

    name: str
    heading: str
    parts: list[Html]


@dataclass(frozen=True)
class Page:
    """What a report shows.

    Attributes
    ----------
    title, lead : str
        What was found, in a line and in a sentence.
    facts : Html
        Its figures, at the top.
    sections : list of Section
        Its parts, in order.
    figures : dict
        What the script draws, by the name of the place.
    data : dict
        What was published, for programs.
    warning : str
        What must be read first; empty if nothing.
    """

    title: str
    lead: str
    facts: Html
    sections: list[Section]
    figures: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    warning: str = ""


def document(page: Page) -> str:
    """Return the page as one HTML document."""
    style, script = _read(STYLE), _read(SCRIPT)
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="knoll"),
        tag("title", page.title),
        tag("style", Html(style)),
    )
    data = {"figures": page.figures, "model": page.data}
    block = tag("script", Html(json_text(data)), type="application/json", id="knoll-data")
    body = tag("body", _header(page), _main(page), _footer(), block, tag("script", Html(script)))
    return f'<!DOCTYPE html>\n<html lang="en">{head}{body}</html>\n'


def json_text(data: Any) -> str:
    r"""Return data as JSON that may stand inside HTML.

    >>> json_text({"</script>": [1.5, float("inf")]})
    '{"\\u003c/script\\u003e":[1.5,null]}'
    """
    text = json.dumps(plain(data), allow_nan=False, separators=(",", ":"))
    for mark, escaped in _ESCAPED.items():
        text = text.replace(mark, escaped)
    return text


def plain(value: Any) -> Any:
    """Return a value in JSON's types; what is not finite becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def _header(page: Page) -> Html:
    buttons = tag(
        "div",
        tag("button", "Dark", type="button", id="theme", aria_pressed="false"),
        tag("button", "Print", type="button", id="print"),
        class_="tools",
    )
    links = tag("nav", *(tag("a", each.heading, href=f"#{each.name}") for each in page.sections), aria_label="Parts")
    warning = [tag("p", page.warning, class_="alarm", role="alert")] if page.warning else []
    top = tag("div", tag("span", "knoll report", class_="brand"), buttons, class_="top")
    return tag("header", top, tag("h1", page.title), tag("p", page.lead, class_="lead"), *warning, page.facts, links)


def _main(page: Page) -> Html:
    sections = (
        tag("section", tag("h2", each.heading), *each.parts, id=each.name, aria_label=each.heading)
        for each in page.sections
    )
    quiet = tag("noscript", paragraph("Pictures need JavaScript. The tables hold the same values."))
    return tag("main", quiet, *sections)


def _footer() -> Html:
    words = (
        "Made from released values alone: this page may be shared like the model itself. It is one file, it asks "
        "nothing of the network, and its data can be read by programs (the script block with the id knoll-data)."
    )
    tip = tag("div", id="tip", aria_hidden="true", hidden="")
    return join([tag("footer", paragraph(words)), tip])


def _read(names: tuple[str, ...]) -> str:
    folder = files("knoll.report.page").joinpath("static")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
