"""Words of units: no unit adds more than it may, none moves another's words, and a private word stays private."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knoll.engines import ArrayEngine
from knoll.engines.ids import ids_of
from knoll.engines.tokens import LONGEST, stop_words, words_of
from knoll.engines.words import WordEngine, WordTable
from knoll.privacy import Budget, Curator, DataError, Grant, User
from knoll.queries import Box, Nearest, OpenWords, WordsByTopic

BOX = Box((-1.0, -1.0), (1.0, 1.0))
CELLS = Nearest(np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.7]]), BOX)
WORDS = [f"w{letter}" for letter in "abcdefghijkl"]
TEXT = st.tuples(st.integers(0, 4), st.lists(st.sampled_from(WORDS), max_size=8, unique=True), st.integers(0, 10**6))


def engine(rows, cap=2):
    """An engine over (user, words, seed of the vector); users 0 to 4."""
    vectors = np.array([np.random.default_rng(seed).uniform(-1, 1, 2) for _, _, seed in rows]).reshape(-1, 2)
    users = ids_of(np.array([user for user, _, _ in rows], dtype=np.int64))
    return WordEngine(
        ArrayEngine(vectors, users=users, unit=User("u", cap)), WordTable([words for _, words, _ in rows]), users
    )


def tallied(rows, most):
    names, counts = engine(rows).tally(OpenWords(most))
    return dict(zip(names, counts.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=25), st.integers(1, 5))
def test_a_user_who_leaves_takes_at_most_his_words(rows, most):
    query = WordsByTopic(WORDS[:9], CELLS, most)
    whole, by_topic = tallied(rows, most), engine(rows).aggregate(query)
    for user in {user for user, _, _ in rows}:
        rest = [row for row in rows if row[0] != user]
        left = tallied(rest, most) if rest else {}
        gone = {word: count - left.get(word, 0) for word, count in whole.items()}
        assert set(gone.values()) <= {0, 1}
        assert sum(gone.values()) <= most
        assert set(left) <= set(whole)
        change = by_topic - (engine(rest).aggregate(query) if rest else 0)
        assert set(np.unique(change)) <= {0, 1}
        assert change.sum() <= most
        assert np.linalg.norm(change * query.weights) <= query.max_norm(2)


def test_records_are_units_of_their_own(rng):
    words = [list(rng.choice(WORDS, size=6, replace=False)) for _ in range(50)]
    vectors = rng.uniform(-1, 1, (50, 2))
    one = WordEngine(ArrayEngine(vectors), WordTable(words))
    query = WordsByTopic(WORDS, CELLS, 4)
    assert one.aggregate(query).sum() == 200
    rows = np.hstack([vectors, np.array([[word in each for word in WORDS] for each in words], dtype=float)])
    assert np.array_equal(one.aggregate(query), query.summarise(rows))


def test_words_of_rows_without_a_vector_or_an_id_are_left_out(rng):
    vectors = rng.uniform(-1, 1, (4, 2))
    vectors[1] = np.nan
    users = ids_of(["a", "b", None, "a"])
    table = WordTable([["wa"], ["wb"], ["wc"], ["wa"]])
    made = WordEngine(ArrayEngine(vectors, users=users, unit=User("u", 2), missing="drop"), table, users)
    assert made.aggregate(WordsByTopic(WORDS, CELLS, 4)).sum() == 1
    assert tallied_names(made) == {"wa": 1, "wb": 1}
    with pytest.raises(DataError, match="no user id"):
        WordEngine(ArrayEngine(vectors, users=users, unit=User("u", 2)), table, users)
    with pytest.raises(DataError, match="4 vectors for 1 texts"):
        WordEngine(ArrayEngine(vectors), WordTable([["wa"]]))


def tallied_names(made):
    names, counts = made.tally(OpenWords(4))
    return dict(zip(names, counts.tolist(), strict=True))


def test_a_secret_that_one_user_writes_ten_thousand_times_is_never_shown():
    """The attack: one user repeats a word in every text; many fits with a generous budget."""
    rows = [(user, ["wa", "wb"], user) for user in range(400)] + [(1000, ["secret"], 7)] * 10_000
    made = engine(rows)
    for _ in range(300):
        with Curator(made, Budget(8.0, 1e-6, hiding=0.1), unit=User("u", 2)) as curator:
            found = Grant(curator).discover(OpenWords(5))
        assert found.names == ("wa", "wb")


def test_words_are_read_by_a_public_rule():
    assert words_of("It's the \uff23afé-Bar, café-bar! 12 a x1 naïve", stop_words()) == ["it's", "café-bar", "naïve"]
    assert words_of("spam " * 10**6 + "end") == ["spam"]
    assert len(words_of("ab " * LONGEST)) == 1
    assert words_of("x" * 31 + " ok " + "\ud800 \x00") == ["ok"]
    assert words_of("Refund the card", stop_words(("REFUND",))) == ["card"]
