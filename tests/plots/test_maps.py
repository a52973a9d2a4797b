"""Longitude and latitude are drawn as maps: told by names and bounds, or asked for; in pictures and in reports."""

import json
import re

import numpy as np
import pandas as pd
import pytest

import knoll
from knoll.maps import map_pairs, named_pairs
from knoll.report.page import report_html

PLACES = {"lat": (52.3, 52.7), "fare": (0.0, 100.0), "lon": (13.0, 13.8)}


def trips(names=("lat", "fare", "lon"), n=3000):
    rng = np.random.default_rng(0)
    middle = np.array([[52.52, 20, 13.4], [52.45, 60, 13.6]])[rng.integers(0, 2, n)]
    return pd.DataFrame(middle + rng.normal(0, [0.01, 5, 0.015], (n, 3)), columns=list(names))


def fitted(make, bounds=PLACES, names=("lat", "fare", "lon"), **more):
    return make(epsilon=3.0, bounds=bounds, random_state=0, **more).fit(trips(names)[list(bounds)])


def block(text):
    return json.loads(re.search(r'id="knoll-data">(.*?)</script>', text, re.S).group(1))["figures"]


MODELS = {
    "KMeans": lambda: fitted(knoll.KMeans, n_clusters=2),
    "GaussianMixture": lambda: fitted(knoll.GaussianMixture, n_components=2),
    "MorseClustering": lambda: fitted(knoll.MorseClustering, n_clusters=2, n_subclusters=6),
    "ModeSeeking": lambda: fitted(knoll.ModeSeeking, {name: PLACES[name] for name in ("lat", "lon")}),
    "KernelDensity": lambda: fitted(knoll.KernelDensity, {name: PLACES[name] for name in ("lat", "lon")}),
    "ModeSeeking, more columns": lambda: fitted(knoll.ModeSeeking, bandwidth=0.2, n_frequencies=256),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_map_has_longitude_across_and_the_same_length_both_ways(name):
    model = MODELS[name]()
    axes = model.plot().axes[0]
    axes.figure.canvas.draw()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("lon", "lat")
    middle = np.mean(axes.get_ylim())
    assert axes.get_aspect() == pytest.approx(1 / np.cos(np.radians(middle)))
    assert any(text.get_text().endswith("° E") for text in axes.get_xticklabels())
    assert any(text.get_text().endswith("° N") for text in axes.get_yticklabels())
    assert any(text.get_text().endswith(" km") for text in axes.texts)
    for figure in block(report_html(model)).values():
        if figure["type"] == "map":
            axes = figure["axes"]
            assert "longitude" in axes[figure["x"]]
            assert "latitude" in axes[figure["y"]]
        if figure["type"] == "xy":
            assert "longitude" in figure["x"]
            assert "latitude" in figure["y"]


def test_modes_stand_where_the_density_is_high():
    """Longitude is the second column here: the map must not draw the density on its side."""
    model = MODELS["ModeSeeking"]()
    figure = block(report_html(model))["density"]
    cells, dots = figure["layers"]
    shade = np.frombuffer(bytes.fromhex(cells["shade"]), dtype=np.uint8).reshape(cells["ny"], cells["nx"])
    for x, y in zip(dots["x"], dots["y"], strict=True):
        column = int((x - figure["x"]["low"]) / (figure["x"]["high"] - figure["x"]["low"]) * cells["nx"])
        row = int((y - figure["y"]["low"]) / (figure["y"]["high"] - figure["y"]["low"]) * cells["ny"])
        assert shade[row, column] > 100


def test_on_request_and_not():
    names = {"y": PLACES["lat"], "fare": PLACES["fare"], "x": PLACES["lon"]}
    model = fitted(knoll.KMeans, names, ("y", "fare", "x"), n_clusters=2)
    assert map_pairs(model) == []
    assert map_pairs(model, ("x", "y")) == [(2, 0)]
    assert model.plot(map=("x", "y")).axes[0].get_ylabel() == "y"
    assert '"longitude":0' in report_html(model, map=("x", "y"))
    assert '"longitude"' not in report_html(MODELS["KMeans"](), map=False)
    with pytest.raises(ValueError, match="names of two columns"):
        model.plot(map=("x", "z"))
    with pytest.raises(ValueError, match="bounds in degrees"):
        model.report("never.html", map=("x", "fare"))
    with pytest.raises(ValueError, match="say which are"):
        model.plot(map=True)
    profile = knoll.Profile(names, epsilon=1.0).fit(trips(("y", "fare", "x")))
    for ask in (profile.plot, lambda map: report_html(profile, map=map)):
        with pytest.raises(TypeError, match="no map of Profile"):
            ask(map=("x", "y"))


def test_names_and_bounds_tell():
    assert named_pairs(["Latitude", "Longitude"]) == [(1, 0)]
    assert named_pairs(["pickupLat", "dropoffLon"]) == []
    assert named_pairs(["long", "flat", "platform"]) == []
    wide = fitted(knoll.KMeans, {"lat": (0.0, 500.0), "lon": (0.0, 20.0)}, n_clusters=2)
    assert map_pairs(wide) == []  # no degrees of latitude
    logs = fitted(knoll.KMeans, {"lat": knoll.Log(1.0, 80.0), "lon": (0.0, 20.0)}, n_clusters=2)
    assert map_pairs(logs) == []
