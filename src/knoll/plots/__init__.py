"""Pictures of released values: the extra `knoll[plots]`. Reports draw without it."""

from importlib.util import find_spec

if find_spec("matplotlib") is None:
    raise ModuleNotFoundError(
        "pictures need matplotlib: pip install 'knoll[plots]'. Reports do without: model.report('report.html')",
        name="matplotlib",
    )

from knoll.plots.clusters import plot_clusters
from knoll.plots.density import plot_density
from knoll.plots.mixtures import plot_mixture, plot_side_by_side
from knoll.plots.modes import plot_mode_tree, plot_modes, plot_surface
from knoll.plots.morse import plot_morse
from knoll.plots.picture import plot
from knoll.plots.plan import plot_plan
from knoll.plots.profile import plot_profile
from knoll.plots.regression import plot_regression

__all__ = [
    "plot",
    "plot_clusters",
    "plot_density",
    "plot_mixture",
    "plot_mode_tree",
    "plot_modes",
    "plot_morse",
    "plot_plan",
    "plot_profile",
    "plot_regression",
    "plot_side_by_side",
    "plot_surface",
]
