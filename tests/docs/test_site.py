"""The site: built without a warning (its examples are run by `make docs`), opened in a real browser."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.test_pages import ROOT
from tests.report.test_page import browser, hard_to_use, network, opened  # noqa: F401

PAGES = (
    "index",
    "start",
    "guides/index",
    "guides/columns",
    "guides/epsilon",
    "guides/methods",
    "private",
    "benchmarks",
    "threat-model",
    "reference",
    "gallery/index",
    "gallery/clusters/plot_patients",
    "api/knoll.KMeans",
    "search",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    docs = out / "docs"
    made = ("_build", "api", "gallery", "results", "reference.md", "sg_execution_times.rst")
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns(*made))
    for each in ("examples", "benchmarks", "tools", "CONTRIBUTING.md", "CHANGELOG.md"):
        (out / each).symlink_to(ROOT / each)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    subprocess.run([sys.executable, "-m", "tools.reference", str(docs)], check=True, cwd=ROOT, env=env)
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-D", "plot_gallery=0", str(docs), str(out / "html")]
    ended = subprocess.run(command, capture_output=True, text=True, env=env)
    assert ended.returncode == 0, ended.stderr
    return out / "html"


@pytest.mark.xdist_group("browser")
def test_it_is_whole_and_its_links_lead_somewhere(site):
    for page in site.rglob("*.html"):
        if "_static" in page.parts:  # the theme's own
            continue
        text = re.sub(r"<script.*?</script>", "", page.read_text(), flags=re.DOTALL)
        for link in re.findall(r'href="([^"#?:]+)["#?]', text):
            assert (page.parent / link).exists(), f"{page.relative_to(site)}: {link}"
    words = (site / "searchindex.js").read_text()
    assert "epsilon" in words
    assert "bounds" in words


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("page", PAGES)
def test_pages_open(browser, site, page):  # noqa: F811
    assert (site / f"{page}.html").exists()
    for width, mode in ((1440, "light"), (390, "dark")):
        opened(browser, site / f"{page}.html", width, mode)
        assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []
        assert network(browser) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert hard_to_use(browser) == []
        assert browser.execute_script("return document.querySelector('h1').innerText").strip()
