"""Corpora of topics: in the folder that KNOLL_DATA names, else skipped; and tags that are made up."""

import os
from pathlib import Path

import numpy as np
from scipy import sparse


def folder() -> Path:
    """Return the folder of the corpora; a message that says what is missing if there is none."""
    place = Path(os.environ.get("KNOLL_DATA", "data")) / "topics"
    if not place.is_dir():
        raise SystemExit("set KNOLL_DATA to the folder that holds topics/*.npz")
    return place


def bag(name: str) -> sparse.csr_array:
    """Return the words of a corpus as sparse rows of 0 and 1."""
    return sparse.csr_array(sparse.load_npz(folder() / f"{name}_bow5000.npz")).astype(np.float64)


def corpus(name: str) -> tuple[np.ndarray, sparse.csr_array, list[str]]:
    """Return vectors, words and vocabulary of a corpus."""
    vectors = np.load(folder() / f"{name}_wl128.npz")["X"].astype(np.float64)
    vocabulary = (folder() / "public_vocab_5000.txt").read_text(encoding="utf-8").split()
    return vectors, bag(name), vocabulary


def labels(name: str, which: str = "y") -> np.ndarray:
    """Return the labels of a corpus."""
    return np.load(folder() / f"{name}_wl128.npz")[which]


def tags(
    per_row: float, own: float, *, rows: int = 20_000, columns: int = 2001, groups: int = 16, seed: int = 0
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return sparse rows of 0/1 tags and the group of each: common tags by Zipf's law, and tags of a group's own.

    Parameters
    ----------
    per_row : float
        Tags of a row, about.
    own : float
        Part of a row's tags that is drawn from its group's own frequencies.
    """
    rng = np.random.default_rng(seed)
    common = rng.permutation(1.0 / np.arange(1, columns + 1) ** 0.8)
    common /= common.sum()
    y = rng.integers(0, groups, rows)
    held = []
    for group in range(groups):
        special = common * rng.gamma(0.25, 1.0, columns)
        often = np.minimum(per_row * ((1 - own) * common + own * special / special.sum()), 0.9)
        members = np.flatnonzero(y == group)
        row, column = np.nonzero(rng.random((len(members), columns)) < often)
        held.append((members[row], column))
    row, column = (np.concatenate(each) for each in zip(*held, strict=True))
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(rows, columns)), y
