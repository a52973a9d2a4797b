"""
Modal regression: when the average is nobody
============================================

Two groups react in opposite ways, so the mean response is flat and describes no one. Modal curves show both branches.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
dose = rng.uniform(0, 10, 12_000)
helped = rng.random(12_000) < 0.6
response = np.where(helped, 50 + 4 * dose, 50 - 3 * dose) + rng.normal(0, 3, 12_000)
frame = pd.DataFrame({"dose": dose, "response": response})

model = knoll.ModalRegression(epsilon=1.0, bounds={"dose": (0, 10), "response": (0, 110)}, random_state=0).fit(frame)
figure = model.plot("Two ways to react")
