"""Texts on their way to an engine: read, encoded and cut into words, block by block, each text by itself.

What stays of a text is its vector, and four bytes for each of its words.

What is made here goes to the engine of one fit, or back to the holder of the texts as labels; a model keeps nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from knoll import progress
from knoll.engines.ids import IdBlocks
from knoll.engines.texts import TextBlock
from knoll.engines.tokens import stop_words, words_of
from knoll.engines.words import WordTable
from knoll.privacy.errors import DataError, PrivacyError
from knoll.privacy.relation import User
from knoll.source.encoders import Vectors, each_alone, encoder_of
from knoll.source.texts import TextRows, texts_in

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
    encoder = None if vectors is not None else each_alone(encoder_of(model.encoder, model.stop_words))
    count = found.texts.count()
    if vectors is not None and np.shape(vectors)[0] != count:
        raise DataError(f"{np.shape(vectors)[0]} vectors for {count} texts")
    made, ids, words = Vectors(count), IdBlocks(), WordTable()
    leave_out = stop_words(tuple(model.stop_words or ()))
    kept = [np.zeros(0, dtype=bool)]
    for block in found.texts.blocks():
        there, texts = _there(block, model)
        if encoder is not None and texts:
            made.add(encoder(texts))
        words.add(words_of(text, leave_out) for text in texts)
        if block.users is not None:
            ids.add(block.users.filter(pa.array(there)))
        kept.append(there)
        progress.report("texts", block.done)
    rows = np.flatnonzero(np.concatenate(kept))
    whole = len(rows) == count
    users = found.users if found.users is None or whole else found.users.take(rows)
    if isinstance(model.unit, User) and found.users is None:
        users = ids.ids()
    return TextRows(made.rows() if vectors is None else vectors if whole else vectors[rows], words, users, found.name)


def label_texts(model: Any, X: Any, label: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return the topic of each text of X, or of each row of X if it holds numbers; -1 for a missing text."""
    found = texts_in(X, model.text, None)
    if found is None:
        return label(X)
    encoder = each_alone(encoder_of(model.encoder, model.stop_words))
    labels = [np.zeros(0, dtype=np.int64)]
    for block in found.texts.blocks():
        there, texts = _there(block, model)
        labels.append(np.full(len(there), -1))
        if texts:
            labels[-1][there] = label(encoder(texts))
    return np.concatenate(labels)


def _there(block: TextBlock, model: Any) -> tuple[np.ndarray, list[str]]:
    """Return which rows have a text, and these; refuse if one has none, unless such rows are dropped."""
    there = np.array([text is not None for text in block.texts], dtype=bool)
    if not there.all() and model.missing != "drop":
        raise DataError('some rows have no text. Pass missing="drop" (--missing drop) to leave them out')
    return there, [text for text in block.texts if text is not None]
