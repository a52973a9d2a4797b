"""
Modes of one column
===================

How many humps has a distribution, and where? One release answers for all bandwidths at once.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(3)
pressure = np.concatenate([rng.normal(112, 7, 5_000), rng.normal(138, 6, 3_000), rng.normal(165, 6, 1_000)])
model = knoll.ModeSeeking(epsilon=1.0, bounds={"systolic": (70, 230)}, random_state=0)
model.fit(pd.DataFrame({"systolic": pressure}))
print("modes", model.modes_.ravel().round(1), "±", model.modes_stderr_.ravel().round(1))

# %%
figure = model.plot("Blood pressure")
