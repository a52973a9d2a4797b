"""Bounds bought from the budget (``bounds="private"``), and how far numbers spread beside categories."""

from knoll.bounds.balance import SHARE, balance_asks, balanced, balances
from knoll.bounds.buying import MOST_SHARE, PRIVATE, Bought, bounds_asks, buy_bounds

__all__ = [
    "MOST_SHARE",
    "PRIVATE",
    "SHARE",
    "Bought",
    "balance_asks",
    "balanced",
    "balances",
    "bounds_asks",
    "buy_bounds",
]
