"""
A density to look at
====================

`KernelDensity` releases a whole density at once, which can then be evaluated anywhere, drawn, and sampled from.
"""

import numpy as np

import knoll
from knoll.plots import plot_surface

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 10_000)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.normal(3, 0.3, (10_000, 1))
X = np.vstack([ring, rng.normal(0, 0.5, size=(4_000, 2))])

model = knoll.KernelDensity(epsilon=1.0, bounds=(-5, 5), random_state=0).fit(X)
print(f"density in the middle: {model.density([[0.0, 0.0]])[0]:.3f} ± {model.density_stderr():.3f}")

# %%
figure = model.plot("A ring and its middle")

# %%
# `ModeSeeking` releases such a density too, and finds its modes. Of two columns, it can be drawn as a surface.
figure = plot_surface(knoll.ModeSeeking(epsilon=1.0, bounds=(-5, 5), random_state=0).fit(X), "Its modes")
