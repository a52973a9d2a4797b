"""Disjoint random parts of the records: which part a record is in, a query that sees one part only, and their door.

A record's part is a keyed hash of its values: a function of the record and of a public key alone. It does not move when
other records come or go, and no record is in two parts. The key need not be secret: the guarantee holds for each.
"""

import threading
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from knoll.privacy.errors import BudgetExceededError, PrivacyError
from knoll.privacy.query import Floats, Integers, QueryProtocol, check_query
from knoll.privacy.relation import Relation
from knoll.privacy.released import Entry, Released
from knoll.privacy.sources import NoiseSource, noise_source

if TYPE_CHECKING:
    from knoll.privacy.curator import Curator

Words = npt.NDArray[np.uint64]


class InPart:
    """A query over the records of one part.

    Sensitivity, of the totals of all parts as one vector, each total in units of its own figure, whatever query it
    answers. A record adds to one part, so one that comes or goes changes the vector by one unit at most. One that turns
    into another either stays in its part, again one unit, or leaves one part and enters another: two contributions side
    by side, each of at most 2^(-1/norm) units, hence one unit together. A user's records add up by the triangle
    inequality.
    """

    def __init__(self, query: QueryProtocol, part: int, parts: int, key: int) -> None:
        self._query, self._part, self._parts, self._key = query, part, parts, key
        self.name = f"{query.name}, each of {parts} disjoint parts of the records once"
        self.shape, self.weights, self.step = query.shape, query.weights, query.step
        self.touched, self.largest = query.touched, query.largest

    def summarise(self, block: Floats) -> Integers:
        """Return the exact total over a block's records of this part."""
        return self._query.summarise(block[part_of(block, self._key, self._parts) == self._part])

    def sensitivity(self, relation: Relation, norm: int) -> float:
        """Return the largest change of the totals of all parts together between neighbours."""
        change = self._query.sensitivity(relation, norm)
        if relation is not Relation.REPLACE_ONE:
            return change
        return max(change, 2.0 ** (1 / norm) * self._query.sensitivity(Relation.ADD_REMOVE, norm))


class Parts:
    """Disjoint parts of the records. Each answers one query; the first to do so is recorded and pays for all."""

    def __init__(self, curator: "Curator", number: int, share: float, key: int):
        self._curator, self._number, self._share, self._key = curator, number, share, key
        self._used, self._touched = 0, 0
        self._paid: Entry | None = None
        self._lock = threading.Lock()  # for a whole release: no part answers before the first has paid

    def release(self, query: QueryProtocol) -> Released:
        """Answer one query from the next part. All of them have the first one's shape, and so its cost."""
        with self._lock:
            if self._used == self._number:
                raise BudgetExceededError(f"all {self._number} parts of the records have answered")
            curator, source = self._curator, noise_source.get()
            check_query(query)
            seen = InPart(query, self._used, self._number, self._key)
            if self._paid is None:
                with curator._reserved(seen, self._share, source, self._number) as entry:
                    total = curator._sum(seen)
                    curator._record(entry)
                self._paid, self._touched = entry, query.touched
            else:
                entry = self._paid_for(seen, source)
                total = curator._sum(seen)
            self._used += 1
            return curator._noisy(seen, total, entry, source)

    def _paid_for(self, query: InPart, source: NoiseSource) -> Entry:
        """Return the entry of a later part, if the first has paid for it."""
        entry, paid = self._curator._calibrated(query, self._share, source, self._number), self._paid
        assert paid is not None
        if query.touched > self._touched or entry.shape != paid.shape or entry.noise != paid.noise:
            raise PrivacyError(f"{query.name!r} is not what the first part paid for: it differs in shape or noise")
        return entry


def part_of(block: Floats, key: int, parts: int) -> Integers:
    """Return the part, 0 .. parts - 1, of each record of a block: the same in any block, order or layout."""
    words = (np.ascontiguousarray(block, dtype=np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    mixed = np.full(len(words), key % 2**64, dtype=np.uint64)
    for column in words.T:
        mixed = mix(mixed ^ column)
    return ((mixed >> np.uint64(32)) % np.uint64(parts)).astype(np.int64)


def mix(words: Words) -> Words:
    """Spread every bit over all others (splitmix64: Steele, Lea and Flood 2014)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
