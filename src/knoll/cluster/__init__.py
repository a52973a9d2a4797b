"""Clusterers: each one file, reading like its paper's pseudo-code."""

from knoll.cluster.lloyd import Lloyd

__all__ = ["Lloyd"]
