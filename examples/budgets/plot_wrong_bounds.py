"""
Wrong bounds are noticed
========================

Bounds that cut the data, or that are far too wide, make a result useless. Diagnostics notice both from what was
released: they cost no budget.
"""

import warnings

import knoll
from knoll.datasets import clinic_visits

warnings.simplefilter("ignore", knoll.DiagnosticWarning)
X, _ = clinic_visits(8_000)
for words, age in (("cut", (0, 20)), ("too wide", (0, 5_000)), ("right", (0, 110))):
    model = knoll.KMeans(4, epsilon=1.0, bounds=[age, (10, 60), (70, 230)], random_state=0).fit(X)
    codes = [each.code for each in model.diagnostics_ if each.severity != "info"]
    print(f"ages {age} ({words}): {', '.join(codes) or 'nothing to remark'}")

# %%
figure = model.plot("With the right bounds")
