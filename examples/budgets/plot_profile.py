"""
A private first look at a table
===============================

Missing values, quantiles and shares of levels of every column, each with its error, for one budget. The result can be
given to other estimators as their bounds.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
table = pd.DataFrame(
    {
        "age": rng.gamma(9, 5, 8_000).clip(0, 105).round(),
        "cost": np.exp(rng.normal(6, 1, 8_000)).round(2),
        "ward": rng.choice(["A", "B", "C"], 8_000, p=[0.6, 0.3, 0.1]),
    }
)
table.loc[rng.random(8_000) < 0.05, "cost"] = np.nan
columns = {"age": (0, 110), "cost": knoll.Log(1, 1e6), "ward": {"A", "B", "C"}}
profile = knoll.Profile(columns, epsilon=0.5).fit(table)
profile.summary()

# %%
figure = profile.plot()

# %%
# Its outer quantiles become the bounds of the next fit.
model = knoll.KMeans(3, epsilon=0.5, bounds=profile, missing="drop", random_state=0).fit(table)
print(model.bounds_)
