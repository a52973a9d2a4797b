"""Words: which of them a unit adds, how many units hold each word, and how many in each cell.

A unit is a record, or all records of a user together. It adds at most m different words, each once, and each from one
of its records. Which ones follows from the unit's own words and id and from public lists alone: the words with the
smallest hash, keyed by the user's id (of a record: by all its words). Hence nobody else's words move, whoever comes or
goes; and a user with ten thousand texts adds no more than one with m words. The hash need be neither secret nor good.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knoll.arrays import Floats, Integers
from knoll.privacy.parts import Words, mix
from knoll.queries.nearest import Nearest
from knoll.queries.query import COUNT_WEIGHT, Query
from knoll.queries.sparse_rows import SparseRows


@dataclass(frozen=True)
class OpenWords:
    """How many units hold each word, of a vocabulary that nobody knows before (see `knoll.privacy.discovery`).

    Sensitivity. A unit adds 1 to at most `most` words: sqrt(most) in l2.

    Parameters
    ----------
    most : int
        Words that one unit adds.
    """

    most: int
    name: str = "words"


class WordBlock:
    """Some records, and the words that they add: pairs of a record's number in the block and a word's in the list."""

    def __init__(self, vectors: Any, row: Integers, word: Integers) -> None:
        self.vectors, self.row, self.word = vectors, row, word

    def __len__(self) -> int:
        return len(self.vectors)


class WordsByTopic(Query):
    """How many units use each of some public words in each cell. The total has shape (cells, words).

    Sensitivity. A unit adds 1 in at most t = min(m, words) places, one for each word that it adds, in the cell of the
    record that it adds it from: norm sqrt(t) votes in l2, t in l1. difference: two units in no common place, 2 t
    places, or all there are. This is for the whole unit, however many records it has: the engine cuts words by unit.

    Parameters
    ----------
    words : sequence of str
        The public words.
    cells : Nearest
        The cells of records.
    most : int
        Words that one unit adds.
    """

    name = "words by topic"
    of_whole_unit = True

    def __init__(self, words: Sequence[str], cells: Nearest, most: int) -> None:
        self.words, self.cells, self.most = tuple(words), cells, int(most)
        self.shape = (cells.n_cells, len(self.words))
        self.weights, self.step = np.array(COUNT_WEIGHT), np.array(1.0)
        self.touched, self.largest = min(self.most, len(self.words)), COUNT_WEIGHT

    def summarise(self, block: Any) -> Integers:
        """Count words in cells. Of an array, columns after those of the cells are words: above zero is a word."""
        if not isinstance(block, WordBlock):
            block = self._of_array(np.asarray(block))
        whole = _without_nan(block.vectors)
        labels = np.full(len(block), -1)
        labels[whole] = self.cells.labels(block.vectors[whole])
        cell = labels[block.row]
        places = cell[cell >= 0] * len(self.words) + block.word[cell >= 0]
        return np.bincount(places, minlength=self.shape[0] * self.shape[1]).reshape(self.shape).astype(np.int64)

    def _of_array(self, array: Floats) -> WordBlock:
        """Return records of an array, each a unit, with the words that each adds."""
        array = array[~np.isnan(array).any(axis=1)]
        d = self.cells.domain.n_sources if hasattr(self.cells.domain, "n_sources") else array.shape[1] - len(self.words)
        row, word = np.nonzero(array[:, d:] > 0)
        kept = added_words(row, word, len(array), hashes_of(self.words), self.most)
        return WordBlock(array[:, :d], row[kept], word[kept])

    def max_norm(self, norm: int) -> float:
        """As many words as a unit adds."""
        return COUNT_WEIGHT * float(self.touched) ** (1 / norm)

    def max_difference(self, norm: int) -> float:
        """Two units in different places."""
        places = min(2 * self.touched, self.shape[0] * self.shape[1])
        return COUNT_WEIGHT * float(places) ** (1 / norm)


def hashes_of(words: Sequence[str]) -> Words:
    """Return 64 bits of hash of each word, the same everywhere."""
    texts = (word.encode("utf-8", "surrogatepass") for word in words)
    found = [int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little") for text in texts]
    return np.array(found, dtype=np.uint64)


def added_words(
    row: Integers, word: Integers, n_rows: int, hashes: Words, most: int, unit: Integers | None = None,
    seeds: Words | None = None,
) -> Integers:  # fmt: skip
    """Return which pairs (row, word) count: at most `most` words of each unit, each from one of its rows.

    Parameters
    ----------
    row, word : integer arrays
        The words of each row, each once.
    n_rows : int
        Number of rows.
    hashes : array
        The hash of each word.
    most : int
        Words that a unit adds.
    unit, seeds : arrays of shape (n_rows,), optional
        The unit of each row, and the seed of its id; else each row is a unit, and its words are its seed.

    Returns
    -------
    kept : integer array
        Numbers of pairs, in order.
    """
    if not len(row):
        return np.zeros(0, dtype=np.int64)
    of_row = np.zeros(n_rows, dtype=np.uint64)
    np.add.at(of_row, row, hashes[word])
    unit = np.arange(n_rows) if unit is None else unit
    seed = mix(of_row if seeds is None else seeds)[row]
    who, key = unit[row], mix(hashes[word] ^ seed)
    order = np.lexsort((mix(of_row[row] ^ seed), word, key, who))
    who, sorted_word = who[order], word[order]
    again = np.append(False, (who[1:] == who[:-1]) & (sorted_word[1:] == sorted_word[:-1]))
    order, who = order[~again], who[~again]
    starts = np.flatnonzero(np.append(True, who[1:] != who[:-1]))
    rank = np.arange(len(who)) - np.repeat(starts, np.diff(np.append(starts, len(who))))
    return np.sort(order[rank < most])


def _without_nan(vectors: Any) -> Any:
    """Return which rows hold no NaN."""
    if isinstance(vectors, SparseRows):
        return ~vectors.rows_with(np.isnan(vectors.values))
    return ~np.isnan(vectors).any(axis=1)
