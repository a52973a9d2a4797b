"""What the documents say is run: every block of Python and every command of the start page and the guides."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from knoll.cli.main import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [DOCS / "index.md", DOCS / "start.md", *sorted((DOCS / "guides").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "python":
            exec(compile(text, page.name, "exec"), names)
            continue
        for line in text.replace("\\\n", " ").splitlines():
            _, command, *arguments = shlex.split(line)
            assert command == "knoll"
            ended = CliRunner().invoke(app, arguments)
            assert ended.exit_code == 0, ended.output


def anchors(page):
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


MADE = {"_build", "api", "gallery", "results", "reference.md"}  # by the build
WRITTEN = [page for page in sorted(DOCS.rglob("*.md")) if not MADE & set(page.relative_to(DOCS).parts)]


@pytest.mark.parametrize("page", [*WRITTEN, *sorted(ROOT.glob("*.md"))], ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text()):
        path, _, anchor = link.partition("#")
        if path.startswith("http") or path in ("gallery/index.rst", "reference.md"):  # made by the build
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_every_example_has_a_title_and_a_picture():
    examples = sorted((ROOT / "examples").glob("*/plot_*.py"))
    assert len(examples) >= 20
    for file in examples:
        text = file.read_text()
        title, line = text.splitlines()[1:3]
        assert line == "=" * len(title), file.name
        assert "figure = " in text or "plt.subplots" in text, file.name


def test_every_guide_is_listed():
    listed = (DOCS / "guides" / "index.md").read_text()
    for page in (DOCS / "guides").glob("*.md"):
        assert page.stem == "index" or f"\n{page.stem}\n" in listed
