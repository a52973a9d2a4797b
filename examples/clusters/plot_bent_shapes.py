"""
Clusters of any shape
=====================

k-means cuts bent clusters in two. `MorseClustering` finds many small ones first and joins them where the released
density between them stays high.
"""

from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import knoll

X, y = make_moons(10_000, noise=0.07, random_state=0)
budget = {"epsilon": 2.0, "bounds": ([-1.6, -1.1], [2.6, 1.6]), "random_state": 0}
round_ones = knoll.KMeans(2, **budget).fit(X)
bent_ones = knoll.MorseClustering(2, **budget).fit(X)

# %%
# We made this data, so we may compare with the truth. With real data such a comparison is not private.
print(f"KMeans          {adjusted_rand_score(y, round_ones.predict(X)):.2f}")
print(f"MorseClustering {adjusted_rand_score(y, bent_ones.predict(X)):.2f}")

# %%
figure = bent_ones.plot("Two moons")
