"""Graphs of rows: nearest neighbors or anchors -> the graph Laplacian L."""

from homi.graph.anchors import AnchorPlan, TiedMoments, tied_moments
from homi.graph.exact import Neighbors, nearest, without_self
from homi.graph.laplacian import laplacian, neighbor_laplacian
from homi.graph.plan import plan_anchors
from homi.graph.reservoir import Reservoir

#: Former spelling.
neighbour_laplacian = neighbor_laplacian

__all__ = [
    "AnchorPlan",
    "Neighbors",
    "Reservoir",
    "TiedMoments",
    "laplacian",
    "nearest",
    "neighbor_laplacian",
    "neighbour_laplacian",
    "plan_anchors",
    "tied_moments",
    "without_self",
]
