"""Queries: what one record may add to a total, and how much that can change it."""

from knoll.queries.cell_histograms import CellHistograms
from knoll.queries.cells import SplitTree
from knoll.queries.components import ComponentMoments, Gaussians
from knoll.queries.counts import Count
from knoll.queries.domain import Ball, Box, Domain
from knoll.queries.fourier import FourierFeatures, FourierGrid
from knoll.queries.given import domain_from
from knoll.queries.kernel_steps import KernelSteps
from knoll.queries.lattice import Lattice, LatticeCounts
from knoll.queries.mixed import MixedMoments
from knoll.queries.moments import CellDisplacements, CellMoments
from knoll.queries.nearest import Nearest, TwoLevel, candidates
from knoll.queries.observed import ObservedMeans
from knoll.queries.outside import OutsideVotes
from knoll.queries.product import Circle, Corners, Line, Product
from knoll.queries.profile import ColumnCells, ColumnProfile
from knoll.queries.projection import Projected, random_hyperplanes, random_projection
from knoll.queries.query import Query
from knoll.queries.shapes import CellShapes, Frame, ScatterMatrix
from knoll.queries.sparse import ChosenColumns, ColumnCounts, ColumnPairs, SparseMoments
from knoll.queries.sparse_rows import SparseRows
from knoll.queries.sphere import Directions, Sphere
from knoll.queries.votes import ColumnHistograms, GridHistogram, NearestVotes, PairVotes, TreeCounts
from knoll.queries.words import OpenWords, WordsByTopic

__all__ = [
    "Ball",
    "Box",
    "CellDisplacements",
    "CellHistograms",
    "CellMoments",
    "CellShapes",
    "ChosenColumns",
    "Circle",
    "ColumnCells",
    "ColumnCounts",
    "ColumnHistograms",
    "ColumnPairs",
    "ColumnProfile",
    "ComponentMoments",
    "Corners",
    "Count",
    "Directions",
    "Domain",
    "FourierFeatures",
    "FourierGrid",
    "Frame",
    "Gaussians",
    "GridHistogram",
    "KernelSteps",
    "Lattice",
    "LatticeCounts",
    "Line",
    "MixedMoments",
    "Nearest",
    "NearestVotes",
    "ObservedMeans",
    "OpenWords",
    "OutsideVotes",
    "PairVotes",
    "Product",
    "Projected",
    "Query",
    "ScatterMatrix",
    "SparseMoments",
    "SparseRows",
    "Sphere",
    "SplitTree",
    "TreeCounts",
    "TwoLevel",
    "WordsByTopic",
    "candidates",
    "domain_from",
    "random_hyperplanes",
    "random_projection",
]
