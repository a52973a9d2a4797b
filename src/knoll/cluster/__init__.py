"""Clusterers: each one file, reading like its paper's pseudo-code."""

from knoll.registry import exports

__all__, __getattr__ = exports(__name__)
