"""The one entropy door: uniform 64-bit words nobody can predict.

Every call keys a fresh AES-128 in counter mode with 128 bits from the operating system, so no
generator state is kept between calls: a forked process, a restored snapshot of an object or a pickled
estimator cannot replay noise. AES-128-CTR under a random key is a pseudo-random function; telling its
output from uniform words is as hard as breaking AES.
"""

import os
from typing import Protocol

import numpy as np
import numpy.typing as npt
from randomgen import AESCounter

Words = npt.NDArray[np.uint64]


class WordSource(Protocol):
    """Anything that yields uniform 64-bit words."""

    def __call__(self, size: int) -> Words:
        """Return `size` independent uniform words."""
        ...


def secure_words(size: int) -> Words:
    """Return `size` unpredictable words from a generator keyed by the operating system for this call."""
    return keyed_words(int.from_bytes(os.urandom(16), "little"))(size)


def keyed_words(key: int) -> WordSource:
    """Return the word stream of one AES-128 key. Predictable to whoever knows the key."""
    stream = AESCounter(key=key % 2**128, counter=0)

    def words(size: int) -> Words:
        return np.asarray(stream.random_raw(size), dtype=np.uint64)

    return words
