"""What the rows of the table are made of: when a row holds, and steps that several rows share."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from knoll.queries import (
    CellMoments,
    CellShapes,
    ColumnCounts,
    ColumnHistograms,
    ColumnPairs,
    ComponentMoments,
    Count,
    FourierFeatures,
    FourierGrid,
    LatticeCounts,
    ObservedMeans,
    OutsideVotes,
    PairVotes,
    ScatterMatrix,
    SparseMoments,
)
from knoll.releases.grammar import NOT_PURE, PURE, TEXTS, Fit, Number, Release, When, columns, option, times

BOUNDS = Release(ColumnHistograms, times(3, 5), option("bounds", "private"))
"""What comes before all else if bounds are bought."""

OUTSIDE = Release(OutsideVotes, when=option("bounds", "private"))
"""And after it: what these bounds leave outside."""


def _declared(bounds: Any) -> Any:
    """Return what is declared of each column; nothing where bounds have no columns."""
    return bounds.values() if isinstance(bounds, Mapping) else getattr(bounds, "kinds", ())


IMPUTED = Release(
    ObservedMeans,
    when=When(
        'a column is declared with missing="impute"',
        lambda fit: any(getattr(kind, "missing", None) == "impute" for kind in _declared(fit.parameters.get("bounds"))),
    ),
)
"""What comes before all else if missing values are filled in."""

BALANCED = Release(
    CellShapes,
    times(0, 1),
    When(
        "kinds of columns are declared, and numbers stand beside categories (`MixedMoments` then does what "
        "`ComponentMoments` does)",
        lambda fit: bool(_declared(fit.parameters.get("bounds"))),
    ),
    "spread of numbers",
    "of numbers",
)
"""What comes next if numbers and levels are to count alike."""

PAPER = option("preset", "paper")
DEFAULT = option("preset", "default")
WIDE = When(
    "12 or more effective dimensions of the bounds, and up to 400 columns",
    lambda fit: fit.effective >= 12 and fit.columns <= 400,
)


PIECES = 320  # at most, while the number of clusters is not known


def levels(finer: int = 1) -> Number:
    """Releases of a tree: one for tails, if there are any; one for each of at least two levels."""

    def most(fit: Fit) -> int:
        k = fit.parameters.get("n_clusters", fit.parameters.get("n_components"))
        return 6 + math.ceil(math.log2(PIECES if k is None else finer * k))

    return Number(f"2 to 6 + log2({'k' if finer == 1 else f'{finer}k'}) x", lambda fit: 2, most)


def or_none(number: Number) -> Number:
    """So often, or not at all."""
    return Number(f"none or {number.words}", lambda fit: 0, number.most)


def tree(finer: int = 1) -> tuple[Release, ...]:
    """The tree of `KMeans`, or a finer one."""
    return (
        Release(CellShapes, called="count, mean and variance of all records", what="of everything"),
        Release(ScatterMatrix, when=WIDE),
        Release(
            CellShapes,
            levels(finer),
            called="count, mean and variance of tree cells",
            what="of tails and levels of a tree",
        ),
    )


CHOICE = (
    *tree(),
    Release(CellShapes, times(1, 4), called="count, mean and variance of pieces", what="of pieces"),
    Release(PairVotes, times(0, 1)),
    Release(CellShapes, times(0, 1), called="count, mean and variance of pieces", what="of joined pieces"),
    Release(PairVotes, times(0, 1)),
)
CHOSEN = "k is 320: pieces, at most"


def or_once(steps: tuple[Release, ...]) -> tuple[Release, ...]:
    """The same steps, of which all but the first may be left out, for looks at a kernel sum."""
    first, *others = steps
    less = [replace(each, number=Number(f"none or {each.number.words}", lambda fit: 0, each.number.most))
            for each in others if each.query is not ScatterMatrix]  # fmt: skip
    return (first, Release(FourierGrid, times(0, 2)), *less)


STEPS = Release(CellShapes, times(1, 10), called="count, mean and variance of clusters", what="of clusters")
CELLS = Release(CellShapes, times(3), called="count, mean and variance of cells", what="of cells")
HARD = Release(ComponentMoments, called="hard component moments", what="(hard)")


def soft(number: Number) -> Release:
    """Moments of components, records shared out by probability."""
    return Release(ComponentMoments, number, called="soft component moments", what="(soft)")


DIRECTIONS = (
    Release(CellMoments, what="of everything"),
    Release(ScatterMatrix, what="above 400 columns of a random projection"),
)
WORDS = Release(CellShapes, times(8), called="count and mean of directions", what="of words")
IN_ALL_COLUMNS = Release(
    CellShapes, called="count, mean and variance of directions, all columns", what="of clusters, all columns"
)


def searched(fit: Fit) -> int:
    """Columns in which `PEMeans` searches: of a projection, if there is one."""
    return min(fit["projection"] or 16, fit.columns)


def evolution_steps(fit: Fit) -> int:
    """Steps of the paper's `PEMeans`."""
    return max(1, round(4 * searched(fit) ** 0.5 * min(max(1.0, fit["epsilon"]), 4.0)))


