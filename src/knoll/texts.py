"""Texts on their way to an engine: read, encoded and cut into words, each text by itself.

What is made here goes to the engine of one fit, or back to the holder of the texts as labels; a model keeps nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from knoll.engines.tokens import stop_words, words_of
from knoll.engines.words import WordTable
from knoll.privacy.errors import DataError, PrivacyError
from knoll.source.encoders import encode, encoder_of
from knoll.source.texts import TextColumn, TextRows, texts_in

NO_DELTA = (
    "delta=0 cannot hide the words that one user alone writes: give vocabulary=, a public list of words, or a delta "
    "above 0"
)


def prepare(model: Any, X: Any, vectors: Any, users: Any) -> Any:
    """Return the texts of X as vectors and words; X itself if it holds numbers.

    Parameters
    ----------
    model : TopicMap
        With its parameters; none of them is set.
    X, vectors, users
        As for `TopicMap.fit`.
    """
    found = texts_in(X, model.text, model.unit, users)
    if found is None:
        return X
    if not model.vocabulary and model.delta == 0:
        raise PrivacyError(NO_DELTA)
    there = _there(found, model)
    if vectors is not None and np.shape(vectors)[0] != len(found.texts):
        raise DataError(f"{np.shape(vectors)[0]} vectors for {len(found.texts)} texts")
    rows = np.flatnonzero(there)
    texts = [text for text in found.texts if text is not None]
    made = encoded(model, texts) if vectors is None else vectors if there.all() else vectors[rows]
    leave_out = stop_words(tuple(model.stop_words or ()))
    table = WordTable([words_of(text, leave_out) for text in texts])
    ids = found.users if found.users is None or there.all() else found.users.take(rows)
    return TextRows(made, table, ids, found.name)


def encoded(model: Any, texts: list[str]) -> Any:
    """Return the vectors of texts by the model's encoder."""
    return encode(encoder_of(model.encoder, model.stop_words), texts)


def label_texts(model: Any, X: Any, label: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return the topic of each text of X, or of each row of X if it holds numbers; -1 for a missing text."""
    found = texts_in(X, model.text, None)
    if found is None:
        return label(X)
    there = _there(found, model)
    labels = np.full(len(there), -1)
    if there.any():
        labels[there] = label(encoded(model, [text for text in found.texts if text is not None]))
    return labels


def _there(found: TextColumn, model: Any) -> np.ndarray:
    """Return which rows have a text; refuse if one has none, unless such rows are dropped."""
    there = found.there
    if not there.all() and model.missing != "drop":
        raise DataError('some rows have no text. Pass missing="drop" to leave them out')
    return there
