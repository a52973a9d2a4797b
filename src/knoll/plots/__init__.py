"""Pictures of released values."""

from knoll.plots.clusters import plot_clusters
from knoll.plots.modes import plot_mode_tree, plot_modes, plot_regression, plot_surface

__all__ = ["plot_clusters", "plot_mode_tree", "plot_modes", "plot_regression", "plot_surface"]
