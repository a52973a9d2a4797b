"""What runs on the respondent's side: one record in, one randomised report out. Nobody else sees the record.

A client is a small frozen object: public parameters, no data, no state. It pickles, and goes to and from JSON. Its
randomness comes from the operating system, through the kernel's entropy door.

Local differential privacy: for any two records x, x' and any set S of reports,
P(report(x) in S) <= e^epsilon P(report(x') in S) + delta. Probabilities are integers over 2^64, rounded to the private
side, so the ratio holds for the law that is really drawn.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from knoll.privacy import Budget, Cost, DataError, PrivacyError
from knoll.privacy.entropy import secure_words
from knoll.privacy.noise import WordNoise, charge, standard_deviation
from knoll.queries import Box
from knoll.queries.query import UNIT

_MARGIN = 2.0**-40  # relative, on probabilities: more than all roundings of their computation
_WORDS = 2**22  # random words drawn at a time
FAR = 12.0  # noise standard deviations beyond which no honest report lies


@dataclass(frozen=True)
class Client(ABC):
    """Base of clients.

    Attributes
    ----------
    epsilon, delta : float
        What one report costs its respondent.
    lower, upper : tuple of float
        Public bounds; a record outside is clipped to them.
    """

    epsilon: float
    delta: float
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", self.box.lower)
        object.__setattr__(self, "upper", self.box.upper)

    @property
    def box(self) -> Box:
        """The public bounds."""
        return Box(tuple(self.lower), tuple(self.upper))

    @property
    @abstractmethod
    def cost(self) -> Cost:
        """Return what one report costs, recomputed from the probabilities or noise that are used."""

    def report(self, record: Any) -> Any:
        """Randomise one record: a number, or one number per column. The report is plain Python, fit for JSON."""
        row = np.asarray(record, dtype=np.float64).reshape(1, -1)
        if row.shape[1] != len(self.lower):
            raise DataError(f"a record has {len(self.lower)} numbers")
        return self.reports(row)[0]

    def reports(self, X: Any) -> list[Any]:
        """Randomise many records, each on its own: a simulation, or a device with several."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.lower) or not np.isfinite(rows).all():
            raise DataError(f"records must be finite numbers, {len(self.lower)} each")
        return self._randomise(rows)

    @abstractmethod
    def _randomise(self, rows: np.ndarray) -> list[Any]:
        """Return a report for each row."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python, for JSON."""
        return {"client": self.kind, **{k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}}


class _OneColumn(Client):
    """A client for one column on a public grid of equal bins."""

    n_bins: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.lower) != 1:
            raise PrivacyError(f"{self.kind} is for one column; there are {len(self.lower)}")
        _check_epsilon(self.epsilon)
        if not 2 <= self.n_bins <= 4096:
            raise PrivacyError(f"n_bins={self.n_bins!r} must be an integer from 2 to 4096")

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

    Outputs are the bins and `reach` more on both sides; the 2 reach + 1 nearest to the true bin have e^epsilon times
    the probability of the others. ``reach=0`` is k-ary randomised response.

    Guarantee. p = T / 2^64 / (2 reach + 1) and q = (1 - T / 2^64) / others, T rounded down: every output of every
    record has probability p or q, and 1 <= p / q <= e^epsilon.
    """

    n_bins: int = 64
    reach: int = 0
    kind: ClassVar[str] = "square wave"

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
    def cost(self) -> Cost:
        """The log of the largest ratio of two probabilities."""
        top = self._threshold * self.others
        bottom = (2**64 - self._threshold) * self.near
        return Cost(epsilon=abs(math.log(top / bottom)))

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
        close = bins + _below(self.near, len(bins))
        far = _below(self.others, len(bins))
        far = np.where(far >= bins, far + self.near, far)
        return np.where(near, close, far).tolist()


@dataclass(frozen=True)
class Unary(_OneColumn):
    """Optimised unary encoding (Wang et al. 2017): a bit per bin; the true bin's is a coin, others are set rarely.

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
    def cost(self) -> Cost:
        """The log of the largest ratio of two probabilities."""
        return Cost(epsilon=math.log((2**64 - self._threshold) / self._threshold))

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
    delta > 0: Gaussian noise of that over mu; delta = 0: Laplace noise of that over epsilon. Drawn, charged and
    rechecked as the curator does. A report is a list of grid units from the middle of the box.
    """

    kind: ClassVar[str] = "noisy record"

    @cached_property
    def budget(self) -> Budget:
        """The respondent's budget."""
        return Budget(self.epsilon, self.delta)

    @cached_property
    def scale(self) -> float:
        """Scale of the noise, in grid units."""
        self._check()
        return self._apart / self.budget.ratio(1.0)

    @property
    def _apart(self) -> float:
        d = len(self.lower)
        return 2.0 * UNIT * (d**0.5 if self.delta > 0 else d) * (1 + 2.0**-40)

    @property
    def stderr(self) -> np.ndarray:
        """Standard deviation of the noise of each column, in its units."""
        return standard_deviation(self.budget.law, self.scale) * self.box.steps

    @property
    def cost(self) -> Cost:
        """Gaussian or pure cost of one report, the sampler's charge included."""
        ratio = self._apart / self.scale
        epsilon, delta = charge(self.budget.law, 2 * len(self.lower), ratio)
        return Cost(ratio**2, epsilon, delta) if self.delta > 0 else Cost(0.0, ratio + epsilon, 0.0)

    @property
    def limit(self) -> float:
        """Grid units beyond which no honest report lies."""
        return UNIT + FAR * (1.0 if self.delta > 0 else 3.0) * self.scale

    def _check(self) -> None:
        scale = self._apart / self.budget.ratio(1.0)
        if scale > 2.0**50:
            raise PrivacyError("the budget of a report is too small for its noise to be computed")

    def _randomise(self, rows: np.ndarray) -> list[Any]:
        grid = self.box.quantise(rows).astype(np.int64)
        return WordNoise().perturb(grid, self.budget.law, self.scale).tolist()


@dataclass(frozen=True)
class Waves(Client):
    """A square wave on each column, with an equal part of epsilon.

    Guarantee. Reports of the columns are independent given the record, each epsilon / d private for any change of its
    column; together their ratio is at most the product. A report is a list with one output per column.
    """

    n_bins: int = 32
    kind: ClassVar[str] = "square waves"

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
    """Rebuild a client from `to_dict`'s dictionary."""
    try:
        known = dict(data)
        kind = KINDS[known.pop("client")]
        return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in known.items()})
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"not a client: {error}") from None


def best_reach(epsilon: float, n_bins: int) -> int:
    """Half width of the square wave that carries most information, in bins (Li et al. 2020, Section 5.3)."""
    grow = math.exp(min(epsilon, 50.0))
    half = (epsilon * grow - grow + 1) / (2 * grow * (grow - 1 - epsilon)) if epsilon > 1e-3 else 0.5
    return min(round(half * n_bins), n_bins)


def _below(most: int, size: int) -> np.ndarray:
    """Return uniform integers below `most`, exactly: words that would make some likelier are drawn again."""
    limit = 2**64 - 2**64 % most
    words = secure_words(size)
    if limit < 2**64:
        bad = np.flatnonzero(words >= np.uint64(limit))
        while bad.size:
            words[bad] = secure_words(bad.size)
            bad = bad[words[bad] >= np.uint64(limit)]
    return (words % np.uint64(most)).astype(np.int64)


def _check_epsilon(epsilon: float) -> None:
    Budget(epsilon, 0.0)
