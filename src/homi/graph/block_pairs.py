"""Neighbours and edges between two blocks of rows, for graphs of many blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.graph.exact import (
    CentredRows,
    Neighbors,
    correlations,
    others,
    search,
    search_sparse,
    unit_rows,
)
from homi.graph.laplacian import laplacian
from homi.linalg import Array
from homi.moments import quadratic


class Found(NamedTuple):
    """For each row, the best of some other rows: float32 scores decide which."""

    scores: NDArray[np.float32]
    indices: NDArray[np.int64]
    correlations: Array


def found_among(
    X: Any, other: Any, k: int, units: tuple[Array, Array], first: int
) -> Found:
    """The k rows of ``other`` most correlated with each row of X, or all of them.

    Rows are compared as ``(X - mean) / scale``, with units = (mean, scale); ``first``
    is the number of the first of the others.
    """
    k = min(k, other.shape[0])
    find = _found_sparse if sparse.issparse(X) else _found_dense
    scores, indices, values = find(X, other, k, *units)
    return Found(scores, indices + first, values)


def _found_dense(X: Any, other: Any, k: int, mean: Array, scale: Array) -> Found:
    rows, others = unit_rows(X, mean, scale), unit_rows(other, mean, scale)
    single = others.astype(np.float32)
    best = search(rows.astype(np.float32), lambda part: single[part].T, len(others), k)
    indices = best.indices()
    return Found(best.scores(), indices, correlations(rows, others, indices))


def _found_sparse(X: Any, other: Any, k: int, mean: Array, scale: Array) -> Found:
    # Columns stored in every row are treated apart: in both blocks alike.
    n = X.shape[0]
    rows = CentredRows.of(sparse.vstack([X, other], format="csr"), mean, scale)
    best = search_sparse(rows, slice(0, n), slice(n, n + other.shape[0]), k)
    indices = best.indices()
    return Found(best.scores(), indices, rows.correlations(indices + n))


def nearest_of(
    found: Sequence[Found], start: int, stop: int, n_neighbors: int
) -> Neighbors:
    """The neighbours of rows ``start`` to ``stop`` among what all blocks have.

    As in one search: the best s + 1 by float32, less the row itself, or less the
    worst where it is not among them.
    """
    scores, indices, values = (np.hstack(parts) for parts in zip(*found, strict=True))
    best = np.argsort(-scores, axis=1, kind="stable")[:, : n_neighbors + 1]
    indices = np.take_along_axis(indices, best, axis=1)
    values = np.take_along_axis(values, best, axis=1)
    keep, shape = others(indices, np.arange(start, stop)), (stop - start, n_neighbors)
    return Neighbors(indices[keep].reshape(shape), values[keep].reshape(shape))


def edge_product(
    X: Any,
    near: Neighbors,
    rows: tuple[int, int],
    other: Any = None,
    other_near: Neighbors | None = None,
    other_rows: tuple[int, int] = (0, 0),
) -> Array:
    """``XᵀLX`` of both blocks, with L of the edges between them.

    Without ``other``, of the edges inside of X. An edge lies in one pair of blocks, so
    that all pairs sum to the XᵀLX of all rows.
    """
    if other is None or other_near is None:
        return quadratic(X, laplacian(_kept(near, 0, rows, 0)))
    n = X.shape[0]
    ahead = _kept(near, 0, other_rows, n)
    back = _kept(other_near, n, rows, 0)
    both = Neighbors(*(np.vstack(pair) for pair in zip(ahead, back, strict=True)))
    stack = sparse.vstack([X, other], format="csr") if sparse.issparse(X) else None
    return quadratic(np.vstack([X, other]) if stack is None else stack, laplacian(both))


def _kept(near: Neighbors, own: int, rows: tuple[int, int], place: int) -> Neighbors:
    """Neighbours among ``rows``, which lie at ``place``; others become no edge.

    That is an edge of weight 0 from a row to itself; ``own`` is the first row's place.
    """
    start, stop = rows
    inside = (near.indices >= start) & (near.indices < stop)
    itself = own + np.arange(len(near.indices))[:, None]
    return Neighbors(
        np.where(inside, near.indices - start + place, itself),
        np.where(inside, near.correlations, 0.0),
    )
