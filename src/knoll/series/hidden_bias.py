"""What the kernel hides of a top: how far the mode of the records may be from it, and how much higher.

A kernel of bandwidth h smooths the records around a top. If these have variance s^2 and third cumulant c, the top of
the sum is at

    mean - c / (2 (s^2 + h^2))        (Edgeworth)

so it moves with h. Two bandwidths tell c, and thereby how far the top still is from the mode. If h is large against s,
the top hardly moves, though the bias is largest: then the move and its noise count many times. What noise hides is
drawn to what is usual: the mode of a one-sided distribution is a part of s away from its mean.

Two modes that the kernel has joined show another sign: the narrower the bandwidth, the flatter the top. And no sum of
kernels is more sharply curved than one kernel. A top that is, was made by noise, or by the end of the Fourier series.
All of it is post-processing of released values.
"""

from dataclasses import dataclass

import numpy as np

USUAL = 0.4  # distance of a mode from the mean of its bump, in standard deviations: gamma and log-normal have .6
SHARPEST = 1.2  # curvature of a top, in those of one kernel, up to which it can be of records: noise adds a little
MARGIN = 1.1  # times the bias that the move shows: bumps are not what the formula assumes (benchmarks/coverage)
STEP = 2  # quarter octaves between two bandwidths that are compared: squared bandwidths differ by a factor of two
DEEPEST = 8  # quarter octaves below a top's own bandwidth at which moves are looked at
FLATTER = 4  # quarter octaves below it at which a flatter top is looked for
JOINED = 0.5  # squared distance between modes that were joined, over the variance that the flatter top has more
WIDTHS = 0.03, 50.0  # variance of the records around a top, in squared bandwidths: least and most that is believed
NARROW = 0.1  # below this variance, in the same units, nothing is known of the height of a mode
PEAKED = 1.6  # times what a Gaussian bump would lose in height: records with long tails have sharper peaks


@dataclass(frozen=True)
class Path:
    """Tops at several bandwidths, narrowest first, a quarter octave apart.

    Attributes
    ----------
    places : array of shape (n_bandwidths, n_tops, n_columns)
        Where the tops are.
    covariances : array of shape (n_bandwidths, n_tops, n_columns, n_columns)
        Noise and sampling error of the places; infinite where a top has vanished.
    curves : array of the same shape
        Curvature over height, in units of bandwidths: one kernel has the unit matrix.
    bandwidths : array of shape (n_bandwidths, n_columns)
    """

    places: np.ndarray
    covariances: np.ndarray
    curves: np.ndarray
    bandwidths: np.ndarray

    def hidden(self, best: np.ndarray, final: np.ndarray) -> np.ndarray:
        """Return the variance of what the kernel hides of tops that are placed at `final`, (n_tops, n_columns).

        `best` is the index of each top's own bandwidth.
        """
        if not len(best):
            return np.empty(final.shape)
        return np.array([self._of_top(i, int(best[i]), final[i]) for i in range(len(best))])

    def _of_top(self, i: int, own: int, final: np.ndarray) -> np.ndarray:
        alive = np.isfinite(self.covariances[:, i]).all(axis=(1, 2)) & np.isfinite(self.curves[:, i]).all(axis=(1, 2))
        sharpest = np.linalg.eigvalsh(self.curves[own, i])[-1] if alive[own] else np.inf
        if sharpest > SHARPEST:
            return np.full(final.shape, np.inf)
        square = np.square(self.bandwidths)
        spreads = widths(self.curves[:, i]) * square
        wide = np.clip(spreads[own], WIDTHS[0] * square[own], WIDTHS[1] * square[own])
        usual = USUAL**2 * wide
        times, noise, pair = self._clearest(i, own, wide, alive)
        if pair is None:
            skew = usual
        else:
            move = self.places[pair[1], i] - self.places[pair[0], i]
            off = MARGIN * (final - self.places[own, i] + times * move)
            known = usual / (usual + noise)
            skew = np.minimum(np.square(known * off) + known * noise, wide)
        return skew + joined(spreads, wide, own, alive)

    def _clearest(
        self, i: int, own: int, wide: np.ndarray, alive: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, tuple[int, int] | None]:
        """Return the pair of bandwidths whose move tells the bias with the least noise.

        Also returned, and first: how many times the move the bias is, and the variance of its noise.
        """
        square, variance = np.square(self.bandwidths), np.diagonal(self.covariances[:, i], axis1=1, axis2=2)
        found: tuple[np.ndarray, np.ndarray, tuple[int, int] | None] = wide, np.full(wide.shape, np.inf), None
        for low in range(own, max(own - DEEPEST, 0) - 1, -1):
            high = min(low + STEP, len(square) - 1)
            if not alive[low]:
                break
            if high == low or not alive[high]:
                continue
            apart = 1 / (wide + square[low]) - 1 / (wide + square[high])
            times = (1 / wide - 1 / (wide + square[own])) / apart
            noise = np.square(times) * np.maximum(variance[low] - variance[high], 0.1 * variance[low])
            if (noise / wide).sum() < (found[1] / wide).sum():
                found = times, noise, (low, high)
        return found


def joined(spreads: np.ndarray, wide: np.ndarray, own: int, alive: np.ndarray) -> np.ndarray:
    """Return the variance that two modes joined to one would have, as a top shows that is flatter at less bandwidth."""
    flattest = spreads[own]
    for low in range(own - 1, max(own - FLATTER, 0) - 1, -1):
        if not alive[low]:
            break
        flattest = np.maximum(flattest, spreads[low])
    high = min(own + STEP, len(spreads) - 1)
    more = np.maximum(flattest - np.maximum(spreads[high] if alive[high] else wide, 0.0), 0.0)
    return np.minimum(JOINED * more * np.minimum(more / wide, 1.0), 2 * wide)


def widths(curve: np.ndarray) -> np.ndarray:
    """Return the variance of the records around tops along each column, in squared bandwidths; noise may make it < 0.

    A Gaussian bump of covariance R has curvature (1 + R)^-1 over its height.
    """
    values, axes = np.linalg.eigh(curve)
    spread = 1 / np.maximum(values, 1 / (1 + WIDTHS[1])) - 1
    return (np.square(axes) @ spread[..., None])[..., 0]


def hidden_height(curves: np.ndarray) -> np.ndarray:
    """Return how much higher modes may be than the tops of the sum, as a part of the tops' heights, (n_tops,).

    A Gaussian bump of covariance R is lowered by sqrt(det(R) / det(1 + R)). Infinite where R cannot be told from zero.
    """
    spread = 1 / np.maximum(np.linalg.eigvalsh(curves), 1 / (1 + WIDTHS[1])) - 1
    lower = np.log1p(1 / np.maximum(spread, NARROW)).sum(axis=1) / 2
    return np.where((spread > NARROW).all(axis=1), np.expm1(PEAKED * lower), np.inf)
