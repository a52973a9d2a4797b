"""
Groups of embedding vectors
===========================

Texts, images and users often come as unit vectors of some hundred columns. They lie in a ball, so no bounds have to
be found column by column, and one record's effect does not grow with the number of columns.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

import knoll

rng = np.random.default_rng(0)
topics = rng.normal(size=(6, 96))
y = rng.integers(6, size=30_000)
X = topics[y] + rng.normal(scale=0.8, size=(30_000, 96))
X /= np.linalg.norm(X, axis=1, keepdims=True)

model = knoll.KMeans(6, epsilon=2.0, bounds=knoll.Ball(1.0, (0.0,) * 96), random_state=0).fit(X)
print(f"agreement with the topics that were planted: {adjusted_rand_score(y, model.predict(X)):.2f}")

# %%
figure = model.plot("Six topics in 96 columns")
