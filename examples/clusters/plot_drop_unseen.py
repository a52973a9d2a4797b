"""
Too many clusters for the budget
================================

Sixty clusters are asked for where six can be seen. Clusters that cannot be told from noise are marked, and left out
with ``drop_unseen=True``.
"""

import warnings

from sklearn.datasets import make_blobs

import knoll

X, _ = make_blobs(3_000, 2, centers=6, cluster_std=0.6, random_state=3)
with warnings.catch_warnings(record=True) as remarks:
    warnings.simplefilter("always")
    model = knoll.KMeans(60, epsilon=0.5, bounds=(-14, 14), random_state=0).fit(X)
print(f"{model.clusters_seen_.sum()} of {model.n_clusters_} clusters stand out of the noise")
for each in model.diagnostics_:
    print(f"{each.severity}: {each.message} {each.advice}")

# %%
warnings.simplefilter("ignore", knoll.DiagnosticWarning)
seen = knoll.KMeans(60, epsilon=0.5, bounds=(-14, 14), drop_unseen=True, random_state=0).fit(X)
figure = seen.plot("What is left: clusters that are seen")
