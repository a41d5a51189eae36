"""Nearest neighbors -> a symmetric, positive semi-definite graph Laplacian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from homi.graph.exact import Neighbors, nearest
from homi.graph.weighted import how_many, weighted
from homi.typing import Array, Matrix
from homi.warn import warn


def laplacian(neighbors: Neighbors) -> sparse.csr_array:
    """``L = D - S`` with S the clipped correlations, made symmetric before degrees.

    Each neighbor j of row i adds half its weight to both directions of the edge. The
    paper uses the other order (Laplacian first, then its symmetric part), which is
    neither positive semi-definite nor zero on constants.
    """
    n, s = neighbors.indices.shape
    half = np.maximum(neighbors.correlations, 0.0).ravel() / 2
    index = np.int32 if n < 2**31 else np.int64
    row = np.arange(n, dtype=index)
    i, j = np.repeat(row, s), neighbors.indices.astype(index).ravel()
    degrees = np.bincount(i, half, n) + np.bincount(j, half, n)
    values = np.concatenate([-half, -half, degrees])
    places = np.concatenate([i, j, row]), np.concatenate([j, i, row])
    return sparse.coo_array((values, places), shape=(n, n)).tocsr()


def neighbor_laplacian(
    X: Matrix,
    n_neighbors: int,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
    weights: Array | None = None,
    search: Callable[..., Neighbors] = nearest,
) -> sparse.csr_array:
    """Laplacian of the graph of rows ``(X - mean) / scale`` and their neighbors.

    The neighbors of a row are the rows most correlated with it. X may be dense or
    sparse; sparse X is never centered in memory. A row of weight w, which must be
    positive, has the edges of w copies of it. ``search`` finds the neighbors, exactly
    by default.
    """
    n, m = X.shape
    if weights is not None and n > 1 and m > 2:
        return _weighted_laplacian(X, n_neighbors, weights, mean=mean, scale=scale)
    s = possible_neighbors(n, m, n_neighbors)
    if s == 0:
        return sparse.csr_array((n, n))
    return laplacian(search(X, s, mean=mean, scale=scale))


def _weighted_laplacian(
    X: Matrix, n_neighbors: int, weights: Array, **scaling: Any
) -> sparse.csr_array:
    if n_neighbors >= (total := float(weights.sum())):
        warn(
            f"n_neighbors={n_neighbors} with rows of total weight {total:g}: all other "
            "rows are neighbors of each row. An ordinary row has weight 1, so rescale "
            "the weights if they sum to 1.",
        )
    found = nearest(X, how_many(weights, n_neighbors), **scaling)
    return laplacian(weighted(found, weights, n_neighbors))


def possible_neighbors(n: int, m: int, n_neighbors: int) -> int:
    """Return the number of neighbors of n rows of m features; 0 for no graph."""
    if n < 2:
        raise ValueError(
            f"a neighbor graph needs at least 2 rows, got n_samples = {n}; "
            "pass more rows, or gamma=0 to fit without a graph."
        )
    if m < 3:
        warn_of_few_features(m)
        return 0
    return min(n_neighbors, n - 1)


def warn_of_few_features(m: int) -> None:
    """Warn that rows of one or two features have no graph."""
    warn(
        f"rows of {m} feature(s) are all fully correlated or uncorrelated, so they "
        "have no neighbors: no graph is used."
    )
