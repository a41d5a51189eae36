"""A sample of rows -> the anchors that all rows will be tied to, and their units."""

from __future__ import annotations

import warnings
from typing import Any

import faiss
import numpy as np
from scipy import sparse

from homi.graph.anchors import AnchorPlan, tie
from homi.graph.block_pairs import found_among
from homi.graph.exact import others, unit_rows
from homi.linalg import Array
from homi.moments import column_scaling

#: Rows per anchor, and bytes of all of them as dense float32, that k-means is given.
_ROWS_PER_ANCHOR, _TRAINING_BYTES = 64, 2**28

#: Rounds of k-means. Anchors need not be the best: more rounds change no metric.
_ROUNDS = 10

#: Rows by which the two graphs are compared, and for how many of them neighbours are
#: found: all that these say is a sum over rows.
_COMPARED, _ASKED = 2000, 500

#: How far below 1 the correlation of two anchors is that count as one.
_COPY = 1e-5

#: Fewest rows of the sample for each anchor.
_FEWEST = 4


def plan_anchors(
    X: Any,
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
        s, how many anchors a row will be tied to.
    n_anchors : int
        q, at most; never more than a quarter of the sample. With 0, a plan for sums
        without a graph.
    standardize : bool
        Whether rows are compared with every feature at mean 0 and variance 1, by the
        sample.
    seed : int
        Of k-means and of the rows that it is given.

    Returns
    -------
    AnchorPlan
        Its weight makes ``trace(H)`` of up to 2,000 rows the same for anchors as for
        their exact graph, as far as some of them tell: γ means the same for both.
    """
    n, m = X.shape
    center, scale = column_scaling(X)
    mean = center if standardize else np.zeros(m)
    scale = scale if standardize else np.ones(m)
    empty = AnchorPlan(center, mean, scale, np.empty((0, m)), n_neighbors, 0.0)
    if n_anchors == 0:
        return empty
    if m < 3:
        warnings.warn(
            f"rows of {m} feature(s) are all fully correlated or uncorrelated, which "
            "says nothing of likeness: no graph is used.",
            UserWarning,
            stacklevel=3,
        )
        return empty
    rng = np.random.default_rng(seed)
    most = min(n, _ROWS_PER_ANCHOR * n_anchors, _TRAINING_BYTES // (4 * m) + 1)
    unit = unit_rows(_some(X, most, rng), mean, scale)
    anchors = _centroids(unit, min(n_anchors, max(1, n // _FEWEST)), seed)
    plan = AnchorPlan(center, mean, scale, anchors, n_neighbors)
    weight = _weight(_some(X, min(n, _COMPARED), rng), plan)
    return AnchorPlan(center, mean, scale, anchors, n_neighbors, weight)


def _some(X: Any, count: int, rng: np.random.Generator) -> Any:
    """``count`` different rows, in the order that they have."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if count == X.shape[0]:
        return X
    return X[np.sort(rng.choice(X.shape[0], count, replace=False))]


def _centroids(unit: Array, n_anchors: int, seed: int) -> Array:
    """Centres of unit rows, of mean 0 and length 1; copies of one count once."""
    single = unit[unit.any(axis=1)].astype(np.float32)
    q = min(n_anchors, len(single))
    if q == 0:
        return np.empty((0, unit.shape[1]))
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
    # Fewer kinds of rows than anchors: k-means makes the rest of small changes.
    copies = np.triu(found @ found.T, 1) > 1 - _COPY
    return found[~copies.any(axis=0)]


def _weight(X: Any, plan: AnchorPlan) -> float:
    """trace(H) by neighbours over trace(H) by anchors, of rows in the plan's units."""
    n = X.shape[0]
    if n < 2 or not len(plan.anchors):
        return 0.0
    Q = X / plan.scale
    Q = sparse.csr_array(Q) if sparse.issparse(X) else Q - plan.center / plan.scale
    lengths = _squared_lengths(Q, plan)
    by_anchors = _anchors_trace(X, lengths, plan)
    by_neighbours = _neighbours_trace(X, Q, lengths, plan)
    return by_neighbours / by_anchors if by_anchors > 0 else 0.0


def _squared_lengths(Q: Any, plan: AnchorPlan) -> Array:
    """``‖q - center‖²`` of each row; dense rows have lost the center already."""
    squares = (Q * Q).sum(axis=1)
    if not sparse.issparse(Q):
        return squares
    offset = plan.center / plan.scale
    return squares - 2 * (Q @ offset) + offset @ offset


def _anchors_trace(X: Any, lengths: Array, plan: AnchorPlan) -> float:
    """trace(QᵀLQ) with L of the anchors."""
    found = tie(X, plan)
    used = found.mass > 0
    pulled = (found.ZtX[used] / plan.scale) ** 2 / found.mass[used, None]
    trace = float(lengths.sum() - pulled.sum())
    if found.loose is not None:
        trace -= float((np.diag(found.loose) / plan.scale**2).sum())
    return trace


def _neighbours_trace(X: Any, Q: Any, lengths: Array, plan: AnchorPlan) -> float:
    """``trace(QᵀLQ) = ½ Σ_i Σ_j w_ij ‖q_i - q_j‖²`` over the neighbours j of rows i.

    Only some i are asked. What a row adds grows with its length, which is known of all
    of them: the squared lengths of those asked are the share of the sum that they are.
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
