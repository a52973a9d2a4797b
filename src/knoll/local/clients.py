"""The clients: square wave, unary encoding, waves on several columns, noise. Each proves its guarantee."""

import math
from abc import abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from knoll.local.client import Client
from knoll.local.fields import MOST_BINS, whole
from knoll.local.law import best_reach, check_ratio, uniform_below
from knoll.privacy import Budget, Cost, DataError, PrivacyError
from knoll.privacy.entropy import secure_words
from knoll.privacy.noise import MAX_SCALE
from knoll.privacy.sources import WordNoise
from knoll.queries.query import UNIT

_MARGIN = 2.0**-40  # relative margin on probabilities: larger than all rounding errors in computing them
_WORDS = 2**22  # random words drawn at a time: bounds memory


class _OneColumn(Client):
    """A client for one column on a public grid of equal bins."""

    n_bins: int

    def _checked(self) -> dict[str, Any]:
        if len(self.lower) != 1:
            raise PrivacyError(f"{self.kind} is for one column; there are {len(self.lower)}")
        return _bins_and_no_delta(self)

    @property
    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report under two records (or its inverse), exact."""

    def _check_law(self) -> None:
        check_ratio(self.ratio, Fraction(self.epsilon))

    @property
    def cost(self) -> Cost:
        """The log of the largest ratio of two probabilities."""
        return Cost(epsilon=abs(math.log(self.ratio)))

    @property
    def edges(self) -> np.ndarray:
        """Edges of the bins."""
        return np.linspace(self.lower[0], self.upper[0], self.n_bins + 1)

    def _bins(self, rows: np.ndarray) -> np.ndarray:
        width = (self.upper[0] - self.lower[0]) / self.n_bins
        inside = np.clip(rows[:, 0], self.lower[0], self.upper[0]) - self.lower[0]
        return np.clip(inside / width, 0, self.n_bins - 1).astype(np.int64)


@dataclass(frozen=True)
class SquareWave(_OneColumn):
    """Square wave (Li et al. 2020) on a grid: a bin near the true one with probability p, any other output with less.

    Outputs are the bins and `reach` more on both sides. The 2 reach + 1 outputs nearest to the true bin have e^epsilon
    times the probability of the others. ``reach=0`` is k-ary randomised response.

    Guarantee. Let p = T / 2^64 / (2 reach + 1) and q = (1 - T / 2^64) / others, T rounded down. Every output of every
    record has probability p or q, and 1 <= p / q <= e^epsilon. Both are exact. The output is near if a 64-bit word is
    below T. Which of the near (or of the other) outputs it is, is a uniform draw with rejection.
    """

    n_bins: int = 64
    reach: int = 0
    kind: ClassVar[str] = "square wave"

    def _checked(self) -> dict[str, Any]:
        known = super()._checked()
        return known | {"reach": whole("reach", self.reach, 0, known["n_bins"])}

    @property
    def near(self) -> int:
        """Outputs near a bin."""
        return 2 * self.reach + 1

    @property
    def others(self) -> int:
        """Outputs not near a bin."""
        return self.n_bins - 1

    @cached_property
    def _threshold(self) -> int:
        grow = math.exp(self.epsilon)
        return int(2**64 * (self.near * grow / (self.near * grow + self.others) * (1 - _MARGIN)))

    @property
    def ratio(self) -> Fraction:
        """Probability of a near output over that of any other; there are only these two."""
        return Fraction(self._threshold * self.others, (2**64 - self._threshold) * self.near)

    @property
    def channel(self) -> np.ndarray:
        """Probability of each output given each bin, (outputs, bins)."""
        p = self._threshold / 2**64
        matrix = np.full((self.n_bins + 2 * self.reach, self.n_bins), (1 - p) / self.others)
        for i in range(self.n_bins):
            matrix[i : i + self.near, i] = p / self.near
        return matrix

    def _randomise(self, rows: np.ndarray) -> list[Any]:
        bins = self._bins(rows)
        near = secure_words(len(bins)) < np.uint64(self._threshold)
        close = bins + uniform_below(self.near, len(bins))
        far = uniform_below(self.others, len(bins))
        far = np.where(far >= bins, far + self.near, far)
        return np.where(near, close, far).tolist()


@dataclass(frozen=True)
class Unary(_OneColumn):
    """Optimised unary encoding (Wang et al. 2017): one bit per bin. The true bin's is a coin, others are rarely set.

    Guarantee. The true bin's bit is set with probability 1/2, any other with q >= 1 / (e^epsilon + 1), rounded up. Two
    records differ in two bits, so the ratio of two reports' probabilities is at most (1 - q) / q <= e^epsilon.
    A report is the list of bins whose bit is set.
    """

    n_bins: int = 32
    kind: ClassVar[str] = "unary encoding"

    @cached_property
    def _threshold(self) -> int:
        return math.ceil(2**64 / (math.exp(self.epsilon) + 1) * (1 + _MARGIN))

    @property
    def rare(self) -> float:
        """Probability that the bit of a bin that is not the true one is set."""
        return self._threshold / 2**64

    @property
    def ratio(self) -> Fraction:
        """Where one record's bit is set and the other's is not: 1/2 (1 - q) over q 1/2, or the inverse."""
        return Fraction(2**64 - self._threshold, self._threshold)

    def _randomise(self, rows: np.ndarray) -> list[Any]:
        bins = self._bins(rows)
        out: list[Any] = []
        step = max(1, _WORDS // self.n_bins)
        for start in range(0, len(bins), step):
            part = bins[start : start + step]
            words = secure_words(len(part) * self.n_bins).reshape(len(part), self.n_bins)
            bits = words < np.uint64(self._threshold)
            own = np.arange(len(part))
            bits[own, part] = words[own, part] < np.uint64(2**63)
            out += [np.flatnonzero(row).tolist() for row in bits]
        return out


@dataclass(frozen=True)
class Noisy(Client):
    """A record clipped to a box, on its integer grid, with integer noise on every column.

    Guarantee. Two records differ by at most 2 UNIT in each of d columns: 2 UNIT sqrt(d) in l2, 2 UNIT d in l1.
    With delta > 0 the noise is Gaussian, of scale l2 difference / mu. With delta = 0 it is Laplace, of scale l1
    difference / epsilon. It is drawn, charged and rechecked as the curator does. A report is a list of grid units from
    the middle of the box.
    """

    kind: ClassVar[str] = "noisy record"

    @cached_property
    def budget(self) -> Budget:
        """The respondent's budget."""
        return Budget(self.epsilon, self.delta)

    @cached_property
    def scale(self) -> float:
        """Scale of the noise, in grid units."""
        return self._apart / self.budget.ratio(1.0)

    @property
    def _apart(self) -> float:
        return 2.0 * UNIT * len(self.lower) ** (1 / self.budget.norm) * (1 + 2.0**-40)

    @property
    def stderr(self) -> np.ndarray:
        """Standard deviation of the noise of each column, in its units."""
        return self.budget.law.standard_deviation(self.scale) * self.box.steps

    @property
    def cost(self) -> Cost:
        """Gaussian or pure cost of one report, the sampler's charge included."""
        law, ratio = self.budget.law, self._apart / self.scale
        return law.cost(ratio) + law.charge(2 * len(self.lower), ratio)

    @property
    def limit(self) -> float:
        """Grid units beyond which no honest report lies."""
        return UNIT + self.budget.law.far * self.scale

    def _check_law(self) -> None:
        if self.scale > MAX_SCALE:
            raise PrivacyError("the budget of a report is too small for its noise to be computed")
        if not self.cost.epsilon_at(self.delta) <= self.epsilon:
            raise PrivacyError(f"{self.budget} is too small for the precision of a report's noise")

    def _randomise(self, rows: np.ndarray) -> list[Any]:
        grid = self.box.clip_to_grid(rows).astype(np.int64)
        return WordNoise().perturb(grid, self.budget.law, self.scale).tolist()


