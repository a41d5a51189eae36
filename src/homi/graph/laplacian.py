"""Neighbours -> a symmetric, positive semi-definite graph Laplacian."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from homi.graph.exact import Neighbors, nearest
from homi.graph.weighted import how_many, weighted
from homi.linalg import Array


def laplacian(neighbours: Neighbors) -> sparse.csr_array:
    """``L = D - S`` with S the clipped correlations, symmetrised before degrees.

    Each neighbour j of row i adds half its weight to both sides of the edge. The
    paper prints the other order (Laplacian first, then its symmetric part), which
    is neither positive semi-definite nor zero on constants.
    """
    n, s = neighbours.indices.shape
    half = np.maximum(neighbours.correlations, 0.0).ravel() / 2
    index = np.int32 if n < 2**31 else np.int64
    row = np.arange(n, dtype=index)
    i, j = np.repeat(row, s), neighbours.indices.astype(index).ravel()
    degrees = np.bincount(i, half, n) + np.bincount(j, half, n)
    values = np.concatenate([-half, -half, degrees])
    places = np.concatenate([i, j, row]), np.concatenate([j, i, row])
    return sparse.coo_array((values, places), shape=(n, n)).tocsr()


def neighbor_laplacian(
    X: Any,
    n_neighbors: int,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
    weights: Array | None = None,
    search: Callable[..., Neighbors] = nearest,
) -> sparse.csr_array:
    """L of the rows ``(X - mean) / scale`` tied to their most correlated rows.

    X may be dense or sparse; sparse X is never centred in memory. A row of weight w is
    tied as w equal rows would be; weights must be positive. ``search`` finds the most
    correlated rows, all of them by default.
    """
    n, m = X.shape
    if weights is not None and n > 1 and m > 2:
        return _weighted_laplacian(X, n_neighbors, weights, mean=mean, scale=scale)
    s = possible_neighbors(n, m, n_neighbors)
    if s == 0:
        return sparse.csr_array((n, n))
    return laplacian(search(X, s, mean=mean, scale=scale))


def _weighted_laplacian(
    X: Any, n_neighbors: int, weights: Array, **units: Any
) -> sparse.csr_array:
    if n_neighbors >= (total := float(weights.sum())):
        warnings.warn(
            f"n_neighbors={n_neighbors} with rows of total weight {total:g}: each row "
            "has all others for neighbours; a row that counts once has weight 1, so "
            "scale the weights if they were meant as shares.",
            UserWarning,
            stacklevel=3,
        )
    found = nearest(X, how_many(weights, n_neighbors), **units)
    return laplacian(weighted(found, weights, n_neighbors))


def possible_neighbors(n: int, m: int, n_neighbors: int) -> int:
    """How many of ``n_neighbors`` each of n rows of m features can have; 0 for none."""
    if n < 2:
        raise ValueError(
            f"a neighbour graph needs at least 2 rows, got n_samples = {n}; "
            "pass more rows, or gamma=0 to fit without a graph."
        )
    if m < 3:
        warnings.warn(
            f"rows of {m} feature(s) are all fully correlated or uncorrelated, which "
            "says nothing of neighbours: no graph is used.",
            UserWarning,
            stacklevel=3,
        )
        return 0
    return min(n_neighbors, n - 1)
