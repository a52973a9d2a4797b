"""
Bounds that nobody knows
========================

Bounds must not be read off the data. If nobody knows them, ``bounds="private"`` buys them with a part of the budget;
they rather extend than cut, and columns in doubt are named.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
group = rng.random(12_000) < 0.5
frame = pd.DataFrame(
    {
        "age": np.where(group, rng.normal(30, 6, 12_000), rng.normal(62, 8, 12_000)),
        "balance": np.where(group, rng.normal(900, 200, 12_000), rng.normal(5_200, 700, 12_000)),
    }
)
model = knoll.KMeans(2, epsilon=1.0, bounds="private", random_state=0).fit(frame)
print("bought:", model.bounds_)
print("in doubt:", model.bounds_in_doubt_)

# %%
figure = model.plot("Two groups, within bought bounds")
