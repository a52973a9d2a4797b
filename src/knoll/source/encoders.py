"""From texts to vectors: an encoder is public and acts on each text alone. Nothing is learnt and nothing is downloaded.

Whether an encoder acts on each text alone is tried on made-up sentences, never on the user's texts: what it makes of
some together is compared with what it makes of each. If they differ by more than rounding it is refused: another
person's text would change yours. If they differ in the last bits, as products of matrices do, texts are encoded one by
one.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from knoll.engines.tokens import stop_words, words_of
from knoll.privacy.errors import DataError, PrivacyError, brief

HASHED = 2**14
"""Columns of the offline encoder."""

_PROBES = (
    "the parcel did not arrive", "how do I change my password", "parcel parcel", "an invoice for March, please",
    "the app closes when I open a photo and then it starts again from the beginning of the list", "no",
)  # fmt: skip
_ROUNDING = 1e-3  # of a vector's length: what half precision and other orders of summation may change

Encoder = Callable[[list[str]], Any]


def encoder_of(given: Any, leave_out: Sequence[str] | None) -> Encoder:
    """Return the encoder that a user names.

    Parameters
    ----------
    given : callable, str or None
        A function from a list of texts to vectors; the name or folder of a sentence-transformers model that is on this
        machine; None hashes words into `HASHED` columns, which needs no model.
    leave_out : sequence of str, optional
        Words that the offline encoder leaves out, beside common English ones.
    """
    if given is None:
        return partial(hashed, leave_out=stop_words(tuple(leave_out or ())))
    if isinstance(given, str):
        return _sentence_transformer(given)
    if not callable(given):
        raise PrivacyError(f"encoder={brief(given)} is neither a function of a list of texts nor the name of a model")
    return given


def hashed(texts: list[str], leave_out: frozenset[str] = frozenset()) -> Any:
    """Return which words each text holds, hashed into columns, as sparse rows of 0 and 1: stateless and public."""
    from sklearn.feature_extraction.text import HashingVectorizer

    made = HashingVectorizer(
        n_features=HASHED, alternate_sign=False, norm=None, binary=True, dtype=np.float32,
        analyzer=partial(words_of, leave_out=leave_out),
    )  # fmt: skip
    return made.transform(texts)


def _sentence_transformer(name: str) -> Encoder:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise PrivacyError(
            f"encoder={brief(name)} names a model of sentence-transformers, which is not installed: pip install "
            "sentence-transformers, or give a function of a list of texts, or leave it out to hash words"
        ) from None
    try:
        model = SentenceTransformer(name, local_files_only=True)
    except Exception:
        raise PrivacyError(
            f"the model {brief(name)} is not on this machine, and nothing is downloaded by itself: fetch it first"
        ) from None
    return lambda texts: model.encode(texts, show_progress_bar=False)


def each_alone(encoder: Encoder) -> Encoder:
    """Return an encoder whose vectors are functions of each text alone, bit for bit, whatever texts come together."""
    if _tried(encoder):
        return partial(_vectors, encoder)

    def one_by_one(texts: list[str]) -> Any:
        made = Vectors(len(texts))
        for text in texts:
            made.add(_vectors(encoder, [text]))
        return made.rows()

    return one_by_one


class Vectors:
    """Vectors that come block by block; dense ones are written to their place right away.

    Parameters
    ----------
    most : int
        Vectors that may come.
    """

    def __init__(self, most: int) -> None:
        self._most, self._filled = most, 0
        self._dense: Any = None
        self._parts: list[Any] = []

    def add(self, part: Any) -> None:
        """Take the vectors of some texts."""
        widths = {each.shape[1] for each in (part, self._dense, *self._parts[-1:]) if each is not None}
        if len(widths) > 1 or (sparse.issparse(part) != (self._dense is None) and self._filled):
            raise PrivacyError("the encoder gives vectors of different lengths; it must act on each text alone")
        if self._filled + part.shape[0] > self._most:
            raise DataError("there are more texts than before: the data changed while it was read")
        if sparse.issparse(part):
            self._parts.append(part)
        else:
            if self._dense is None:
                self._dense = np.empty((self._most, part.shape[1]), dtype=part.dtype)
            self._dense[self._filled : self._filled + len(part)] = part
        self._filled += part.shape[0]

    def rows(self) -> Any:
        """Return all of them: an array, or a sparse matrix."""
        if not self._filled:
            raise DataError("there are no texts in the data")
        return self._dense[: self._filled] if self._dense is not None else sparse.vstack(self._parts, format="csr")


def _tried(encoder: Encoder) -> bool:
    """Return whether an encoder gives the same bits for texts together and alone; refuse if vectors differ by more."""
    together = _dense(_vectors(encoder, list(_PROBES)))
    alone = [_dense(_vectors(encoder, [text])) for text in _PROBES]
    widths = {each.shape[1] for each in (together, *alone)}
    rows = np.concatenate(alone) if len(widths) == 1 else np.full(together.shape, np.inf)
    length = max(float(np.abs(together).max(initial=0.0)), 1e-30)
    apart = float(np.abs(together - rows).max(initial=0.0)) / length
    if not apart <= _ROUNDING:
        raise PrivacyError(
            "the encoder gives a text another vector if other texts come along (a vectorizer that is fitted to the "
            "texts does so): one person's text would change another's. Use one that acts on each text alone"
        )
    if apart > 0.0:
        warnings.warn(
            "the encoder's last bits depend on the texts that come along; texts are encoded one by one, which is slow",
            UserWarning,
            stacklevel=5,
        )
    return apart == 0.0


def _vectors(encoder: Encoder, texts: list[str]) -> Any:
    """Return what an encoder makes of some texts, checked."""
    made = encoder(texts)
    if sparse.issparse(made):
        made = made.tocsr()
    else:
        made = np.asarray(made)
        made = made if made.dtype in (np.float16, np.float32) else made.astype(np.float64)
    if made.ndim != 2 or made.shape[0] != len(texts) or not made.shape[1]:
        raise DataError(
            f"the encoder gives an array of shape {made.shape} for {len(texts)} texts; it needs a row for each"
        )
    return made


def _dense(vectors: Any) -> np.ndarray:
    return np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, dtype=np.float64)
