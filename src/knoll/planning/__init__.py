"""What to expect of a fit before any data is touched: noise by a formula, results by simulation, risk in words."""

from knoll.planning.formula import Plan, plan
from knoll.planning.result import Expected, SimulatedPlan
from knoll.planning.simulate import simulate_plan
from knoll.privacy.risk import Risk, risk_of

__all__ = ["Expected", "Plan", "Risk", "SimulatedPlan", "plan", "risk_of", "simulate_plan"]
