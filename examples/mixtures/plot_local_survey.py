"""
A survey in which nobody is trusted
===================================

Each respondent's own device randomises the answer before it leaves. The server sees reports only, and fits a mixture
through the known randomisation.
"""

import numpy as np

import knoll

hours = np.random.default_rng(0).normal([22, 40], [5, 4], size=(4_000, 2)).ravel()
model = knoll.LocalGaussianMixture(2, epsilon=3.0, bounds=(0, 80), random_state=0)

# %%
# The client holds public parameters only. It runs where the answers are.
client = model.client()
reports = [client.report(answer) for answer in hours]
print("an answer and its report:", hours[0].round(1), reports[0])

# %%
model.fit_reports(reports)
print("means", model.means_.ravel().round(1), "±", model.means_stderr_.ravel().round(1))
figure = model.plot("Hours worked per week, from randomised answers")
