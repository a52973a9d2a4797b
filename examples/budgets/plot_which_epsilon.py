"""
Which epsilon?
==============

Before any data is touched: fits of made-up data of the same kind, at several budgets. The plan names the smallest
that finds the clusters, and says in plain words what it risks.
"""

import knoll

plan = knoll.simulate_plan(5_000, 3, 5, epsilons=[0.03, 0.1, 0.3, 1.0, 3.0], runs=3, seconds=20)
print(plan.verdict)

# %%
figure = plan.plot()
