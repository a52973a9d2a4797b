"""Modes of sensitive data: the released density, mode seeking, modal regression and clustering by modes."""

from knoll.registry import exports

__all__, __getattr__ = exports(__name__)
