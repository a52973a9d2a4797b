"""Read the next block while one is summed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import current_thread
from typing import TypeVar

_READER = "knoll-read"
Each = TypeVar("Each")


def ahead(blocks: Iterator[Each]) -> Iterator[Each]:
    """Yield the same blocks, fetching the next one in another thread meanwhile."""
    reader = ThreadPoolExecutor(1, thread_name_prefix=_READER)
    try:
        coming = reader.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = reader.submit(next, blocks, None)
            yield block
    finally:  # what nobody reads to the end may be collected in the reader's own thread, which cannot wait for itself
        reader.shutdown(wait=not current_thread().name.startswith(_READER), cancel_futures=True)
