"""
Users, not rows
===============

If people have many rows, protecting one row says little. ``knoll.User`` protects all rows of a person at once, at the
price of noise in proportion to the cap.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
X = rng.normal([[0, 0], [6, 6], [6, 0]], 0.8, size=(4_000, 3, 2)).reshape(-1, 2)
frame = pd.DataFrame(X, columns=["x", "y"]).assign(user=np.repeat(np.arange(4_000), 3))
errors = {}
for cap in (1, 2, 3):
    unit = knoll.User("user", cap=cap)
    model = knoll.KMeans(3, epsilon=1.0, bounds={"x": (-5, 11), "y": (-5, 11)}, unit=unit, random_state=0).fit(frame)
    errors[cap] = float(model.centers_stderr_.mean())
    print(f"cap {cap}: about {model.cluster_sizes_.sum():,.0f} rows used, standard error {errors[cap]:.3f}")

# %%
fig, axes = plt.subplots(figsize=(5, 3.2), layout="constrained")
axes.bar([str(cap) for cap in errors], list(errors.values()))
axes.set(xlabel="rows used per user", ylabel="mean standard error of a centre")
