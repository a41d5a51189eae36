"""Choose the anchors and the scaling of an anchor graph from a sample of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from homi.extras import optional
from homi.graph.anchors import AnchorPlan, sum_edges
from homi.graph.block_pairs import found_among
from homi.graph.exact import others, unit_rows
from homi.graph.laplacian import warn_of_few_features
from homi.moments import column_scaling
from homi.typing import Array, Matrix

#: Training rows of k-means per anchor, and their bytes as dense float32.
_ROWS_PER_ANCHOR, _TRAINING_BYTES = 64, 2**28

#: Iterations of k-means. More iterations do not change any metric.
_ROUNDS = 10

#: Rows on which the two graphs are compared, and number of them whose neighbors are
#: searched: the trace is a sum over rows.
_COMPARED, _ASKED = 2000, 500

#: Two anchors whose correlation is closer to 1 than this count as one.
_COPY = 1e-5

#: Minimum rows of the sample per anchor.
_FEWEST = 4


def plan_anchors(
    X: Matrix,
    n_neighbors: int = 10,
    n_anchors: int = 64,
    *,
    standardize: bool = True,
    seed: int = 0,
) -> AnchorPlan:
    """Choose anchors by spherical k-means on a sample of the rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_sample, m)
        Rows drawn at random, or all of them.
    n_neighbors : int
        s, the number of anchors of a row.
    n_anchors : int
        Maximum number q of anchors; at most a quarter of the sample. With 0, the plan
        is for moments without a graph.
    standardize : bool
        Whether to compare rows with every feature scaled to mean 0 and variance 1 in
        the sample.
    seed : int
        Seed of k-means and of its training rows.

    Returns
    -------
    AnchorPlan
        Its weight gives H about the same trace as the exact graph, measured on up to
        2,000 rows, so that γ has the same meaning for both graphs.
    """
    n, m = X.shape
    center, scale = column_scaling(X)
    mean = center if standardize else np.zeros(m)
    scale = scale if standardize else np.ones(m)
    empty = AnchorPlan(center, mean, scale, np.empty((0, m)), n_neighbors, 0.0)
    if n_anchors == 0:
        return empty
    if m < 3:
        warn_of_few_features(m)
        return empty
    rng = np.random.default_rng(seed)
    most = min(n, _ROWS_PER_ANCHOR * n_anchors, _TRAINING_BYTES // (4 * m) + 1)
    unit = unit_rows(_some(X, most, rng), mean, scale)
    anchors = _centroids(unit, min(n_anchors, max(1, n // _FEWEST)), seed)
    plan = AnchorPlan(center, mean, scale, anchors, n_neighbors)
    weight = _weight(_some(X, min(n, _COMPARED), rng), plan)
    return AnchorPlan(center, mean, scale, anchors, n_neighbors, weight)


def _some(X: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    """Return ``count`` distinct random rows in their order."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if count == X.shape[0]:
        return X
    return X[np.sort(rng.choice(X.shape[0], count, replace=False))]


def _centroids(unit: Array, n_anchors: int, seed: int) -> Array:
    """Return distinct k-means centers of unit rows, at mean 0 and length 1."""
    single = unit[unit.any(axis=1)].astype(np.float32)
    q = min(n_anchors, len(single))
    if q == 0:
        return np.empty((0, unit.shape[1]))
    with optional("a graph of anchors"):
        import faiss
    means: Any = faiss.Kmeans(
        unit.shape[1],
        q,
        niter=_ROUNDS,
        seed=seed % 2**31,
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=len(single),
    )
    means.train(single)
    found = means.centroids.astype(np.float64)
    found = unit_rows(found, np.zeros(found.shape[1]), np.ones(found.shape[1]))
    found = found[found.any(axis=1)]
    # With fewer distinct rows than anchors, k-means returns near copies of centers.
    copies = np.triu(found @ found.T, 1) > 1 - _COPY
    return found[~copies.any(axis=0)]


def _weight(X: Matrix, plan: AnchorPlan) -> float:
    """Return trace(H) of the neighbor graph over trace(H) of the anchor graph."""
    n = X.shape[0]
    if n < 2 or not len(plan.anchors):
        return 0.0
    Q = X / plan.scale
    Q = sparse.csr_array(Q) if sparse.issparse(X) else Q - plan.center / plan.scale
    lengths = _squared_lengths(Q, plan)
    by_anchors = _anchors_trace(X, lengths, plan)
    by_neighbors = _neighbors_trace(X, Q, lengths, plan)
    return by_neighbors / by_anchors if by_anchors > 0 else 0.0


def _squared_lengths(Q: Matrix, plan: AnchorPlan) -> Array:
    """``‖q - center‖²`` of each row; dense rows are already centered."""
    squares = (Q * Q).sum(axis=1)
    if not sparse.issparse(Q):
        return squares
    offset = plan.center / plan.scale
    return squares - 2 * (Q @ offset) + offset @ offset


def _anchors_trace(X: Matrix, lengths: Array, plan: AnchorPlan) -> float:
    """``trace(QᵀLQ)`` with the Laplacian L of the anchor graph."""
    found = sum_edges(X, plan)
    used = found.mass > 0
    pulled = (found.ZtX[used] / plan.scale) ** 2 / found.mass[used, None]
    trace = float(lengths.sum() - pulled.sum())
    if found.loose is not None:
        trace -= float((np.diag(found.loose) / plan.scale**2).sum())
    return trace


def _neighbors_trace(X: Matrix, Q: Matrix, lengths: Array, plan: AnchorPlan) -> float:
    """``trace(QᵀLQ) = ½ Σ_i Σ_j w_ij ‖q_i - q_j‖²`` over the neighbors j of rows i.

    It is estimated from some rows i. The contribution of a row grows with its length,
    which is known for all rows, so the sum is scaled by squared lengths.
    """
    n = X.shape[0]
    asked = np.arange(0, n, max(1, n // _ASKED))
    s = min(plan.n_neighbors, n - 1)
    found = found_among(X[asked], X, s + 1, (plan.mean, plan.scale), 0)
    near = others(found.indices, asked)
    w = np.maximum(found.correlations[near], 0.0)
    ends = np.arange(0, w.size + 1, s)
    W = sparse.csr_array((w, found.indices[near], ends), shape=(len(asked), n))
    squares = (Q * Q).sum(axis=1)
    apart = W.sum(axis=1) @ squares[asked] + W.sum(axis=0) @ squares
    apart -= 2 * (Q[asked] * (W @ Q)).sum()
    return 0.5 * float(apart * lengths.sum() / (lengths[asked].sum() or 1.0))
