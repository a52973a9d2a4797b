"""HTML by parts: what is not made here is text, and is escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


class Html(str):
    """A piece of HTML that was made here. Every other string is text."""

    __slots__ = ()


_EMPTY = {"br", "hr", "meta"}
_LONG = 40  # characters of a cell of words from which on its column is wide


def tag(name: str, /, *parts: Any, **attributes: Any) -> Html:
    """Return an element. Text is escaped; `class_` and `data_x` become class and data-x; None leaves one out.

    >>> tag("td", "<b>", class_="number")
    '<td class="number">&lt;b&gt;</td>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>") if name in _EMPTY else Html(f"<{name}{given}>{join(parts)}</{name}>")


def join(parts: Iterable[Any]) -> Html:
    """Return pieces one after the other, texts escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(str(part)) for part in parts))


def paragraph(*parts: Any, class_: str | None = None) -> Html:
    """Return a paragraph."""
    return tag("p", *parts, class_=class_)


def table(
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    keys: Sequence[Sequence[Any]] | None = None,
    marks: Sequence[int] | None = None,
    texts: Iterable[int] = (),
) -> Html:
    """Return a table that sorts and can be copied.

    Parameters
    ----------
    name : str
        What it holds, for readers of screens.
    header : sequence of str
        Names of the columns.
    rows : sequence of rows of texts
        The cells.
    keys : rows of values, optional
        What a column is sorted by, where that is not the text.
    marks : sequence of int, optional
        The number of the mark in the pictures that each row belongs to.
    texts : iterable of int
        Columns of words: aligned left, and free to break.
    """
    words = set(texts)
    head = [
        tag("th", tag("button", each, type="button"), scope="col", class_="words" if j in words else None)
        for j, each in enumerate(header)
    ]
    body = []
    for i, row in enumerate(rows):
        sort = keys[i] if keys is not None else row
        cells = [
            tag("td", cell, data_sort=_key(key), class_=_class(cell) if j in words else None)
            for j, (cell, key) in enumerate(zip(row, sort, strict=True))
        ]
        body.append(tag("tr", *cells, data_mark=None if marks is None else marks[i]))
    inner = tag("table", tag("caption", name, class_="unseen"), tag("thead", tag("tr", *head)), tag("tbody", *body))
    scroll = tag("div", inner, class_="scroll", role="region", aria_label=name, tabindex="0")
    copy = tag("button", "Copy table", type="button", class_="copy", data_copy="table")
    return tag("div", tag("div", copy, class_="tools"), scroll, class_="sheet")


def figure(name: str, title: str, note: str = "") -> Html:
    """Return the place where the script draws a figure of the page's data."""
    drawn = tag("div", class_="plot", data_figure=name)
    caption = tag("figcaption", tag("b", title), *([" ", tag("span", note)] if note else []))
    return tag("figure", caption, drawn)


def code(text: str, what: str) -> Html:
    """Return lines of code that can be copied."""
    copy = tag("button", "Copy", type="button", class_="copy", data_copy="code", aria_label=f"Copy {what}")
    return tag("div", copy, tag("pre", tag("code", text), tabindex="0", role="region", aria_label=what), class_="code")


def facts(pairs: Iterable[tuple[str, Any]]) -> Html:
    """Return names and values side by side."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs), class_="facts")


def _class(cell: Any) -> str:
    """Return the class of a cell of words: one with many gets a wider column, not a taller row."""
    return "words long" if len(str(cell)) > _LONG else "words"


def _key(value: Any) -> str:
    """Return what a cell is sorted by; infinity comes last."""
    return f"{value:.17g}" if isinstance(value, float) else str(value)
