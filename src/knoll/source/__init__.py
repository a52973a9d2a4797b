"""Where rows come from: what a user hands to `fit`, as an engine."""

from knoll.engines.sql import Table
from knoll.source.clusters import Clustered, label_clustered, on_cluster
from knoll.source.labelled import label_stream
from knoll.source.places import Elsewhere, Source, Streamed, as_source, open_array, open_source, open_table
from knoll.source.users import split_users

__all__ = [
    "Clustered", "Elsewhere", "Source", "Streamed", "Table", "as_source", "label_clustered", "label_stream",
    "on_cluster", "open_array", "open_source", "open_table", "split_users",
]  # fmt: skip
