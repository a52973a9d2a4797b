"""Bounds bought from the budget: ``bounds="private"``."""

from knoll.bounds.buying import MOST_SHARE, PRIVATE, Bought, bounds_asks, bounds_doubts, buy_bounds

__all__ = ["MOST_SHARE", "PRIVATE", "Bought", "bounds_asks", "bounds_doubts", "buy_bounds"]
