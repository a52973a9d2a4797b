"""
Classes of stars in a colour diagram
====================================

Clusters of very different sizes and spreads, with a thin background. `ModeClustering` follows the density: a cluster
is the basin of a mode, whatever its shape.
"""

import numpy as np

import knoll

rng = np.random.default_rng(1)
main = rng.normal(0.8, 0.5, 9_000)
X = np.vstack(
    [
        np.column_stack([main, 4.5 * main + rng.normal(0, 0.35, 9_000)]),
        rng.normal([1.05, 0.5], [0.08, 0.35], size=(2_500, 2)),
        rng.normal([-0.1, 9.5], [0.12, 0.5], size=(900, 2)),
        rng.uniform([-1, -4], [3, 13], size=(400, 2)),
    ]
)
model = knoll.ModeClustering(epsilon=1.0, bounds=[(-1, 3), (-4, 13)], random_state=0).fit(X)
print(f"{model.n_clusters_} classes, of about {', '.join(f'{n:,.0f}' for n in model.cluster_sizes_)} stars")

# %%
figure = model.plot("Classes in a colour diagram (made-up stars)")
