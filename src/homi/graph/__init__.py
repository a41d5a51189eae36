"""Graphs of rows: nearest neighbors or anchors -> the graph Laplacian L."""

from homi.graph.anchors import AnchorMoments, AnchorPlan, anchor_moments
from homi.graph.exact import Neighbors, nearest, without_self
from homi.graph.laplacian import laplacian, neighbor_laplacian
from homi.graph.plan import plan_anchors
from homi.graph.reservoir import Reservoir

#: Former spelling.
neighbour_laplacian = neighbor_laplacian

__all__ = [
    "AnchorMoments",
    "AnchorPlan",
    "Neighbors",
    "Reservoir",
    "anchor_moments",
    "laplacian",
    "nearest",
    "neighbor_laplacian",
    "neighbour_laplacian",
    "plan_anchors",
    "without_self",
]
