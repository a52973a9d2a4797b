"""Where noise comes from: the secure source, and a place for tests to put another."""

from contextvars import ContextVar
from typing import Protocol

from knoll.privacy.entropy import WordSource, secure_words
from knoll.privacy.laws import Law
from knoll.privacy.noise import Integers


class NoiseSource(Protocol):
    """What turns an exact total into a noisy one. Only the default is private."""

    private: bool
    label: str

    def perturb(self, total: Integers, law: Law, scale: float) -> Integers:
        """Return the total with fresh integer noise added (modulo 2^64, which is post-processing)."""
        ...


class WordNoise:
    """Noise drawn from a stream of words; the default source, with words from the operating system."""

    def __init__(self, words: WordSource = secure_words, *, private: bool = True, label: str = "secure noise"):
        self.words, self.private, self.label = words, private, label

    def perturb(self, total: Integers, law: Law, scale: float) -> Integers:
        """Return the total plus integer noise of this law and scale."""
        return total + law.draw(scale, total.size, self.words).reshape(total.shape)


noise_source: ContextVar[NoiseSource] = ContextVar("noise_source", default=WordNoise())  # noqa: B039 (stateless)
