"""Local differential privacy: respondents randomise their own records; the server is not trusted."""

from knoll.local.client import Client
from knoll.local.clients import Noisy, SquareWave, Unary, Waves, client_from_dict
from knoll.local.mixture import LocalGaussianMixture

__all__ = ["Client", "LocalGaussianMixture", "Noisy", "SquareWave", "Unary", "Waves", "client_from_dict"]
