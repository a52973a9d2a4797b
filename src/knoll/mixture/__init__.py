"""Gaussian mixtures from released moments."""

from knoll.registry import exports

__all__, __getattr__ = exports(__name__, Mixture="knoll.numeric.mixture")
