"""
A scaler before the estimator leaks
===================================

An estimator cannot see what stands before it. `StandardScaler` reads the data's own mean and spread, without noise,
and lets one record move all others. An audit of the whole pipeline shows it. Scaling by public bounds, which every
estimator does by itself, is private.
"""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import knoll

estimator = knoll.Lloyd(2, n_steps=1, bounds=(-1, 1), epsilon=1.0)
alone = knoll.audit.audit(estimator, runs=40)
print("the estimator alone:", "passed" if alone.passed else "FAILED")

# %%
pipeline = make_pipeline(StandardScaler(), knoll.Lloyd(2, n_steps=1, bounds=(-4, 4), epsilon=1.0))
whole = knoll.audit.audit(pipeline, runs=40)
print("behind a StandardScaler:", "passed" if whole.passed else "FAILED")
print("not a function of the releases:", "; ".join(whole.leaks[:2]))

# %%
figure = alone.plot()
