"""The pages that argue for the guarantee speak of code that exists, and leave nothing out."""

import ast
import re
from pathlib import Path

import pytest

import knoll
import knoll.queries
from knoll.audit import AUDITED, make_audited
from knoll.queries import Query

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "threat-model.md").read_text()
CITED = re.findall(r"`(\S+?\.py)::([\w.]+)`\s+`([^`]+)`", PAGE)


def source_of(file, symbol):
    """Return the source of a function, class or method."""
    text = (ROOT / "src" / "knoll" / file).read_text()
    node = ast.parse(text)
    for name in symbol.split("."):
        node = next(child for child in node.body if getattr(child, "name", None) == name)
    return ast.get_source_segment(text, node)


@pytest.mark.parametrize(("file", "symbol", "line"), CITED)
def test_cited_lines_exist(file, symbol, line):
    assert line in source_of(file, symbol)


def test_citations_are_found_at_all():
    assert len(CITED) >= 15


def all_queries(kind=Query):
    for each in kind.__subclasses__():
        if each.__module__.startswith("knoll."):
            yield each.__name__
            yield from all_queries(each)


def test_every_query_has_its_proof():
    proofs = PAGE.split("## Proofs")[1]
    missing = [name for name in set(all_queries()) if not name.startswith("_") and f"`{name}`" not in proofs]
    assert missing == []


def estimators():
    return [name for name in knoll.__all__ if hasattr(getattr(knoll, name), "fit")]


def test_every_estimator_is_in_the_table():
    table = PAGE.split("## The guarantee of every estimator")[1].split("## Proofs")[0]
    assert [name for name in estimators() if f"| `{name}` |" not in table] == []


def test_every_estimator_is_audited():
    audited = {type(make_audited(name)).__name__ for name in AUDITED}
    missing = [name for name in estimators() if name not in audited and name not in AUDITED]
    assert missing == []
