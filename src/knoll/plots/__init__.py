"""Pictures of released values."""

from knoll.plots.clusters import plot_clusters

__all__ = ["plot_clusters"]
