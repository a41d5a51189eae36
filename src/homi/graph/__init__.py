"""Rows -> neighbours or anchors -> the Laplacian L that ties similar rows together."""

from homi.graph.anchors import AnchorPlan, TiedMoments, tied_moments
from homi.graph.exact import Neighbours, nearest, without_self
from homi.graph.laplacian import laplacian, neighbour_laplacian
from homi.graph.plan import plan_anchors
from homi.graph.reservoir import Reservoir

__all__ = [
    "AnchorPlan",
    "Neighbours",
    "Reservoir",
    "TiedMoments",
    "laplacian",
    "nearest",
    "neighbour_laplacian",
    "plan_anchors",
    "tied_moments",
    "without_self",
]
