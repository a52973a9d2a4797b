"""A notebook that is run for real: progress while it fits, the picture and our page's link when it shows a model."""

import re

import pytest

nbclient = pytest.importorskip("nbclient", reason="no nbclient: no notebook is run")
nbformat = pytest.importorskip("nbformat", reason="no nbformat: no notebook is run")

FIT = """
import os, warnings
os.environ["KNOLL_DOCS"] = "https://docs.example/knoll"
import numpy as np
import knoll, knoll.progress
knoll.progress.QUIET = knoll.progress.BETWEEN = 0.0
rng = np.random.default_rng(0)
X = rng.normal(rng.choice([-3.0, 3.0], size=(2000, 1)), 0.5, size=(2000, 2))
warnings.simplefilter("ignore")  # the noise is fresh here: a remark, by chance, would be another output
model = knoll.Lloyd(2, epsilon=1.0, bounds=(-5, 5), verbose=True, random_state=0).fit(X)
"""


def test_a_notebook_shows_progress_the_picture_and_the_page(tmp_path):
    pytest.importorskip("ipykernel", reason="no kernel: no notebook is run")
    cells = [nbformat.v4.new_code_cell(FIT), nbformat.v4.new_code_cell("model")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    seen = []
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    process = client.process_message

    def watch(message, *rest):
        if message["msg_type"] in ("display_data", "update_display_data"):
            seen.append(message["content"]["data"].get("text/html", ""))
        return process(message, *rest)

    client.process_message = watch
    client.execute()
    bars = [float(re.search(r"value='([\d.]+)'", each).group(1)) for each in seen if "<progress" in each]
    assert bars
    assert max(bars) > 0.9
    left, *more = notebook.cells[0].outputs
    assert not more, more  # one output, drawn again and again; at the end it says how long it took
    assert re.fullmatch(r"Lloyd: [\d.]+ s", left["data"]["text/plain"])
    shown = notebook.cells[1].outputs[0]["data"]["text/html"]
    assert "https://docs.example/knoll/api/knoll.Lloyd.html" in shown
    assert "data:image/png;base64," in shown
    assert "epsilon = 1" in shown
