"""Blocks of rows that a pass has read, kept for the next passes if they are small: a fit reads its file several times.

What is kept is what was read, block by block, so a pass over it gives the same total as a pass over the file.
"""

from collections.abc import Iterator

from knoll.engines.engine import Block

MOST_KEPT = 2**28  # bytes: a fit stays below a gigabyte; larger files are read again for every pass


class Kept:
    """What one pass reads, for the next ones.

    Parameters
    ----------
    most : int
        Bytes of rows and ids beyond which nothing is kept.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most, self._blocks = most, list[Block]()
        self._size: int | None = None

    def blocks(self, size: int) -> Iterator[Block] | None:
        """Return the kept blocks, if there are any and they were made in this size."""
        return iter(self._blocks) if self._size == size else None

    def noted(self, blocks: Iterator[Block], size: int) -> Iterator[Block]:
        """Yield the same blocks, and keep them once all were read."""
        self._blocks, self._size = [], None
        held, small, noted = 0, True, list[Block]()
        for block in blocks:
            rows, ids, done = block
            held += rows.nbytes + (0 if ids is None else int(ids.nbytes))
            small = small and held <= self._most * min(1.0, 1.1 * done)  # what is to come is told by what has come
            if small:
                noted.append(block)
            else:
                noted.clear()
            yield block
        if small:
            self._blocks, self._size = noted, size
