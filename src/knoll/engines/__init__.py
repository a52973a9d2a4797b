"""Engines: where rows live. They sum queries exactly; they see neither noise nor budgets."""

from knoll.engines.array import ArrayEngine
from knoll.engines.engine import Engine

__all__ = ["ArrayEngine", "Engine"]
