"""Clusters of any shape: their regions over the density of the sub-clusters, the passes between, and the merge tree."""

from dataclasses import replace
from typing import Any

import numpy as np

from knoll.report.page.axes import MapAsked, axes_of, two_widest
from knoll.report.page.clusters import clusters_found
from knoll.report.page.found import Found, owners, rounded, shaded
from knoll.report.page.html import figure

CELLS = 72  # along each side of the map
DEPTH = 6.0  # log density below the highest peak at which the shade ends
REACH = 3.0  # standard deviations about the sub-clusters that are drawn


def morse_found(model: Any, map: MapAsked = None) -> Found:
    """Return what clusters of any shape add to clusters: regions, passes and merge tree."""
    found = clusters_found(model, map)
    figures, parts = dict(found.figures), list(found.parts)
    axes = axes_of(model, model.means_, np.zeros_like(model.means_), map=map)
    first, second = two_widest(axes)
    places = [axes[first].place, None if second is None else axes[second].place]
    extra = []
    if None not in places:
        figures["regions"] = _regions(model, axes[first], axes[second or 0], places)
        rest = " Other columns are integrated out." if len(axes) > 2 else ""
        words = f"Shade: density. Dots: sub-clusters. Crosses: passes between peaks.{rest}"
        extra.append(figure("regions", "The regions of the clusters.", words))
    if len(model.dendrogram_):
        figures["tree"] = {"type": "tree", **_tree(model)}
        words = "Sub-clusters join where the density between them is high. Colours: clusters; grey: kept apart."
        extra.append(figure("tree", "The merge tree.", words))
    return replace(found, figures=figures, parts=[*extra, *parts])


def _regions(model: Any, x: Any, y: Any, places: list[Any]) -> dict[str, Any]:
    """Return the map of regions: each cell has the colour of its most probable cluster, shaded by the density."""
    variance = np.einsum("kii->ki", model.covariances_)[:, places]
    reach, means = REACH * np.sqrt(variance), model.means_[:, places]
    low = np.maximum((means - reach).min(axis=0), [x.low, y.low])
    high = np.minimum((means + reach).max(axis=0), [x.high, y.high])
    sides = [a + (np.arange(CELLS) + 0.5) / CELLS * (b - a) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*sides, indexing="xy"), axis=-1).reshape(-1, 2)
    covariances = model.covariances_[:, places][:, :, places]
    mixture = type(model.mixture_)(model.weights_, means, covariances)
    density = mixture.log_density(points)
    owner = model.component_clusters_.astype(int)
    shares = mixture.predict_proba(points) @ np.eye(model.n_clusters_)[owner]
    shade = (density - density.max() + DEPTH) / DEPTH
    cells = {"draw": "cells", "nx": CELLS, "ny": CELLS, "shade": shaded(shade),
             "marks": owners(shares.argmax(axis=1)), "word": "region of cluster"}  # fmt: skip
    dots = {
        "draw": "points", "x": rounded(means[:, 0]), "y": rounded(means[:, 1]), "small": True, "marks": owner.tolist(),
        "text": [f"Sub-cluster {i} of cluster {owner[i]}: {weight:.1%}" for i, weight in enumerate(model.weights_)],
    }  # fmt: skip
    axes = [{**axis.to_dict(), "low": float(low[j]), "high": float(high[j])} for j, axis in enumerate((x, y))]
    for axis in axes:
        axis.update(at=[], error=[], text=[])
    return {"type": "xy", "x": axes[0], "y": axes[1], "layers": [cells, *_passes(model, places), dots]}


def _passes(model: Any, places: list[Any]) -> list[dict[str, Any]]:
    """Return the highest pass between every two peaks, as crosses."""
    if not len(model.saddles_):
        return []
    order = np.argsort(-model.saddle_heights_, kind="stable")
    ends = np.asarray(model.saddle_ends_, dtype=int)
    _, first = np.unique(ends[order], axis=0, return_index=True)
    at = model.saddles_[order[first]][:, places]
    apart = [len({int(model.peak_clusters_[end]) for end in ends[i]}) > 1 for i in order[first]]
    text = ["Pass between two clusters" if each else "Pass within a cluster" for each in apart]
    return [{"draw": "crosses", "x": rounded(at[:, 0]), "y": rounded(at[:, 1]), "text": text}]


def _tree(model: Any) -> dict[str, Any]:
    """Return the merge tree: which nodes join and how far below the highest peak; clusters of the leaves."""
    n = len(model.dendrogram_) + 1
    clusters = model.component_clusters_.astype(int).tolist()
    return {
        "joins": [[int(a), int(b), float(f"{depth:.5g}")] for a, b, depth, _ in model.dendrogram_],
        "clusters": [*clusters, *[-1] * (n - len(clusters))],
        "sure": rounded(model.merge_confidence_, 3),
    }
