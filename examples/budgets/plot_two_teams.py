"""
Two teams, one ledger
=====================

Every fit spends. A ledger file adds up what all of them spent on a dataset, and refuses a fit that would exceed the
cap before anything is released.
"""

from pathlib import Path
from tempfile import mkdtemp

from sklearn.datasets import make_blobs

import knoll

X, _ = make_blobs(4_000, 2, centers=3, random_state=0)
ledger = knoll.Ledger(Path(mkdtemp()) / "privacy.db", dataset="survey")
ledger.set_cap("survey", knoll.Budget(2.0))

first = knoll.KMeans(3, epsilon=1.0, bounds=(-15, 15), ledger=ledger, random_state=0).fit(X)
second = knoll.ModeSeeking(epsilon=0.5, bounds=(-15, 15), ledger=ledger, random_state=0).fit(X)
print(f"spent so far: epsilon = {ledger.spend('survey').epsilon:.2f}, of 2")

# %%
# A third fit would exceed the cap. It is refused, and costs nothing.
try:
    knoll.KMeans(3, epsilon=1.9, bounds=(-15, 15), ledger=ledger).fit(X)
except ValueError as refusal:
    print(refusal)

# %%
figure = first.plot("What the first team found")
