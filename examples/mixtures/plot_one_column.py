"""
A mixture in one column
=======================

One histogram, released once, says all that a mixture of one column needs. Its noise is Laplace where that is
narrower, and the fit is then purely private.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(2)
waiting = np.concatenate([rng.normal(54, 6, 900), rng.normal(80, 6, 1_600)])
model = knoll.GaussianMixture(2, epsilon=1.0, bounds={"waiting": (30, 110)}, random_state=0)
model.fit(pd.DataFrame({"waiting": waiting}))
print("means", model.means_.ravel().round(1), "±", model.means_stderr_.ravel().round(2))

# %%
figure = model.plot("Waiting times")
