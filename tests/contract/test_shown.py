"""Every estimator shows itself: a picture, a page and a box in a notebook, whatever it was fitted on."""

import time

import numpy as np
import pytest
from matplotlib.figure import Figure

from knoll.report.page import report_html
from tests.contract.registry import ESTIMATORS, make_estimator


def data(d, n=400):
    rng = np.random.default_rng(d)
    return np.clip(rng.normal(rng.choice([-0.5, 0.5], size=(n, 1)), 0.1, size=(n, d)), -1, 1)


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_it_shows_itself(name, d):
    if name == "ModalRegression" and d != 2:
        pytest.skip("it needs a predictor, and draws curves over one or two")
    model = make_estimator(name, d).fit(data(d))
    figure = model.plot()
    assert isinstance(figure, Figure)
    figure.canvas.draw()
    assert "data:image/png" in model._repr_mimebundle_()["text/html"]
    started = time.process_time()
    page = report_html(model)
    assert time.process_time() - started < 1.0  # processor time: a busy machine does not matter
    assert len(page.encode()) < 500_000


def test_regression_on_many_predictors_is_shown_without_curves():
    model = make_estimator("ModalRegression", 4).fit(data(4))
    assert "Curves are drawn over one or two predictors" in report_html(model)
    assert "data:image/png" not in model._repr_mimebundle_()["text/html"]
    with pytest.raises(ValueError, match="one or two predictors"):
        model.plot()
