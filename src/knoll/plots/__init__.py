"""Pictures of released values."""

from knoll.plots.clusters import plot_clusters
from knoll.plots.morse import plot_morse

__all__ = ["plot_clusters", "plot_morse"]
