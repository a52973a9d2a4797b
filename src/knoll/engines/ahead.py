"""Read the next block while one is summed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Each = TypeVar("Each")


def ahead(blocks: Iterator[Each]) -> Iterator[Each]:
    """Yield the same blocks, fetching the next one in another thread meanwhile."""
    with ThreadPoolExecutor(1, thread_name_prefix="knoll-read") as reader:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block
