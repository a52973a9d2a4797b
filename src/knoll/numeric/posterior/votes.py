"""What released votes in the cells of a grid show: a view for the sampler, as a kernel sum would give it.

A histogram is a kernel sum too: what one record adds to what another sees is the part of a cell that both share. That
part depends a little on where the cell's borders are, and all the noise is fine-grained. So votes are blurred by a
Gaussian; then borders hardly matter, and log-likelihoods are those of a kernel sum whose kernel is the blur.

Let z_c be the votes of cell c, with noise of variance s^2 each. For a density f with f_c records in cell c, sum_c f_c
z_c - sum_c f_c^2 / 2, over s^2, is the log-likelihood of f but for a constant if the noise is Gaussian. Laplace noise
looks nearly so: what is compared are sums over many cells. The blur leaves out what the finest scales tell; that is
cautious, and what is left are shapes that mixtures of round Gaussians can follow. For round Gaussians of widths a and b
at a distance r both sums are closed formulas, with v = blur^2 + side^2 / 6 + a^2 + b^2 the sum of all variances:
side^d (2 pi v)^(-d/2) exp(-r^2 / 2 v).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from knoll.numeric.posterior.view import Kernel, View

# Settled on the tuned kinds of benchmarks/small.
BLUR = 0.1  # of votes, over the usual distance of clusters
CHANCE = 0.1  # of a Gaussian's expected records is added to the variance of the noise: as `View.chance`
WIDTHS = 0.04 * 2.0 ** (np.arange(8) / 2)  # that clusters may have, over their usual distance
NODES = 1.5  # nodes of the fields to the width of what is blurred least


@dataclass(frozen=True)
class VoteGrid:
    """Released votes in the cells of a grid. All lengths in the metric of the fit.

    Attributes
    ----------
    low : array of shape (d,)
        Lower corner, from the middle of the bounds.
    cell : array of shape (d,)
        Sides of a cell.
    votes : array of shape (n_1, .., n_d)
        Released records in each cell.
    noise : float
        Standard error of the votes of one cell.
    """

    low: np.ndarray
    cell: np.ndarray
    votes: np.ndarray
    noise: float

    @property
    def side(self) -> float:
        """Side of a cube as large as a cell."""
        return float(np.exp(np.log(self.cell).mean()))

    def seen(self, nodes: list[np.ndarray], width: float) -> np.ndarray:
        """Return the votes at the nodes of a mesh, averaged over a Gaussian of this width."""
        shown = self.votes
        for j, at in enumerate(nodes):
            borders = self.low[j] + np.arange(self.votes.shape[j] + 1) * self.cell[j]
            part = np.diff(ndtr((borders - at[:, None]) / width), axis=1)
            shown = np.tensordot(shown, part, axes=(0, 1))  # the next column comes first, the nodes last
        return shown


def view_of_votes(seen: list[VoteGrid], low: np.ndarray, window: np.ndarray, spacing: float) -> View:
    """Return what grids show together in a window: sums weighted by precision, and so their kernels."""
    blur, d = BLUR * spacing, len(window)
    widths = spacing * WIDTHS
    least = max(float(np.hypot(widths[0], blur)), seen[-1].side / 2)
    shape = tuple((np.ceil(NODES * window / least).astype(int) + 1).tolist())
    nodes = [start + np.linspace(0.0, length, n) for start, length, n in zip(low, window, shape, strict=True)]
    precise = np.array([each.noise**-2.0 for each in seen])
    part = precise / precise.sum()
    fields = np.stack(
        [sum(p * each.seen(nodes, float(np.hypot(width, blur))) for p, each in zip(part, seen, strict=True)).ravel()
         for width in widths]
    )  # fmt: skip
    bandwidths = np.array([np.hypot(blur, each.side / 6**0.5) for each in seen])
    heights = part * np.array([each.side**d for each in seen]) * (2 * np.pi * np.square(bandwidths)) ** (-d / 2)
    kernel = Kernel(0.0, heights, bandwidths)
    noise = float(precise.sum() ** -0.5)
    return View(low, window, shape, widths, fields, noise, kernel, spacing, chance=CHANCE)
