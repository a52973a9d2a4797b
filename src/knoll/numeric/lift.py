"""Lift: how much more often a word is used in a topic than in all texts; from released counts alone."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Lifts:
    """Lifts of words in topics.

    Attributes
    ----------
    lift, stderr : arrays of shape (n_topics, n_words)
        The lift, and the standard error that the noise of the counts gives it.
    sure : array of shape (n_topics, n_words)
        How many standard errors of the noise the count lies above what a lift of two would give.
    """

    lift: np.ndarray
    stderr: np.ndarray
    sure: np.ndarray


def lifts(counts: np.ndarray, noise: float, overall: np.ndarray | None = None, overall_noise: float = 0.0) -> Lifts:
    """Return the lift of each word in each topic.

    Parameters
    ----------
    counts : array of shape (n_topics, n_words)
        Released counts.
    noise : float
        Standard error of each.
    overall : array of shape (n_words,), optional
        Released counts of the words before topics were looked at, up to a common factor.
    overall_noise : float
        Standard error of each of these.

    Examples
    --------
    >>> found = lifts(np.array([[80.0, 20.0], [20.0, 80.0]]), 1.0)
    >>> found.lift.round(2).tolist()
    [[1.6, 0.4], [0.4, 1.6]]
    """
    k, _ = counts.shape
    words, error = counts.sum(axis=0), np.full(counts.shape[1], noise * k**0.5)
    if overall is not None and len(overall):
        words, error = _pooled(words, error, overall, overall_noise)
    words = np.maximum(words, noise)
    topics = np.maximum(counts.sum(axis=1, keepdims=True), noise)
    total = max(float(topics.sum()), noise)
    expected = topics * words / total
    lift = np.maximum(counts, 0.0) / expected
    stderr = np.hypot(noise, np.maximum(counts, 0.0) * (error / words)) / expected
    spread = np.hypot(noise, 2.0 * expected * (error / words))
    return Lifts(lift, stderr, (counts - 2.0 * expected) / spread)


def _pooled(
    words: np.ndarray, error: np.ndarray, overall: np.ndarray, overall_noise: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best of two estimates of each word's count; the second is known up to a factor, and 10 % besides."""
    factor = max(float(words.sum()), 0.0) / max(float(overall.sum()), 1e-300)
    second = factor * overall
    doubt = np.hypot(factor * overall_noise, 0.1 * second)
    part = doubt**2 / np.maximum(doubt**2 + error**2, 1e-300)
    return part * words + (1 - part) * second, error * np.sqrt(part)
