"""Gaussian mixtures from released moments."""

from knoll.mixture.mixture import Mixture

__all__ = ["Mixture"]
