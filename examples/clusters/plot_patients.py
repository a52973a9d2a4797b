"""
Patient groups, with every patient protected
============================================

Patients come more than once. Protecting *visits* would say too little, so the unit is the patient: at most two visits
of each are used, and nobody can tell whether any one patient was in the data.
"""

import pandas as pd

import knoll
from knoll.datasets import clinic_visits

visits, _ = clinic_visits(20_000)
frame = pd.DataFrame(visits, columns=["age", "bmi", "systolic"])
frame["patient"] = [f"P{i % 13_333:05d}" for i in range(len(frame))]

model = knoll.KMeans(
    4,
    epsilon=1.0,
    bounds={"age": (0, 110), "bmi": (10, 60), "systolic": (70, 230)},
    unit=knoll.User("patient", cap=2),
    random_state=0,
).fit(frame)
print(model.privacy_)

# %%
figure = model.plot("Four groups of patients")
