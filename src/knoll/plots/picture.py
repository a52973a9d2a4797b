"""The picture of any fitted model: the first line whose attribute it has."""

from collections.abc import Callable
from typing import Any

from matplotlib.figure import Figure

from knoll.plots.clusters import plot_clusters
from knoll.plots.density import plot_density
from knoll.plots.mixtures import plot_mixture
from knoll.plots.modes import plot_modes
from knoll.plots.morse import plot_morse
from knoll.plots.plan import plot_plan
from knoll.plots.profile import plot_profile
from knoll.plots.regression import plot_regression
from knoll.plots.style import MapAsked
from knoll.plots.topics import plot_topics

PICTURES: tuple[tuple[str, Callable[..., Figure]], ...] = (
    ("word_counts_", plot_topics),
    ("dendrogram_", plot_morse),
    ("cluster_centers_", plot_clusters),
    ("weights_", plot_mixture),
    ("curves", plot_regression),
    ("modes_", plot_modes),
    ("totals_", plot_density),
    ("cells_", plot_profile),
    ("risks", plot_plan),
)
"""The attribute that tells a kind of result, and what draws it."""
MAPS = (plot_clusters, plot_density, plot_mixture, plot_modes, plot_morse)
"""Those that can draw a map."""


def plot(model: Any, title: str | None = None, *, map: MapAsked = None) -> Figure:
    """Draw a fitted model or a plan from its released values alone.

    Parameters
    ----------
    model : fitted estimator or SimulatedPlan
        Of any kind that has a picture.
    title : str, optional
        Headline.
    map : pair of str or bool, optional
        Columns of longitudes and latitudes, as in `plot_clusters`.

    Returns
    -------
    figure : matplotlib Figure
    """
    for attribute, draw in PICTURES:
        if hasattr(model, attribute):
            if map is None:
                return draw(model, title)
            if draw not in MAPS:
                raise TypeError(f"no map of {type(model).__name__}: leave map out")
            return draw(model, title, map=map)
    raise TypeError(f"no picture of {type(model).__name__}: it is not fitted, or of no kind that has one")
