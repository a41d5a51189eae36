"""Anchor graph: edges from rows to anchors, computed in one pass, linear in n.

With Z the edge weights of n rows to q anchors, each row of which sums to 1, and Λ the
column sums of Z, the graph is ``S = ZΛ⁻¹Zᵀ``. Its rows sum to 1 too, so ``L = I - S``
and

    H = XᵀLX = XᵀX - (ZᵀX)ᵀ Λ⁻¹ (ZᵀX).

All of these are sums over rows. A row that is similar to no anchor has no edges: it is
left out of XᵀX, as if it had an anchor of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.moments import Moments
from homi.typing import Array, Matrix

#: Bytes of a block of rows, or of their products with all anchors; minimum rows.
_BLOCK_BYTES, _BLOCK_ROWS = 2**20, 256

#: Up to this many anchors, a dense product with Z is faster than a sparse one.
_FEW_ANCHORS = 128

#: Below this share of a row's length, its product with an anchor is rounding error.
_FLAT = 1e-7


@dataclass(frozen=True, eq=False)
class AnchorPlan:
    """Anchors and scaling, fixed before the first row is processed.

    Parameters
    ----------
    center : ndarray of shape (m,)
        Approximate mean of the rows. It is subtracted from rows before they are summed
        to keep precision; no result depends on it.
    mean, scale : ndarray of shape (m,)
        Scaling in which rows are compared: ``(x - mean) / scale``.
    anchors : ndarray of shape (q, m)
        Scaled anchors, each with mean 0 and length 1.
    n_neighbors : int
        s, the number of anchors that a row has edges to.
    weight : float
        Factor of L that gives H the trace of the neighbor graph.
    """

    center: Array
    mean: Array
    scale: Array
    anchors: Array
    n_neighbors: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class AnchorEdges:
    """Sums of the edges from rows to anchors. Additive over rows.

    Parameters
    ----------
    ZtX : ndarray of shape (q, m)
        ``ZᵀX`` of rows minus the center of the plan.
    mass : ndarray of shape (q,)
        ``Zᵀ1``, the diagonal of Λ.
    loose : ndarray of shape (m, m) or None
        ``XᵀX`` of the rows without edges, minus the center; None if there are none.
    """

    ZtX: Array
    mass: Array
    loose: Array | None = None

    def __add__(self, other: AnchorEdges) -> AnchorEdges:
        """Return the sums over the rows of both."""
        loose = self.loose if other.loose is None else other.loose
        if self.loose is not None and other.loose is not None:
            loose = self.loose + other.loose
        return AnchorEdges(self.ZtX + other.ZtX, self.mass + other.mass, loose)

    def pulled(self) -> Array:
        """``(ZᵀX)ᵀ Λ⁻¹ (ZᵀX)`` plus the rows without edges."""
        used = self.mass > 0
        half = self.ZtX[used] / np.sqrt(self.mass[used])[:, None]
        pulled = half.T @ half
        return pulled if self.loose is None else pulled + self.loose


@dataclass(frozen=True, eq=False)
class AnchorMoments:
    """Moments of rows and sums of their edges to anchors. Additive over rows.

    ``edges`` is None without a graph. Call :meth:`with_graph` on the sum over all rows
    only: H is not additive, because Λ is shared by all rows.
    """

    moments: Moments
    edges: AnchorEdges | None = None

    def __add__(self, other: AnchorMoments) -> AnchorMoments:
        """Return the moments and sums of the rows of both."""
        if (self.edges is None) != (other.edges is None):
            raise ValueError(
                "one part has edges to anchors and the other has none; compute both "
                "with the same plan."
            )
        edges = None if self.edges is None or other.edges is None else self.edges
        if edges is not None and other.edges is not None:
            edges = edges + other.edges
        return AnchorMoments(self.moments + other.moments, edges)

    def with_graph(self, plan: AnchorPlan) -> Moments:
        """Return the moments with ``H = weight · XᵀLX``; unchanged without a graph."""
        if self.edges is None:
            return self.moments
        gap = self.moments.x_mean - plan.center
        H = self.moments.Sxx + self.moments.n * np.outer(gap, gap)
        H -= self.edges.pulled()
        H *= plan.weight
        return replace(self.moments, H=H)


def anchor_moments(
    X: Matrix,
    Y: Matrix,
    plan: AnchorPlan,
    *,
    graph: bool = True,
    weights: Array | None = None,
) -> AnchorMoments:
    """Compute the contribution of rows X (n, m), dense or sparse, with labels Y (n, l).

    A pure function: contributions of batches, blocks or files can be computed anywhere,
    in any order, and summed. Without ``graph``, only the moments are computed. A row of
    weight w contributes like w copies of it.
    """
    moments = Moments.from_rows(X, Y, weights, near=plan.center)
    return AnchorMoments(moments, sum_edges(X, plan, weights) if graph else None)


def sum_edges(X: Matrix, plan: AnchorPlan, weights: Array | None = None) -> AnchorEdges:
    """Sum the edges of rows X to the anchors of a plan."""
    total = _no_edges(plan, X.shape[1])
    for rows, block, Z in edges(X, plan):
        total += _sums(Z, block, plan.center, _part(weights, rows))
    return total


def sum_feature_edges(
    X: Matrix, F: Matrix, plan: AnchorPlan, center: Array, weights: Array | None = None
) -> AnchorEdges:
    """Sum the edges of rows X, with ``ZᵀF`` of other features F in place of ``ZᵀX``."""
    total = _no_edges(plan, F.shape[1])
    for rows, _, Z in edges(X, plan):
        block = F[rows] if sparse.issparse(F) else F[rows] - center
        total += _sums(Z, block, center, _part(weights, rows))
    return total


def _part(weights: Array | None, rows: slice) -> Array | None:
    return None if weights is None else weights[rows]


def _no_edges(plan: AnchorPlan, n_features: int) -> AnchorEdges:
    q = len(plan.anchors)
    return AnchorEdges(np.zeros((q, n_features)), np.zeros(q))


def _sums(Z: Array, block: Matrix, center: Array, weights: Array | None) -> AnchorEdges:
    """Sum the edges of a block: dense rows minus the center, or sparse rows."""
    # The edge weights of a row sum to 1, if it has edges.
    some_are_loose = round(Z.sum()) < len(Z)
    is_loose = ~Z.any(axis=1) if some_are_loose else None
    if weights is not None:
        Z = weights[:, None] * Z
    mass = Z.sum(axis=0)
    few = Z.shape[1] <= _FEW_ANCHORS and not sparse.issparse(block)
    ZtX = (Z if few else sparse.csr_array(Z)).T @ block
    if sparse.issparse(block):
        ZtX = dense(ZtX) - np.outer(mass, center)
    if is_loose is None:
        return AnchorEdges(ZtX, mass)
    part = block[is_loose]
    part = dense(part) - center if sparse.issparse(part) else part
    w = 1.0 if weights is None else weights[is_loose, None]
    return AnchorEdges(ZtX, mass, part.T @ (w * part))


def edges(X: Matrix, plan: AnchorPlan) -> Iterator[tuple[slice, Matrix, Array]]:
    """Yield slices of rows, the rows (minus the center if dense), and Z of the rows.

    A row of Z has s positive weights that sum to 1: fewer if fewer anchors have a
    positive correlation, more only if anchors are equally near. The length of a row is
    a common factor of its correlations and cancels.
    """
    is_sparse = sparse.issparse(X)
    X = sparse.csr_array(X) if is_sparse else np.asarray(X)
    products = _sparse_products if is_sparse else _dense_products
    # For sparse rows, only the products with the anchors are dense.
    width = len(plan.anchors) if is_sparse else max(len(plan.anchors), X.shape[1])
    step = max(_BLOCK_ROWS, _BLOCK_BYTES // (8 * max(width, 1)))
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        block = X[rows] if is_sparse else X[rows] - plan.center
        found, lengths = products(block, plan)
        yield rows, block, _nearest(found, _FLAT * lengths, plan.n_neighbors)


def _dense_products(block: Array, plan: AnchorPlan) -> tuple[Array, Array]:
    """Return products of ``(x - mean) / scale`` with the anchors, and row lengths."""
    offset = (plan.center - plan.mean) / plan.scale
    products = block @ (plan.anchors / plan.scale).T
    lengths = np.sqrt(np.square(block) @ plan.scale**-2.0)
    if not offset.any():
        return products, lengths
    return products + plan.anchors @ offset, lengths + np.linalg.norm(offset)


def _sparse_products(block: sparse.csr_array, plan: AnchorPlan) -> tuple[Array, Array]:
    """Return products with the anchors, and lengths, of sparse rows not centered."""
    offset = plan.mean / plan.scale
    products = block @ (plan.anchors / plan.scale).T - plan.anchors @ offset
    lengths = np.sqrt((block * block) @ plan.scale**-2.0) + np.linalg.norm(offset)
    return products, lengths


def _nearest(products: Array, least: Array, n_neighbors: int) -> Array:
    """Keep the largest products of each row, if above ``least``, and scale to sum 1.

    The products are overwritten; others become 0.
    """
    q = products.shape[1]
    floor = np.maximum(least, np.finfo(np.float64).tiny)
    if n_neighbors < q:
        place = q - n_neighbors
        kth = np.partition(products, place, axis=1)[:, place]
        floor = np.maximum(floor, kth)
    products *= products >= floor[:, None]
    total = products.sum(axis=1, keepdims=True)
    total[total == 0] = 1.0
    products /= total
    return products
