"""Reports as one HTML file: what is in them, in text and in a real browser."""

import ast
import json
import re
import shutil
from html import unescape
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_moons

import knoll
from knoll.report.page import report_html
from knoll.report.page.use import python_lines

EVIL = "<script>alert(1)</script>"
KINDS = ("clusters", "morse", "mixture", "modes", "curves", "profile", "plan", "audit")


def made(kind):
    X, _ = make_blobs(6000, 3, centers=[[-5, 0, 2], [5, 0, -3], [0, 6, 5]], random_state=0)
    frame = pd.DataFrame(X, columns=[EVIL, "b", "c"])
    budget = {"epsilon": 1.0, "bounds": (-12, 12), "random_state": 0}
    if kind == "morse":
        moons = make_moons(8000, noise=0.06, random_state=0)[0]
        return knoll.MorseClustering(2, epsilon=2.0, bounds=([-1.5, -1], [2.5, 1.5]), random_state=0).fit(moons)
    if kind == "plan":
        return knoll.simulate_plan(500, 2, [2], epsilons=[0.3, 3.0], runs=1)
    if kind == "audit":
        return knoll.audit.audit(knoll.Lloyd(2, n_steps=1, bounds=(-1, 1), epsilon=1.0), runs=60)
    if kind == "profile":
        kinds = {EVIL: (-12, 12), "b": "ordered:{1,2}", "c": "log:0.1:9", "d": {EVIL, "e"}, "f": "cyclic:7", "g": bool}
        words = {"b": ["1"] * 6000, "d": [EVIL] * 6000}
        table = {EVIL: X[:, 0], "c": abs(X[:, 1]), "f": X[:, 2], "g": X[:, 0] > 0, **words}
        return knoll.Profile(kinds, epsilon=1.0).fit(table)
    model = {
        "clusters": knoll.KMeans(3, **budget), "mixture": knoll.GaussianMixture(3, **budget),
        "modes": knoll.ModeSeeking(**budget), "curves": knoll.ModalRegression(**budget),
    }[kind]  # fmt: skip
    return model.fit(frame if kind in ("clusters", "mixture") else frame[[EVIL, "b"]])


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for kind in KINDS:
        made(kind).report(folder / f"{kind}.html")
    return folder


def block(text):
    return json.loads(re.search(r'<script type="application/json" id="knoll-data">(.*?)</script>', text, re.S).group(1))


def test_every_kind_is_small_and_asks_for_nothing(pages):
    for kind in KINDS:
        text = (pages / f"{kind}.html").read_text()
        assert len(text.encode()) < 500_000
        assert "default-src 'none'" in unescape(text)
        assert not re.search(r'(src|href)="(?!#)', text)
        assert EVIL not in text
        assert block(text)["model"]["kind"] == kind


def test_many_columns_stay_small():
    rows = np.random.default_rng(0).uniform(size=(200, 600))
    names = [f"a column with a long name, number {j}" for j in range(rows.shape[1])]
    bounds = dict.fromkeys(names, (0, 1))
    model = knoll.Lloyd(2, epsilon=1.0, bounds=bounds, random_state=0).fit(pd.DataFrame(rows, columns=names))
    text = report_html(model)
    assert len(text.encode()) < 500_000
    assert "The first 200 of 600 columns" in text
    assert "# and 400 more" in text


def test_figures_are_those_of_the_model():
    model = made("clusters")
    text = report_html(model, command="knoll cluster <x>")
    data = block(text)
    assert np.array_equal(data["model"]["fitted"]["cluster_centers_"], model.cluster_centers_)
    assert data["figures"]["map"]["axes"][0]["at"] == model.cluster_centers_[:, 0].tolist()
    for size, error in zip(model.cluster_sizes_, model.cluster_sizes_stderr_, strict=True):
        assert f"{size:,.0f} ± {error:,.0f} records" in text
    assert str(model.privacy_.risk) in unescape(text)
    assert "knoll cluster &lt;x&gt;" in text
    ast.parse(python_lines(model))


def test_a_ledger_and_doubts_are_told(tmp_path):
    X = np.random.default_rng(0).normal(size=(200, 2))
    ledger = knoll.Ledger(tmp_path / "p.db", dataset="survey")
    text = unescape(report_html(knoll.KMeans(8, epsilon=0.05, bounds=(-9, 9), ledger=ledger, random_state=0).fit(X)))
    assert f"epsilon = {ledger.spend('survey').epsilon:.6g}" in text
    assert "not seen" in text


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="no selenium")
    paths = shutil.which("chromium"), shutil.which("chromedriver")
    if None in paths:
        pytest.skip("no chromium and chromedriver here: reports are not opened in a browser")
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    for each in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(each)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(paths[1]))
    yield found
    found.quit()


def opened(browser, file, width, mode):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wish = {"prefers-color-scheme": mode, "prefers-reduced-motion": "reduce"}  # no colour is half-way when it is judged
    scheme = [{"name": name, "value": value} for name, value in wish.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    browser.get_log("performance")
    browser.get(file.as_uri())


def network(browser):
    """Return what a page asked of the network."""
    sent = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    urls = [e["params"]["request"]["url"] for e in sent if e["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if not url.startswith(("file:", "data:"))]


def hard_to_use(browser):
    """Return what axe-core finds: contrast, names, keys, order of headings."""
    browser.execute_script(files("axe_core_python").joinpath("axe.min.js").read_text())
    return browser.execute_async_script(
        "axe.run().then(r => arguments[0](r.violations.map(v => [v.id, v.nodes[0].html])))"
    )


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_opens(browser, pages, kind):
    for width, mode in ((1440, "light"), (390, "dark")):
        opened(browser, pages / f"{kind}.html", width, mode)
        assert browser.get_log("browser") == []
        assert network(browser) == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.execute_script("return document.querySelectorAll('.plot:empty').length") == 0
        assert hard_to_use(browser) == []


@pytest.mark.xdist_group("browser")
def test_tables_sort_hovers_show_columns_redraw_and_keys_work(browser, pages):
    opened(browser, pages / "clusters.html", 1440, "light")
    run = browser.execute_script
    size = "return [...document.querySelectorAll('tbody')][0].rows[0].cells[1].dataset.sort"
    before = float(run(size))
    run("document.querySelectorAll('thead button')[1].click()")
    assert float(run(size)) < before
    hover = "document.querySelector('svg [role=img]').dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))"
    run(hover)
    assert "±" in run("return document.getElementById('tip').textContent")
    spot = "return document.querySelector('[data-figure=map] .bubble').getAttribute('cx')"
    was = run(spot)
    run("const s = document.querySelector('[data-side=x]'); s.value = 2; s.dispatchEvent(new Event('change'))")
    assert run(spot) != was
    run("document.querySelector('[data-figure=map] [role=img][tabindex=\"0\"]').focus()")
    first = run("return document.activeElement.getAttribute('aria-label')")
    browser.switch_to.active_element.send_keys("\ue014")
    assert run("return document.activeElement.getAttribute('aria-label')") != first
    run("getSelection().selectAllChildren(document.querySelector('h1'))")
    assert run("return String(getSelection())").startswith("3 clusters")