EVOLUTION = Number("T x", evolution_steps, evolution_steps)
T = "T is 4 sqrt d, times `epsilon` between 1 and 4, rounded, in the d columns searched"
PROJECTED = When("columns are projected: more than 16, or than `projection`", lambda fit: searched(fit) < fit.columns)
ASCENT = Number("`n_steps` x", lambda fit: fit["n_steps"] or 2, lambda fit: fit["n_steps"] or 40)
NO_STEPS = "`n_steps=None` takes 2 to 40, the log of the released count"
KERNEL = (
    Release(ColumnHistograms, when=option("bandwidth", "private")),
    Release(FourierGrid, when=columns(1, 3) & NOT_PURE),
    Release(LatticeCounts, when=columns(1, 3) & PURE),
    Release(FourierFeatures, when=columns(4)),
)
BOUGHT = Release(ColumnHistograms, when=option("bandwidth", "ladder", "private"))
EACH_STEP = option("release", "each-step")


def as_kmeans(fit: Fit) -> tuple[str, Fit]:
    """`KMeans` inside `ModeClustering`: for up to 8 local means to a cluster."""
    k = fit["n_clusters"]
    return "KMeans", fit.given(n_clusters=None if k is None else 8 * k)


def subclusters(fit: Fit) -> int:
    """Sub-clusters that `MorseClustering` looks for."""
    k, few = fit["n_clusters"], fit.columns <= 3
    default = (24 if few else 12) if k is None else max(24, 3 * k) if few else max(6, 2 * k)
    return int(fit["n_subclusters"] or default)


def as_base(fit: Fit) -> tuple[str, Fit]:
    """The base of `MorseClustering`, with the budget that is not its own."""
    base, k = fit["base"], subclusters(fit)
    if base is None:
        return "KMeans", fit.given(n_clusters=k)
    own = base.get_params(deep=False) | {"epsilon": fit["epsilon"], "delta": fit["delta"]}
    size = "n_clusters" if "n_clusters" in own else "n_components"
    return type(base).__name__, Fit(fit.columns, fit.effective, {**own, size: k})


def by_local_means(fit: Fit) -> bool:
    """Whether `ModeClustering` releases local means."""
    bandwidth = fit["bandwidth"]
    chosen = fit["n_clusters"] is None and isinstance(bandwidth, str) and bandwidth == "ladder"
    return fit.columns > 3 or (fit.columns == 3 and chosen)


def looks(fit: Fit) -> bool:
    """Whether `ModeSeeking` takes a first look."""
    return fit.columns > 3 and isinstance(fit["bandwidth"], str) and fit["bandwidth"] == "ladder"


LOOK = When('4 or more columns, `bandwidth="ladder"`', looks)
NO_LOOK = When("up to 3 columns, or another `bandwidth`", lambda fit: not looks(fit))
BY_LOCAL_MEANS = When("4 columns or more, or 3 with neither `n_clusters` nor `bandwidth` given", by_local_means)
BY_DENSITY = When("else", lambda fit: not by_local_means(fit))
NO_BASE = When("no `base`", lambda fit: fit["base"] is None)
MIXTURE_BASE = When("a mixture as `base`", lambda fit: hasattr(fit["base"], "n_components"))
CLUSTERER_BASE = When("a clusterer as `base`", lambda fit: hasattr(fit["base"], "n_clusters"))
FEW = When("2 or 3 columns", lambda fit: fit.columns in (2, 3))
MANY = WIDE & NOT_PURE & When("2 to 40 clusters", lambda fit: 2 <= (fit["n_clusters"] or 0) <= 40)


def several(fit: Fit) -> bool:
    """Whether a kernel sum for a given number of groups is possible."""
    k = fit.parameters.get("n_clusters", fit.parameters.get("n_components"))
    cap = 1 if fit.parameters.get("unit") is None else fit["unit"].cap
    return k is not None and 2 <= k <= 200 and fit["epsilon"] >= 1e-3 * cap


MAY_ONCE = FEW & NOT_PURE & When("2 to 200 groups, `epsilon` not tiny", several)
NOT_ONCE = When("else", lambda fit: not MAY_ONCE.holds(fit))
LOOKS = Release(FourierGrid, times(0, 2))


def plane(fit: Fit) -> bool:
    """Whether the number of groups may be chosen from a kernel sum."""
    cap = 1 if fit.parameters.get("unit") is None else fit["unit"].cap
    return fit.columns == 2 and fit["delta"] > 0 and fit["epsilon"] >= 1e-3 * cap


MAY_CHOOSE = When("2 columns, `delta` above 0, `epsilon` not tiny", plane)
NOT_CHOOSE = When("else", lambda fit: not plane(fit))
NEITHER = When("else", lambda fit: not FEW.holds(fit) and not MANY.holds(fit))
DENSITY = (CELLS, soft(times(4)))
SUBCLUSTERS = "k is the number of sub-clusters"
SUBS = When(
    "`n_clusters` or `n_subclusters` given",
    lambda fit: fit["n_clusters"] is not None or fit["n_subclusters"] is not None,
)
NO_SUBS = When("neither given", lambda fit: fit["n_clusters"] is None and fit["n_subclusters"] is None)

BASINS = MAY_ONCE & option("bandwidth", "ladder")
NOT_BASINS = When("else", lambda fit: not BASINS.holds(fit))
EITHER, DECIDES = "Either the Fourier coefficients, or", "the first release decides"
SUB_LEVELS = Number(
    or_none(levels()).words, lambda fit: 0, lambda fit: levels().most(fit.given(n_clusters=subclusters(fit)))
)

SPARSE_STEPS = (
    Release(Count),
    Release(ColumnCounts),
    Release(SparseMoments),
    Release(ColumnPairs, when=columns(2)),
    WORDS,
    Release(SparseMoments, times(3)),
)
"""Of sparse rows, whatever the number of clusters."""

OPEN = TEXTS & When("no `vocabulary`", lambda fit: not fit["vocabulary"])
