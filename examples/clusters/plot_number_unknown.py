"""
When the number of clusters is unknown
======================================

``n_clusters=None`` finds the number: many small pieces are joined where the released votes show no valley between
them. The answer comes with a confidence and with the runners-up.
"""

from sklearn.datasets import make_blobs

import knoll

corners = [[x, y] for x in (-9, -3, 3, 9) for y in (-6, 0, 6)]
X, _ = make_blobs(24_000, 2, centers=corners, cluster_std=[0.4, 0.6, 0.8] * 4, random_state=5)
model = knoll.KMeans(None, epsilon=1.0, bounds=(-12, 12), random_state=0).fit(X)

print(f"{model.n_clusters_} clusters, confidence {model.n_clusters_confidence_:.0%}")
print("also possible:", model.n_clusters_candidates_)

# %%
figure = model.plot("Twelve clusters, found without being told")