@dataclass(frozen=True)
class Waves(Client):
    """A square wave on each column, with an equal part of epsilon.

    Guarantee. Given the record, the reports of the columns are independent, and each is epsilon / d private for any
    change of its column. The ratio of a whole report is at most the product of the columns' ratios. The check uses
    epsilon / d as an exact fraction: the ratio of each column is at most e^(epsilon / d), so all d have at most
    e^epsilon together. The rounded part that a column declares does not matter. A report has one output per column.
    """

    n_bins: int = 32
    kind: ClassVar[str] = "square waves"

    def _checked(self) -> dict[str, Any]:
        return _bins_and_no_delta(self)

    def _check_law(self) -> None:
        for each in self.columns:
            check_ratio(each.ratio, Fraction(self.epsilon) / len(self.columns))

    @cached_property
    def columns(self) -> tuple[SquareWave, ...]:
        """The client of each column."""
        part = self.epsilon / len(self.lower)
        reach = best_reach(part, self.n_bins)
        return tuple(
            SquareWave(part, 0.0, (low,), (high,), self.n_bins, reach)
            for low, high in zip(self.lower, self.upper, strict=True)
        )

    @property
    def cost(self) -> Cost:
        """The sum over columns."""
        return sum((each.cost for each in self.columns), Cost())

    def _randomise(self, rows: np.ndarray) -> list[Any]:
        parts = [each._randomise(rows[:, j : j + 1]) for j, each in enumerate(self.columns)]
        return [list(report) for report in zip(*parts, strict=True)]


KINDS: dict[str, type[Any]] = {each.kind: each for each in (SquareWave, Unary, Waves, Noisy)}


def client_from_dict(data: dict[str, Any]) -> Client:
    """Rebuild a client from `to_dict`'s dictionary: all of its fields and no others, each checked."""
    try:
        known = dict(data) if isinstance(data, dict) else {}
        kind = KINDS[known.pop("client", "")]
        if set(known) != {each.name for each in fields(kind)}:
            raise ValueError(f"the fields of a {kind.kind} are {', '.join(each.name for each in fields(kind))}")
        return kind(**known)
    except (KeyError, TypeError):
        raise DataError(f"not a client: its kind must be one of {', '.join(KINDS)}") from None
    except (ValueError, ArithmeticError) as error:
        raise DataError(f"not a client: {error}") from None


def _bins_and_no_delta(client: _OneColumn | Waves) -> dict[str, Any]:
    """Return the number of bins of a pure client."""
    if client.delta != 0:
        raise PrivacyError(f"a {client.kind} has no use for delta; it must be 0")
    return {"n_bins": whole("n_bins", client.n_bins, 2, MOST_BINS)}
