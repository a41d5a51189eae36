"""Rows -> neighbours -> the Laplacian L that ties similar rows together."""

from homi.graph.exact import Neighbours, nearest, without_self
from homi.graph.laplacian import laplacian, neighbour_laplacian

__all__ = ["Neighbours", "laplacian", "nearest", "neighbour_laplacian", "without_self"]
