"""Which densities are likely, given one released kernel sum: mixtures of Gaussians, sampled.

    view.py    what was released: the kernel, the field, its noise
    chains.py  compiled loops: a most likely start, moves of single Gaussians, the density of a draw on a grid
    sample.py  several chains, and how many independent draws they are worth
    cells.py   what the draws say of the cells of given centres: sizes, means, spreads, and how uncertain they are

Let z(x) = sum_i k(x - x_i) + noise, where the noise has covariance s^2 k (so that one vote has sensitivity sqrt(k(0)) =
1, wherever it is seen). For a density of records f, the log-likelihood is (<f, z> - <f, k * f> / 2) / s^2 but for a
constant. For a mixture of round Gaussians with weights a at places u, k being a sum of round Gaussians too, both
products are closed formulas: a . b - a' G a / 2. The weights have a Gaussian prior and are integrated out. A move of
one Gaussian then changes one row of a matrix whose inverse is kept.

Everything here is post-processing of released values, and its randomness is public.
"""
