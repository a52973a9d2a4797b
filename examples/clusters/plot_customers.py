"""
Customer segments from a mixed table
====================================

Ages, money, plans, dates and yes-or-no columns in one private clustering. Kinds of columns are declared, never
guessed from records, and results come back in the same terms.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
group = rng.choice(3, size=12_000, p=[0.5, 0.3, 0.2])
customers = pd.DataFrame(
    {
        "age": rng.normal(np.array([27, 44, 66])[group], 5).round(),
        "income": np.exp(rng.normal(np.log([24_000, 62_000, 35_000])[group], 0.25)).round(),
        "plan": np.where(rng.random(12_000) < np.array([0.1, 0.8, 0.3])[group], "gold", "basic"),
        "app": rng.random(12_000) < np.array([0.95, 0.6, 0.1])[group],
    }
)

# %%
# What each column can hold is public knowledge: it is written down without looking at a record.
columns = knoll.Columns({"age": (16, 100), "income": knoll.Log(5_000, 500_000), "plan": {"basic", "gold"}, "app": bool})
model = knoll.KMeans(3, epsilon=1.0, bounds=columns, random_state=0).fit(customers)

# %%
# One row per cluster, in the table's own terms: amounts, shares of levels, and what sets each cluster apart.
model.summary()

# %%
figure = model.plot("Three kinds of customers")
