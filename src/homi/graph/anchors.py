"""Rows tied to anchors instead of to each other: one pass, additive, linear in n.

With Z the ties of n rows to q anchors, each row of it summing to 1, and Λ the column
sums of Z, the graph is ``S = ZΛ⁻¹Zᵀ``. Its rows sum to 1 as well, so that
``L = I - S`` and

    H = XᵀLX = XᵀX - (ZᵀX)ᵀ Λ⁻¹ (ZᵀX).

All of it are sums over rows. A row like no anchor has no ties: it is left out of
XᵀX, which is what an anchor of its own would do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from homi.linalg import Array
from homi.moments import Moments

#: Bytes of a block of rows, or of their products with all anchors, and fewest rows.
_BLOCK_BYTES, _BLOCK_ROWS = 2**20, 256

#: Up to this many anchors most of Z may be zeros: BLAS is faster than a sparse product.
_FEW_ANCHORS = 128

#: Below this share of a row's length, what an anchor has of it is rounding error.
_FLAT = 1e-7


@dataclass(frozen=True, eq=False)
class AnchorPlan:
    """What must be known of all rows before the first of them is tied.

    Parameters
    ----------
    center : ndarray of shape (m,)
        About the mean of the rows. Sums are taken of rows less this, to keep digits;
        no result depends on it.
    mean, scale : ndarray of shape (m,)
        Units in which rows are compared: ``(x - mean) / scale``.
    anchors : ndarray of shape (q, m)
        Of mean 0 and length 1 each, in these units.
    n_neighbors : int
        s, how many anchors a row is tied to.
    weight : float
        Factor of L that gives H the trace that neighbours give it.
    """

    center: Array
    mean: Array
    scale: Array
    anchors: Array
    n_neighbors: int
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class Ties:
    """Sums of what ties rows to anchors. Additive over rows.

    Parameters
    ----------
    ZtX : ndarray of shape (q, m)
        ``ZᵀX``, of rows less the plan's center.
    mass : ndarray of shape (q,)
        ``Zᵀ1``, the diagonal of Λ.
    loose : ndarray of shape (m, m) or None
        ``XᵀX`` of the rows without ties, less the center; None if all have some.
    """

    ZtX: Array
    mass: Array
    loose: Array | None = None

    def __add__(self, other: Ties) -> Ties:
        loose = self.loose if other.loose is None else other.loose
        if self.loose is not None and other.loose is not None:
            loose = self.loose + other.loose
        return Ties(self.ZtX + other.ZtX, self.mass + other.mass, loose)

    def pulled(self) -> Array:
        """``(ZᵀX)ᵀ Λ⁻¹ (ZᵀX)``, and what is loose."""
        used = self.mass > 0
        half = self.ZtX[used] / np.sqrt(self.mass[used])[:, None]
        pulled = half.T @ half
        return pulled if self.loose is None else pulled + self.loose


@dataclass(frozen=True, eq=False)
class TiedMoments:
    """Moments of rows and their ties to anchors. Additive over rows.

    ``ties`` is None where no graph is wanted. Only :meth:`with_graph` of the sum over
    all rows gives the H of all rows: Λ is one for all of them.
    """

    moments: Moments
    ties: Ties | None = None

    def __add__(self, other: TiedMoments) -> TiedMoments:
        if (self.ties is None) != (other.ties is None):
            raise ValueError(
                "one part has ties to anchors and the other has none; make both by "
                "the same plan."
            )
        ties = None if self.ties is None or other.ties is None else self.ties
        if ties is not None and other.ties is not None:
            ties = ties + other.ties
        return TiedMoments(self.moments + other.moments, ties)

    def with_graph(self, plan: AnchorPlan) -> Moments:
        """The moments with ``H = weight · XᵀLX``, or as they are without ties."""
        if self.ties is None:
            return self.moments
        gap = self.moments.x_mean - plan.center
        H = self.moments.Sxx + self.moments.n * np.outer(gap, gap)
        H -= self.ties.pulled()
        H *= plan.weight
        return replace(self.moments, H=H)


def tied_moments(
    X: Any,
    Y: Any,
    plan: AnchorPlan,
    *,
    graph: bool = True,
    weights: Array | None = None,
) -> TiedMoments:
    """What any rows X (n, m), dense or sparse, and their labels Y (n, l) add.

    A pure function: moments of batches, blocks or files are made anywhere, in any
    order, and summed. Without ``graph``, only the moments are taken. A row of weight w
    adds what w equal rows would.
    """
    moments = Moments.from_rows(X, Y, weights, near=plan.center)
    return TiedMoments(moments, tie(X, plan, weights) if graph else None)


def tie(X: Any, plan: AnchorPlan, weights: Array | None = None) -> Ties:
    """The sums over rows X of what ties them to the anchors of a plan."""
    total = _no_ties(plan, X.shape[1])
    for rows, block, Z in ties(X, plan):
        total += _sums(Z, block, plan.center, _part(weights, rows))
    return total


def tie_features(
    X: Any, F: Any, plan: AnchorPlan, center: Array, weights: Array | None = None
) -> Ties:
    """The same with ``ZᵀF`` of other features F than the rows X that are tied."""
    total = _no_ties(plan, F.shape[1])
    for rows, _, Z in ties(X, plan):
        block = F[rows] if sparse.issparse(F) else F[rows] - center
        total += _sums(Z, block, center, _part(weights, rows))
    return total


def _part(weights: Array | None, rows: slice) -> Array | None:
    return None if weights is None else weights[rows]


def _no_ties(plan: AnchorPlan, n_features: int) -> Ties:
    q = len(plan.anchors)
    return Ties(np.zeros((q, n_features)), np.zeros(q))


def _sums(Z: Array, block: Any, center: Array, weights: Array | None) -> Ties:
    """Ties of a block of rows: dense ones less the center, or sparse ones as given."""
    # The ties of a row sum to 1, if it has any.
    some_are_loose = round(Z.sum()) < len(Z)
    is_loose = ~Z.any(axis=1) if some_are_loose else None
    if weights is not None:
        Z = weights[:, None] * Z
    mass = Z.sum(axis=0)
    few = Z.shape[1] <= _FEW_ANCHORS and not sparse.issparse(block)
    ZtX = (Z if few else sparse.csr_array(Z)).T @ block
    if sparse.issparse(block):
        ZtX = ZtX.toarray() - np.outer(mass, center)
    if is_loose is None:
        return Ties(ZtX, mass)
    part = block[is_loose]
    part = part.toarray() - center if sparse.issparse(part) else part
    w = 1.0 if weights is None else weights[is_loose, None]
    return Ties(ZtX, mass, part.T @ (w * part))


def ties(X: Any, plan: AnchorPlan) -> Iterator[tuple[slice, Any, Array]]:
    """Slices of rows; their rows, less the center if dense; and Z of them.

    A row of Z has s positive ties that sum to 1: fewer where fewer anchors have a
    positive correlation, more only where anchors are equally near. The length of a
    row is the same in all of its correlations, and cancels.
    """
    is_sparse = sparse.issparse(X)
    X = sparse.csr_array(X) if is_sparse else np.asarray(X)
    products = _sparse_products if is_sparse else _dense_products
    # Of sparse rows, only the products with the anchors are ever dense.
    width = len(plan.anchors) if is_sparse else max(len(plan.anchors), X.shape[1])
    step = max(_BLOCK_ROWS, _BLOCK_BYTES // (8 * max(width, 1)))
    for start in range(0, X.shape[0], step):
        rows = slice(start, min(start + step, X.shape[0]))
        block = X[rows] if is_sparse else X[rows] - plan.center
        found, lengths = products(block, plan)
        yield rows, block, _nearest(found, _FLAT * lengths, plan.n_neighbors)


def _dense_products(block: Array, plan: AnchorPlan) -> tuple[Array, Array]:
    """``(x - mean) / scale`` times each anchor, and its length, of each row."""
    offset = (plan.center - plan.mean) / plan.scale
    products = block @ (plan.anchors / plan.scale).T
    lengths = np.sqrt(np.square(block) @ plan.scale**-2.0)
    if not offset.any():
        return products, lengths
    return products + plan.anchors @ offset, lengths + np.linalg.norm(offset)


def _sparse_products(block: sparse.csr_array, plan: AnchorPlan) -> tuple[Array, Array]:
    """The same of rows that are not centred, and stay sparse."""
    offset = plan.mean / plan.scale
    products = block @ (plan.anchors / plan.scale).T - plan.anchors @ offset
    lengths = np.sqrt((block * block) @ plan.scale**-2.0) + np.linalg.norm(offset)
    return products, lengths


def _nearest(products: Array, least: Array, n_neighbors: int) -> Array:
    """The largest products of each row, none below ``least``, at sum 1; 0 elsewhere.

    The products are overwritten.
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
