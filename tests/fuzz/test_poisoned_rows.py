"""Poisoned rows, dense and sparse: harmless, or refused before anything is spent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import knoll
from knoll.privacy import DataError
from knoll.privacy.ledger import MemoryLedger
from knoll.queries import ChosenColumns, Nearest, SparseMoments, SparseRows
from knoll.testing import seeded_noise

pytestmark = pytest.mark.filterwarnings("ignore::knoll.DiagnosticWarning")

D = 12
GOOD = (np.random.default_rng(0).random((300, D)) < 0.4).astype(float)
POISON = {
    "huge": [1e308] * D, "overflows": [1e300, -1e308, *[1e308] * (D - 2)], "tiny": [5e-324] * D, "zeros": [0.0] * D,
    "negative": [-3.0] * D, "minus zero": [-0.0] * D, "nan": [np.nan, *[1.0] * (D - 1)], "all nan": [np.nan] * D,
    "inf": [np.inf, *[1.0] * (D - 1)], "minus inf": [-np.inf] * D,
}  # fmt: skip
FORMATS = [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix]


def fitted_or_refused(model, *data, **more):
    """Fit; return whether it was refused, and then nothing was spent."""
    ledger = MemoryLedger()
    model.set_params(ledger=ledger)
    try:
        model.fit(*data, **more)
    except DataError:
        assert not ledger.lines
        return True
    assert np.isfinite(model.cluster_centers_).all()
    assert np.isfinite(model.cluster_sizes_).all()
    assert np.linalg.norm(model.cluster_centers_, axis=1).max() < 1.0 + 1e-6
    assert model.privacy_.spent_epsilon <= 1.0
    return False


@pytest.mark.parametrize("poison", POISON, ids=str)
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.__name__)
def test_a_poisoned_row_is_harmless_or_refused_before_a_spend(poison, form):
    rows = form(np.vstack([GOOD, POISON[poison]]))
    bad = not np.isfinite(POISON[poison]).all()
    assert fitted_or_refused(knoll.SphericalKMeans(2, random_state=0), rows) == bad
    assert not fitted_or_refused(knoll.SphericalKMeans(2, random_state=0, missing="drop"), rows)
    texts = [f"word{chr(97 + i % 3)} and others" for i in range(len(GOOD) + 1)]
    assert fitted_or_refused(knoll.TopicMap(2, random_state=0), texts, vectors=rows) == bad


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("form", FORMATS[1:], ids=lambda form: form.__name__)
def test_every_kind_of_number_and_format_gives_the_same_fit(kind, form):
    found = []
    for rows in (sparse.csr_array(GOOD), form(GOOD.astype(kind))):
        with seeded_noise(1):
            found.append(knoll.SphericalKMeans(2, random_state=0).fit(rows).cluster_centers_)
    assert np.array_equal(*found)


VALUE = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([0.0, -0.0, 1.0, 1e308, 5e-324]))
ENTRIES = st.lists(st.tuples(st.integers(0, D - 1), VALUE), max_size=40)
DOMAIN = ChosenColumns(D, np.arange(2, 9), np.linspace(0.5, 2.0, 7))
QUERY = SparseMoments(Nearest(np.eye(7)[:3], DOMAIN), DOMAIN)


@settings(max_examples=150, deadline=None)
@given(ENTRIES, ENTRIES)
def test_any_entries_in_any_order_stay_within_the_sensitivity(first, second):
    """Repeated, unsorted, zero and huge entries: one row adds no more than declared, and two differ by no more."""

    def total(entries):
        columns, values = (np.array([each[i] for each in entries], dtype=t) for i, t in ((0, np.int64), (1, float)))
        raw = sparse.csr_array((values, columns, np.array([0, len(entries)])), shape=(1, D))
        with np.errstate(over="ignore", invalid="ignore"):
            return QUERY.summarise(SparseRows.of(raw)) * QUERY.weights

    one, other = total(first), total(second)
    for norm in (1, 2):
        assert np.linalg.norm(one.ravel(), norm) <= QUERY.max_norm(norm)
        assert np.linalg.norm((one - other).ravel(), norm) <= QUERY.max_difference(norm)
    assert np.array_equal(one, total([*first, (3, 0.0)]))  # an explicit zero is nothing


def test_a_row_with_every_entry_is_one_row():
    rows = sparse.random_array((200, 20_000), density=1e-3, format="csr", rng=np.random.default_rng(0))
    full = sparse.csr_array(np.ones((1, 20_000)))
    assert not fitted_or_refused(knoll.SphericalKMeans(2, random_state=0), sparse.vstack([rows, full], format="csr"))
