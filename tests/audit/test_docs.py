"""The pages that argue for the guarantee speak of code that exists, and leave nothing out."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import knoll
import knoll.queries
from knoll.audit import AUDITED, make_audited
from knoll.queries import Query
from knoll.releases import RELEASES, releases_note
from tools.tables import written

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


def test_the_tables_are_those_of_the_package():
    assert written(PAGE) == PAGE, "run `make tables`"


def test_every_estimator_is_in_the_table():
    table = PAGE.split("## The guarantee of every estimator")[1].split("## Proofs")[0]
    assert [name for name in RELEASES if f"| `{name}` |" not in table] == []
    assert [name for name in estimators() if name not in RELEASES and f"`{name}` asks nothing" not in table] == []


@pytest.mark.parametrize("name", [name for name in RELEASES if hasattr(knoll, name)])
def test_docstrings_say_what_the_table_says(name):
    assert releases_note(name) in getattr(knoll, name).__doc__
    rest = getattr(knoll, name).__doc__.replace(releases_note(name), "")
    assert [query for query in knoll.queries.__all__ if query not in ("Ball", "Box") and f"`{query}`" in rest] == []


def test_to_mixture_says_what_the_table_says():
    asked = {step.query.__name__ for step in RELEASES["to_mixture(X)"][0].steps}
    said = {name for name in knoll.queries.__all__ if f"`{name}`" in knoll.KMeans.to_mixture.__doc__}
    assert said == asked


def test_local_reports_are_one_release_with_what_the_page_says_is_public():
    model = knoll.LocalGaussianMixture(bounds=(-1.0, 1.0), random_state=0).fit(np.zeros((300, 1)))
    assert [entry.query.split()[0] for entry in model.privacy_.releases] == ["report"]
    public = PAGE.split("`LocalGaussianMixture` asks nothing")[1].split("Assumed public:")[1].split(".")[0]
    words = [word.strip().removeprefix("and ") for word in " ".join(public.split()).split(",")]
    assert sorted(words) == sorted(model.privacy_.assumed_public)


def test_every_estimator_is_audited():
    audited = {type(make_audited(name)).__name__ for name in AUDITED}
    missing = [name for name in estimators() if name not in audited and name not in AUDITED]
    assert missing == []
