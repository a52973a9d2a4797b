"""Texts behind the wall: vectors of records, summed by another engine, and their words, which are counted here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from knoll.arrays import Integers
from knoll.engines.engine import Engine
from knoll.engines.ids import NO_ID, places_of, seeds_of
from knoll.privacy.errors import DataError
from knoll.privacy.query import QueryProtocol, bounded_total
from knoll.privacy.relation import User
from knoll.queries.words import OpenWords, WordBlock, WordsByTopic, added_words, hashes_of


class WordTable:
    """The words of records, as numbers in a private list of all words that occur.

    Parameters
    ----------
    words : sequence of sequences of str
        The different words of each record.
    """

    def __init__(self, words: Sequence[Sequence[str]]) -> None:
        numbers: dict[str, int] = {}
        lengths = np.fromiter((len(each) for each in words), dtype=np.int64, count=len(words))
        flat = (numbers.setdefault(word, len(numbers)) for each in words for word in each)
        self.word = np.fromiter(flat, dtype=np.int64, count=int(lengths.sum()))
        self.row = np.repeat(np.arange(len(words)), lengths)
        self.numbers, self.n_rows = numbers, len(words)
        self.hashes = hashes_of(list(numbers))


class WordEngine:
    """Records with vectors and words.

    Parameters
    ----------
    vectors : Engine
        The vectors of the records, in memory.
    words : WordTable
        Their words.
    users : Ids, optional
        The user of each record, if the unit is a user.
    """

    def __init__(self, vectors: Engine, words: WordTable, users: Any = None) -> None:
        self._vectors, self._words = vectors, words
        self._unit = self._seeds = None
        if isinstance(vectors.unit, User):
            _, self._unit = places_of(users)
            self._seeds = seeds_of(users)
            if vectors.missing != "drop" and (self._unit == 0).any():
                raise DataError(NO_ID)
        if words.n_rows != vectors.row_limit:
            raise DataError(f"{vectors.row_limit} vectors for {words.n_rows} texts")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vectors, name)

    def aggregate(self, query: QueryProtocol) -> Integers:
        """Return the exact integer total of a query over all records."""
        return self._by_topic(query) if isinstance(query, WordsByTopic) else self._vectors.aggregate(query)

    def tally(self, query: OpenWords) -> tuple[list[str], Integers]:
        """Return the words that units add, and how many add each."""
        table = self._words
        kept = self._added(np.ones(len(table.numbers), dtype=bool), query.most)
        counts = np.bincount(table.word[kept], minlength=len(table.numbers)).astype(np.int64)
        held = np.flatnonzero(counts)
        known = list(table.numbers)
        return [known[each] for each in held], counts[held]

    def _added(self, among: Any, most: int) -> Integers:
        """Return which pairs (record, word) count, if only some words may."""
        table = self._words
        may = among[table.word]
        if self._unit is not None:
            may = may & (self._unit[table.row] > 0)
        pairs = np.flatnonzero(may)
        chosen = added_words(
            table.row[pairs], table.word[pairs], table.n_rows, table.hashes, most, self._unit, self._seeds
        )
        return pairs[chosen]

    def _by_topic(self, query: WordsByTopic) -> Integers:
        """Count the words of units in cells, block by block."""
        table = self._words
        place = np.full(len(table.numbers) + 1, -1)
        for j, word in enumerate(query.words):
            place[table.numbers.get(word, -1)] = j
        place = place[:-1]
        kept = self._added(place >= 0, query.most)
        row, number = table.row[kept], place[table.word[kept]]
        total, start = np.zeros(query.shape, dtype=np.int64), 0
        for vectors, _, _ in self._vectors.read():
            stop = start + len(vectors)
            part = slice(*np.searchsorted(row, [start, stop]))
            total += bounded_total(query, WordBlock(vectors, row[part] - start, number[part]))  # type: ignore[arg-type]
            start = stop
        return total
