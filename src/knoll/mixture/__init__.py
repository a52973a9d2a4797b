"""Gaussian mixtures from released moments."""

from knoll.mixture.central import GaussianMixture
from knoll.mixture.em import EMGaussianMixture
from knoll.mixture.hard_em import HardEMGaussianMixture
from knoll.numeric.mixture import Mixture

__all__ = ["EMGaussianMixture", "GaussianMixture", "HardEMGaussianMixture", "Mixture"]
