"""Looks at the records through a kernel: a released kernel sum, and what several of them show together.

What one record changes. It adds, for every frequency, a cosine and a sine with fixed amplitudes whose squares sum to
the kernel's height at zero: one vote, wherever the record lies and however fine the look is; or nothing, if it lies
outside the look's window. `FourierGrid` bounds the norm of that vector, with the rounding of its tables, and of the
difference of two.

Two looks with the same kernel show as much as one with the sum of their budgets. So a first look costs nothing, and
the second may be finer where the first shows that records fill only a part of the bounds.
"""

from dataclasses import dataclass

import numpy as np

from knoll.numeric.posterior.view import Kernel, View
from knoll.privacy import Grant
from knoll.queries import Ball, Box, FourierGrid, Lattice
from knoll.series.series import spectrum

# Settled on kinds like the tuned ones of benchmarks/small.
BANDWIDTH = 0.25  # of the kernel, over the usual distance of clusters
HEIGHTS, FINER = (0.9, 0.07), (1.0, 0.5)  # of the kernel's Gaussians, and their bandwidths over BANDWIDTH
CONSTANT = 1.0 - sum(HEIGHTS)  # the rest of the kernel: what it spends on the number of records
WIDTHS = 0.04 * 2.0 ** (np.arange(8) / 2)  # that clusters may have, over their usual distance
NODES = 3.0  # nodes of the fields to a bandwidth
REACH = 4.3  # frequencies are kept up to this over the bandwidth
PAD = 4.0  # bandwidths between the two ends of the window, round the torus
FEATURES = 2**16  # of a look, at most: noise for more takes long to draw
PARTLY = 0.5  # between clusters that touch (0), and clusters so tight that records end where the last centres are (1)
MARGIN = 0.25  # of what records fill is added at each end: no cluster at the edge is cut


@dataclass(frozen=True)
class Window:
    """A part of the bounds, and the usual distance of clusters there, both in the metric of the fit.

    `low` is its lower corner, from the middle of the bounds.
    """

    low: np.ndarray
    length: np.ndarray
    spacing: float

    @property
    def kernel(self) -> Kernel:
        """The kernel for clusters with this usual distance."""
        return Kernel(CONSTANT, np.array(HEIGHTS), BANDWIDTH * self.spacing * np.array(FINER))

    @property
    def top(self) -> np.ndarray:
        """The highest frequency that the kernel needs, per column."""
        h = BANDWIDTH * self.spacing
        return np.ceil(REACH * (self.length + PAD * h) / (2 * np.pi * h)).astype(int)

    def affordable(self) -> "Window":
        """Return the window with a usual distance for which a look has no more than FEATURES features."""
        window = self
        while np.prod(2.0 * window.top + 1) > FEATURES:
            window = Window(self.low, self.length, 1.05 * window.spacing)
        return window


@dataclass(frozen=True)
class Look:
    """A released kernel sum: totals per product of features, times the kernel's spectrum; the noise of the sum."""

    window: Window
    lattice: Lattice
    totals: np.ndarray
    noise: float


def look(grant: Grant, domain: Box | Ball, scales: np.ndarray, window: Window) -> Look:
    """Release the kernel sum in a window with all of a grant."""
    kernel, low = window.kernel, domain.centre + window.low * scales
    pad = PAD * kernel.bandwidths[0] * scales
    lattice = Lattice(domain, low, low + window.length * scales, pad, tuple(window.top.tolist()))
    square = sum(a * spectrum(lattice, h * scales) for a, h in zip(kernel.heights, kernel.bandwidths, strict=True))
    square.flat[0] += kernel.constant
    query = FourierGrid(lattice, np.sqrt(square))
    released = grant.release(query)
    features = np.ix_(*(lattice.frequency_of_feature(j) for j in range(len(scales))))
    error = query.tensor(np.broadcast_to(released.stderr, query.shape))[tuple(slice(top + 1) for top in lattice.top)]
    noise = float(np.sqrt(np.square(square * error).sum()))
    return Look(window, lattice, query.tensor(released.value) * square[features], noise)


def view_of(looks: list[Look], scales: np.ndarray) -> View:
    """Return what looks show together, in the window of the last: sums weighted by precision, and so their kernels."""
    window = looks[-1].window
    h = BANDWIDTH * window.spacing
    shape = tuple((np.ceil(NODES * window.length / h).astype(int) + 1).tolist())
    precise = np.array([each.noise**-2.0 for each in looks])
    part = precise / precise.sum()
    nodes = [low + np.linspace(0.0, 1.0, n) * (high - low)
             for low, high, n in zip(looks[-1].lattice.low, looks[-1].lattice.high, shape, strict=True)]  # fmt: skip
    widths = window.spacing * WIDTHS
    fields = np.stack(
        [sum(p * smeared(each, nodes, width * scales) for p, each in zip(part, looks, strict=True)).ravel()
         for width in widths]
    )  # fmt: skip
    kernels = [each.window.kernel for each in looks]
    heights = np.concatenate([p * kernel.heights for p, kernel in zip(part, kernels, strict=True)])
    kernel = Kernel(CONSTANT, heights, np.concatenate([kernel.bandwidths for kernel in kernels]))
    return View(window.low, window.length, shape, widths, fields, float(precise.sum() ** -0.5), kernel, window.spacing)


def smeared(seen: Look, nodes: list[np.ndarray], width: np.ndarray) -> np.ndarray:
    """Return a released sum at the nodes of a grid, averaged over a Gaussian of a width per column."""
    totals, lattice = seen.totals, seen.lattice
    for j, at in enumerate(nodes):
        turn = 2 * np.pi / lattice.period[j] * lattice.frequency_of_feature(j)
        basis = lattice.basis(j, at) * np.exp(-0.5 * np.square(turn * width[j]))
        totals = np.tensordot(totals, basis, axes=(0, 1))  # the next column comes first, the nodes last
    return totals


def usual_distance(lengths: np.ndarray, k: int, less: float = 0.0) -> float:
    """Return the usual distance of k clusters that fill these lengths: the side of a cube for each."""
    return float(np.exp(np.log(lengths).mean()) / (k ** (1 / len(lengths)) - less))
