"""
Hot-spots of trips
==================

Where do trips begin? The modes of a density, with their heights and how sure each is. Modes that are only noise are
shown no more often than ``chance`` says. Columns called longitude and latitude are drawn as a map: lengths are the same
both ways, and nothing is loaded from the network.
"""

import numpy as np
import pandas as pd

import knoll

rng = np.random.default_rng(0)
places = np.array([[52.52, 13.37], [52.51, 13.45], [52.48, 13.43], [52.50, 13.33]])
trips = places[rng.choice(4, 16_000, p=[0.4, 0.3, 0.2, 0.1])] + rng.normal(0, [0.004, 0.006], size=(16_000, 2))
frame = pd.DataFrame(trips, columns=["latitude", "longitude"])
bounds = {"latitude": (52.44, 52.56), "longitude": (13.25, 13.52)}

model = knoll.ModeSeeking(epsilon=1.0, bounds=bounds, random_state=0).fit(frame)
print(model.modes_.round(3))

# %%
figure = model.plot("Where trips begin")
