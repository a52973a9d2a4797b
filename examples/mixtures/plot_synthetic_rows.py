"""
Synthetic rows
==============

Rows drawn from a released mixture look like the data and cost nothing more: they are made from what was released
already. They keep what the mixture holds (places, spreads, correlations within a component) and nothing else.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
old = rng.random(15_000) < 0.4
frame = pd.DataFrame(
    {
        "age": np.where(old, rng.normal(70, 8, 15_000), rng.normal(33, 9, 15_000)).clip(18, 100),
        "visits": np.where(old, rng.normal(9, 2, 15_000), rng.normal(3, 1.2, 15_000)).clip(0, 20),
    }
)
model = knoll.GaussianMixture(3, epsilon=1.0, bounds={"age": (18, 100), "visits": (0, 20)}, random_state=0).fit(frame)
synthetic = model.sample(15_000, random_state=0)
synthetic.describe().round(1)

# %%
# The comparison below reads the records, so it is for the data holder's eyes only.
fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for name, axis in zip(frame, axes, strict=True):
    for table, label in ((frame, "records"), (synthetic, "synthetic")):
        axis.hist(table[name], bins=40, histtype="step", density=True, label=label)
    axis.set_xlabel(name)
axes[0].legend(frameon=False)
