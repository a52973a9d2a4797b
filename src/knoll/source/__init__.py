"""Where rows come from: what a user hands to `fit`, as an engine."""

from knoll.source.clusters import Clustered, label_clustered, on_cluster
from knoll.source.places import Elsewhere, Source, Streamed, as_source, open_array, open_source, open_table
from knoll.source.users import split_users

__all__ = [
    "Clustered", "Elsewhere", "Source", "Streamed", "as_source", "label_clustered", "on_cluster", "open_array",
    "open_source", "open_table", "split_users",
]  # fmt: skip
