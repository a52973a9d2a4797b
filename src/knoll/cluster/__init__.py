"""Clusterers: each one file, reading like its paper's pseudo-code."""

from knoll.cluster.cubes import Cubes
from knoll.cluster.fast_lloyd import FastLloyd
from knoll.cluster.kmeans import KMeans
from knoll.cluster.lloyd import Lloyd
from knoll.cluster.lsh_tree import LSHTree
from knoll.cluster.morse import MorseClustering
from knoll.cluster.pe_means import PEMeans

__all__ = ["Cubes", "FastLloyd", "KMeans", "LSHTree", "Lloyd", "MorseClustering", "PEMeans"]
