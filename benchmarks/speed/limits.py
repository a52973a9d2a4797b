"""How near queries come to what the machine can do, and how a pass grows with rows, centres and columns.

One thread, in processor time: other work on the machine does not count.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import knoll
from knoll.engines import ArrayEngine
from knoll.queries import CellMoments, CellShapes, Frame, Nearest, NearestVotes


def seconds_of(work: Callable, repeats: int) -> float:
    """Return the median processor time of a warm call."""
    work()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times))


def queries(k: int, d: int, rng: np.random.Generator) -> dict:
    """Return a query of each kind and how many operations it makes of a record.

    Operations are those of the arithmetic, as it is written: two for each centre and column (a product, a sum), five to
    put a column on the grid (a difference, a product, a rounding, two comparisons), one to add a column to its cell.
    For a shape, seven for a column's displacement and its square, two to clip it, three more to add both.
    """
    box = knoll.Box((-5.0,) * d, (5.0,) * d)
    cells = Nearest(rng.normal(size=(k, d)), box)
    shapes = CellShapes(cells, Frame(box), cells.centres, np.ones((k, d)), np.ones(k))
    search = 2 * k * d + 5 * d
    return {
        "CellShapes": (shapes, search + 13 * d),
        "NearestVotes": (NearestVotes(cells), search),
        "CellMoments": (CellMoments(cells), search + d),
    }


def roofline_rows(rows: int) -> list[dict]:
    """What part of the machine's limit queries reach: the larger of bytes read and operations made."""
    rng = np.random.default_rng(0)
    X, d, k = rng.normal(size=(rows, 8)), 8, 16
    copied, square = np.empty_like(X), rng.normal(size=(512, 512))
    with threadpool_limits(1):
        bandwidth = 2 * X.nbytes / seconds_of(lambda: np.copyto(copied, X), 9)
        rate = 2 * 512**3 / seconds_of(lambda: square @ square, 9)  # products and sums
    found = []
    for name, (query, operations) in queries(k, d, rng).items():
        seconds = seconds_of(partial(query.summarise, X), 9) / rows
        limit = max(8 * d / bandwidth, operations / rate)
        found.append(
            {
                "query": name, "bytes": 8 * d, "operations": operations, "ns a record": f"{1e9 * seconds:.1f}",
                "limit": f"{1e9 * limit:.1f}", "reached": f"{limit / seconds:.0%}",
            }
        )  # fmt: skip
    print(f"bandwidth {bandwidth / 1e9:.1f} GB/s, {rate / 1e9:.1f} G operations a second, one thread")
    return found


SIZES = {
    "rows": [(n, (n, 16, 8)) for n in (10**4, 10**5, 10**6, 10**7)],
    "centres": [(k, (100_000, k, 8)) for k in (16, 64, 256, 900, 2000)],
    "columns": [(d, (20_000, 16, d)) for d in (8, 16, 32, 56, 72, 128, 512)],
}


def scaling_rows() -> list[dict]:
    """How the processor time of a pass grows with rows, centres and columns: the exponent of a power law."""
    rng = np.random.default_rng(0)
    found = []
    for what, sizes in SIZES.items():
        times: dict[str, list[float]] = {}
        for _, (n, k, d) in sizes:
            engine = ArrayEngine(rng.normal(size=(n, d)))
            for name, (query, _) in queries(k, d, rng).items():
                seconds = seconds_of(partial(engine.aggregate, query), 5 if n < 10**7 else 3)
                times.setdefault(name, []).append(seconds)
        for name, each in times.items():
            exponent = np.polyfit(np.log([size for size, _ in sizes]), np.log(each), 1)[0]
            told = ", ".join(f"{size:,}: {1e3 * t:.1f} ms" for (size, _), t in zip(sizes, each, strict=True))
            found.append({"query": name, "in": what, "exponent": f"{exponent:.2f}", "times": told})
    return found
