"""Texts behind the wall: vectors of records, summed by another engine, and their words, which are counted here."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from knoll.arrays import Integers
from knoll.engines.engine import Engine
from knoll.engines.ids import NO_ID, places_of, seeds_of
from knoll.privacy.errors import DataError
from knoll.privacy.query import QueryProtocol, bounded_total
from knoll.privacy.relation import User
from knoll.queries.words import OpenWords, WordBlock, WordsByTopic, added_words, hashes_of

_AT_ONCE = 2**14  # records whose words are chosen at a time


class WordTable:
    """The words of records, as numbers in a private list of all words that occur; four bytes a word.

    Parameters
    ----------
    words : iterable of sequences of str
        The different words of each record.
    """

    def __init__(self, words: Iterable[Sequence[str]] = ()) -> None:
        self.numbers: dict[str, int] = {}
        self._words, self._lengths = list[Any](), list[Any]()
        self.add(words)

    def add(self, words: Iterable[Sequence[str]]) -> None:
        """Take the words of some more records."""
        numbers, listed = self.numbers, [np.zeros(0, dtype=np.int32)]
        for each in words:
            found = (numbers.setdefault(word, len(numbers)) for word in each)
            listed.append(np.fromiter(found, dtype=np.int32, count=len(each)))
        self._lengths.append(np.array([len(each) for each in listed[1:]], dtype=np.int64))
        self._words.append(np.concatenate(listed))
        self.__dict__.pop("word", None)
        self.__dict__.pop("ends", None)

    @property
    def n_rows(self) -> int:
        """The number of records."""
        return sum(len(each) for each in self._lengths)

    @cached_property
    def word(self) -> Any:
        """The words of all records, record after record."""
        self._words = [np.concatenate(self._words)]
        return self._words[0]

    @cached_property
    def ends(self) -> Integers:
        """Where the words of each record begin, and the last ones end."""
        return np.concatenate([[0], np.cumsum(np.concatenate(self._lengths))])


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
        """Return which pairs (record, word) count, if only some words may; some units at a time."""
        table, hashes = self._words, hashes_of(list(self._words.numbers))
        found = [np.zeros(0, dtype=np.int64)]
        for rows in self._runs():
            starts, lengths = table.ends[rows], table.ends[rows + 1] - table.ends[rows]
            row = np.repeat(np.arange(len(rows)), lengths)
            pairs = np.arange(len(row)) + (starts - (np.cumsum(lengths) - lengths))[row]
            may = among[table.word[pairs]]
            row, pairs = row[may], pairs[may]
            unit, seeds = (None if each is None else each[rows] for each in (self._unit, self._seeds))
            chosen = added_words(row, table.word[pairs], len(rows), hashes, most, unit, seeds)
            found.append(pairs[chosen])
        return np.sort(np.concatenate(found))

    def _runs(self) -> Iterator[Integers]:
        """Yield the numbers of records, all of a unit together; those without a user are left out."""
        n = self._words.n_rows
        if self._unit is None:
            yield from (np.arange(start, min(start + _AT_ONCE, n)) for start in range(0, n, _AT_ONCE))
            return
        order = np.argsort(self._unit, kind="stable")
        unit = self._unit[order]
        start = int(np.searchsorted(unit, 0, side="right"))
        while start < n:
            last = unit[min(start + _AT_ONCE, n) - 1]
            stop = int(np.searchsorted(unit, last, side="right"))
            yield order[start:stop]
            start = stop

    def _by_topic(self, query: WordsByTopic) -> Integers:
        """Count the words of units in cells, block by block."""
        table = self._words
        place = np.full(len(table.numbers) + 1, -1)
        for j, word in enumerate(query.words):
            place[table.numbers.get(word, -1)] = j
        place = place[:-1]
        kept = self._added(place >= 0, query.most)
        row, number = np.searchsorted(table.ends, kept, side="right") - 1, place[table.word[kept]]
        total, start = np.zeros(query.shape, dtype=np.int64), 0
        for vectors, _, _ in self._vectors.read():
            stop = start + len(vectors)
            part = slice(*np.searchsorted(row, [start, stop]))
            total += bounded_total(query, WordBlock(vectors, row[part] - start, number[part]))  # type: ignore[arg-type]
            start = stop
        return total
