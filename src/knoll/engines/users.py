"""Which rows of a user count: the `cap` rows with the smallest hash of their own values, keyed by the user's id.

A rule that needs no order, so that files, databases and clusters choose the same rows, however they hand them over.

Why the guarantee holds. The key of a row is a public function of its user's id and of its own values. Whether a row
counts depends on the keys of that user's rows alone. So if one user's rows come, go or change, every other user's
rows that count are the same as before, and this user's are at most `cap`: a total changes by at most `cap` times what
one row can change it by (triangle inequality). The hash need not be secret, nor good: any function would do here. It is
keyed by the user so that not every user keeps the same values, where values are few.

What a frame did to its values before it was handed over is outside this argument: a library may store a whole column in
single precision because one value was. So that this changes no choice, the first half of a key looks at values in half
precision only; the second half tells those apart that agree there.

Rows of one user with equal keys are equal rows, or agree in 128 bits of hash; of these, any are taken. Rows that
are dropped for their own missing values are not among those that are chosen from.

Memory. While rows are looked through, 24 bytes for each row that may count, at most `cap` for each user; then one entry
of a dict for each user, and three numbers for each who has more rows than the cap.
"""

from collections.abc import Hashable
from typing import Any

import numpy as np

from knoll.arrays import Bools, Floats
from knoll.engines.ids import places_of, seed_in
from knoll.engines.keys import row_keys
from knoll.privacy.errors import DataError
from knoll.privacy.parts import Words, mix
from knoll.queries.sparse_rows import SparseRows

_FEWEST = 2**20  # rows that are looked through before those that cannot count are forgotten


class ChosenRows:
    """Learns, from all rows, which of them count; then says so of every block of a pass.

    Parameters
    ----------
    cap : int
        Rows of a user that count.
    """

    def __init__(self, cap: int):
        self.cap = cap
        self._codes: dict[Hashable, int] = {None: 0}
        self._seeds: Words = np.zeros(1, dtype=np.uint64)
        self._waiting: list[tuple[Any, Words, Words]] = []
        self._held = self._kept = 0
        self._counts = np.zeros(0, dtype=np.int64)

    def add(self, users: Any, rows: Floats, usable: Bools) -> None:
        """Learn a block of rows, of which some are usable."""
        code = self._learnt(users)[usable]
        first, second = keys_of(rows[usable], self._seeds[code])
        self._waiting.append((code, first, second))
        self._counts = np.bincount(code, minlength=len(self._codes)) + np.pad(
            self._counts, (0, len(self._codes) - len(self._counts))
        )
        self._held += len(code)
        if self._held - self._kept > max(_FEWEST, self._kept):
            self._forget()

    def _learnt(self, users: Any) -> Any:
        """Return the number of each row's user, 0 if it has none; new users get the next numbers."""
        keys, place = places_of(users)
        fresh = []
        for key in keys:
            if key not in self._codes:
                self._codes[key] = len(self._codes)
                fresh.append(seed_in(users, key))
        self._seeds = np.concatenate([self._seeds, np.array(fresh, dtype=np.uint64)]) if fresh else self._seeds
        return np.array([self._codes[key] for key in keys])[place]

    def codes_of(self, users: Any) -> Any:
        """Return the number of each row's user, who was met before."""
        keys, place = places_of(users)
        try:
            return np.array([self._codes[key] for key in keys])[place]
        except KeyError:
            raise DataError("the data changed while it was read: a user came that was not there before") from None

    def _forget(self) -> None:
        """Keep the smallest keys of each user, in order."""
        code, first, second = (np.concatenate(each) for each in zip(*self._waiting, strict=True))
        order = np.lexsort((second, first, code))
        code, first, second = code[order], first[order], second[order]
        keep = _ranks(code) < self.cap
        self._waiting = [(code[keep], first[keep], second[keep])]
        self._held = self._kept = int(keep.sum())

    def settle(self) -> None:
        """Work out, for each user with more rows than count, the largest key that counts, and how many rows have it."""
        self._over = np.zeros(len(self._codes), dtype=bool)
        if not self._held:
            return
        self._forget()
        code, first, second = self._waiting.pop()
        last = np.append(code[1:] != code[:-1], True)
        self._first, self._second = np.zeros((2, len(self._codes)), dtype=np.uint64)
        self._first[code[last]], self._second[code[last]] = first[last], second[last]
        ties = (first == self._first[code]) & (second == self._second[code])
        self._ties = np.bincount(code[ties], minlength=len(self._codes))
        self._over[: len(self._counts)] = self._counts > self.cap

    def new_pass(self) -> "Admission":
        """Return what says of the blocks of one pass which rows count."""
        return Admission(self)


class Admission:
    """Says of the blocks of one pass, in turn, which rows count."""

    def __init__(self, chosen: ChosenRows):
        self._chosen = chosen
        self._taken: dict[int, int] = {}

    def admit(self, users: Any, rows: Floats, usable: Bools) -> tuple[Bools, Bools]:
        """Return which rows of a block count, and which have no id (these never do).

        Rows that are not usable are admitted, to be refused or dropped for their missing values.
        """
        of = self._chosen
        code = of.codes_of(users)
        admitted = code > 0
        over = np.flatnonzero(of._over[code] & admitted & usable)
        if len(over):
            who = code[over]
            first, second = keys_of(rows[over], of._seeds[who])
            same = first == of._first[who]
            less = (first < of._first[who]) | (same & (second < of._second[who]))
            tied = np.flatnonzero(same & (second == of._second[who]))
            less[tied] = self._among_first(who[tied])
            admitted[over] = less
        return admitted, code == 0

    def _among_first(self, who: Any) -> Bools:
        """Return which of some rows, whose keys are the largest that count, are among as many as count."""
        order = np.argsort(who, kind="stable")
        rank = np.empty(len(who), dtype=np.int64)
        rank[order] = _ranks(who[order])
        before = np.array([self._taken.get(each, 0) for each in who.tolist()], dtype=np.int64)
        for each in who.tolist():
            self._taken[each] = self._taken.get(each, 0) + 1
        return before + rank < self._chosen._ties[who]


def keys_of(rows: Floats | SparseRows, seeds: Words) -> tuple[Words, Words]:
    """Return 128 bits of hash of each row: of its values in half precision, and of the values themselves."""
    if isinstance(rows, SparseRows):
        return rows.keys(seeds), rows.keys(mix(~seeds))
    with np.errstate(over="ignore"):
        coarse = rows.astype(np.float32).astype(np.float16).astype(np.float64)
    return row_keys(coarse, seeds), row_keys(rows, mix(~seeds))


def _ranks(code: Any) -> Any:
    """Return the rank of each element of a sorted array among those that are equal to it."""
    starts = np.flatnonzero(np.append(True, code[1:] != code[:-1])) if len(code) else np.zeros(0, dtype=np.int64)
    return np.arange(len(code)) - np.repeat(starts, np.diff(np.append(starts, len(code))))
