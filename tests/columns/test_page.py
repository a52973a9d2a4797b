"""The page about columns for users: its file and its kinds read as it says."""

import re
from pathlib import Path

from knoll.columns import Columns
from knoll.columns.text import parse_kind
from knoll.columns.toml import read_toml

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "columns.md").read_text(encoding="utf-8")


def test_the_file_of_the_page_is_read():
    [text] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    columns = read_toml(text)
    assert len(columns) == 8
    assert columns["age"].missing == "impute"
    assert columns["place of birth"].weight == 0.5
    assert Columns.from_text(str(columns)) == columns


WORDS = ["number", "log", "whole", "boolean", "category", "ordered", "date", "cyclic"]


def test_the_kinds_of_the_page():
    rows = re.findall(r"^\| [a-z ]+ \| `([^`]+)`", PAGE.partition("## Kinds")[2].partition("##")[0], re.MULTILINE)
    assert [parse_kind(text).word for text in rows] == WORDS
