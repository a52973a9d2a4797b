"""
A Gaussian mixture with error bars
==================================

Weights, means and covariances of a mixture, each with its standard error.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
parts = [
    rng.multivariate_normal([2, 3], [[0.4, 0.3], [0.3, 0.5]], 6_000),
    rng.multivariate_normal([6, 3], [[0.3, -0.2], [-0.2, 0.4]], 4_000),
    rng.multivariate_normal([4, 7], [[1.2, 0.0], [0.0, 0.2]], 3_000),
]
frame = pd.DataFrame(np.vstack(parts), columns=["dose", "response"])
model = knoll.GaussianMixture(3, epsilon=1.0, bounds={"dose": (0, 10), "response": (0, 10)}, random_state=0).fit(frame)
model.summary()

# %%
figure = model.plot("Three components")
