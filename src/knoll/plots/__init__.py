"""Pictures of released values."""

from knoll.plots.clusters import plot_clusters
from knoll.plots.mixtures import plot_mixture, plot_side_by_side
from knoll.plots.morse import plot_morse

__all__ = ["plot_clusters", "plot_mixture", "plot_morse", "plot_side_by_side"]
