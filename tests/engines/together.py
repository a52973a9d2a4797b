"""All registered queries asked at once: one pass of an engine, however slow it is, tests every one of them."""

import numpy as np

from knoll.queries.query import Query
from tests.contract.registry import QUERIES

WIDTH = max(d for _, d in QUERIES.values())


class Together(Query):
    """The totals of all registered queries, one after the other; each looks at the first columns of a row."""

    name = "all queries"

    def __init__(self):
        self.queries = list(QUERIES.values())
        self.shape = (sum(int(np.prod(query.shape)) for query, _ in self.queries),)
        self.weights, self.step = np.array(1), np.array(1.0)
        self.touched, self.largest = self.shape[0], 2**44

    def summarise(self, block):
        return np.concatenate([np.ravel(query.summarise(block[:, :d])) for query, d in self.queries])

    def max_norm(self, norm):
        return 1.0

    max_difference = max_norm

    def names_of(self, differs):
        """Return the names of the queries whose totals differ."""
        sizes = [int(np.prod(query.shape)) for query, _ in self.queries]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return [list(QUERIES)[i] for i in np.unique(owner[differs])]


def rows_for_all(n=1000):
    """Rows that every registered query can be asked about."""
    return np.random.default_rng(3).normal(scale=20.0, size=(n, WIDTH)).round(3)


def assert_same(engine, other):
    """Ask both engines all queries."""
    query = Together()
    found, expected = engine.aggregate(query), other.aggregate(query)
    assert not (names := query.names_of(found != expected)), names
