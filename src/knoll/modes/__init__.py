"""Modes of sensitive data: the released density, mode seeking, modal regression and clustering by modes."""

from knoll.modes.density import KernelDensity
from knoll.modes.modal_regression import ModalRegression
from knoll.modes.mode_clustering import ModeClustering
from knoll.modes.mode_seeking import ModeSeeking

__all__ = ["KernelDensity", "ModalRegression", "ModeClustering", "ModeSeeking"]
