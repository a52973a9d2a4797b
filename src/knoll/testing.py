"""Noise for tests and demonstrations. None of it is private, and every result made under it says so.

Each function is a context manager; inside it, every release draws from the named source instead of the secure one.

>>> import numpy as np, knoll
>>> from knoll.testing import seeded_noise
>>> X = np.random.RandomState(0).uniform(size=(1000, 2))
>>> with seeded_noise(0):
...     model = knoll.Lloyd(2, bounds=(0, 1), random_state=0).fit(X)
>>> model.privacy_.is_private
False
>>> print(model.privacy_.warning)
NOT PRIVATE: made with seeded noise; do not publish.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from knoll.privacy.entropy import keyed_words
from knoll.privacy.laws import Law
from knoll.privacy.sources import NoiseSource, WordNoise, noise_source


@contextmanager
def _using(source: NoiseSource) -> Iterator[NoiseSource]:
    token = noise_source.set(source)
    try:
        yield source
    finally:
        noise_source.reset(token)


@contextmanager
def seeded_noise(seed: int) -> Iterator[None]:
    """Draw noise from a known seed: repeatable, and not private."""
    with _using(WordNoise(keyed_words(seed), private=False, label="seeded noise")):
        yield


@contextmanager
def zero_noise() -> Iterator[None]:
    """Add no noise at all: exact expectations, and not private."""
    with _using(_Zero()):
        yield


@contextmanager
def recorded_noise() -> Iterator["Transcript"]:
    """Draw secure noise, and keep a transcript of exact and noisy totals: not private."""
    transcript = Transcript()
    with _using(transcript):
        yield transcript


@contextmanager
def replayed_noise(transcript: "Transcript") -> Iterator["Transcript"]:
    """Answer every release with what a transcript holds, whatever the data: not private. Yields the new transcript."""
    replay = _Replay(transcript)
    with _using(replay):
        yield replay.seen


@dataclass
class Transcript:
    """The exact totals, and the noisy ones that left the door, in order (in weighted grid units)."""

    exact: list[np.ndarray] = field(default_factory=list)
    noisy: list[np.ndarray] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    laws: list[Law] = field(default_factory=list)
    private: bool = False
    label: str = "recorded noise"

    def perturb(self, total: np.ndarray, law: Law, scale: float) -> np.ndarray:
        """Add secure noise and remember both."""
        noisy = WordNoise().perturb(total, law, scale)
        self.remember(total, noisy, scale, law)
        return noisy

    def remember(self, total: np.ndarray, noisy: np.ndarray, scale: float, law: Law) -> None:
        """Keep one release."""
        self.exact.append(total.copy())
        self.noisy.append(noisy.copy())
        self.scales.append(scale)
        self.laws.append(law)


class _Zero:
    private, label = False, "zero noise"

    def perturb(self, total: np.ndarray, law: Law, scale: float) -> np.ndarray:
        return total


class _Replay:
    private = False

    def __init__(self, transcript: Transcript):
        self.label = transcript.label  # its noise, so its name: a replay can be compared byte for byte
        self._answers = iter(transcript.noisy)
        self.seen = Transcript()

    def perturb(self, total: np.ndarray, law: Law, scale: float) -> np.ndarray:
        answer = next(self._answers, None)
        if answer is None:
            raise AssertionError("a replay asks for more releases than there were")
        if answer.shape != total.shape:
            raise AssertionError(f"a replayed release has shape {total.shape}, was {answer.shape}")
        self.seen.remember(total, answer, scale, law)
        return answer
