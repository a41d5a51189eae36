"""Neighbors and edges between two blocks of rows, for graphs of many blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.graph.exact import (
    CenteredRows,
    Neighbors,
    correlations,
    others,
    search,
    search_sparse,
    unit_rows,
)
from homi.graph.laplacian import laplacian
from homi.row_products import quadratic
from homi.typing import Array, Matrix


class Found(NamedTuple):
    """The best candidates of each row in a block, ranked by float32 scores."""

    scores: NDArray[np.float32]
    indices: NDArray[np.int64]
    correlations: Array


def found_among(
    X: Matrix, other: Matrix, k: int, scaling: tuple[Array, Array], first: int
) -> Found:
    """Find the k rows of ``other`` most correlated with each row of X, or all.

    Rows are compared as ``(X - mean) / scale``, with scaling = (mean, scale); ``first``
    is the index of the first row of ``other``.
    """
    k = min(k, other.shape[0])
    find = _found_sparse if sparse.issparse(X) else _found_dense
    scores, indices, values = find(X, other, k, *scaling)
    return Found(scores, indices + first, values)


def _found_dense(X: Matrix, other: Matrix, k: int, mean: Array, scale: Array) -> Found:
    rows, others = unit_rows(X, mean, scale), unit_rows(other, mean, scale)
    single = others.astype(np.float32)
    best = search(rows.astype(np.float32), lambda part: single[part].T, len(others), k)
    indices = best.indices()
    return Found(best.scores(), indices, correlations(rows, others, indices))


def _found_sparse(X: Matrix, other: Matrix, k: int, mean: Array, scale: Array) -> Found:
    # Columns stored in every row are centered first, the same ones in both blocks.
    n = X.shape[0]
    rows = CenteredRows.of(sparse.vstack([X, other], format="csr"), mean, scale)
    best = search_sparse(rows, slice(0, n), slice(n, n + other.shape[0]), k)
    indices = best.indices()
    return Found(best.scores(), indices, rows.correlations(indices + n))


def nearest_of(
    found: Sequence[Found], start: int, stop: int, n_neighbors: int
) -> Neighbors:
    """Merge candidates of all blocks to the neighbors of rows ``start`` to ``stop``.

    As in one search, these are the best s + 1 by float32 scores without the row itself,
    or without the last if the row is not among them.
    """
    scores, indices, values = (np.hstack(parts) for parts in zip(*found, strict=True))
    best = np.argsort(-scores, axis=1, kind="stable")[:, : n_neighbors + 1]
    indices = np.take_along_axis(indices, best, axis=1)
    values = np.take_along_axis(values, best, axis=1)
    keep, shape = others(indices, np.arange(start, stop)), (stop - start, n_neighbors)
    return Neighbors(indices[keep].reshape(shape), values[keep].reshape(shape))


def edge_product(
    X: Matrix,
    near: Neighbors,
    rows: tuple[int, int],
    other: Matrix = None,
    other_near: Neighbors | None = None,
    other_rows: tuple[int, int] = (0, 0),
) -> Array:
    """``XᵀLX`` of two blocks, with the Laplacian L of the edges between them.

    Without ``other``, L has the edges within X. An edge is in exactly one pair of
    blocks, so all pairs sum to the XᵀLX of all rows.
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
    """Keep the neighbors among ``rows``, renumbered from ``place``.

    Other neighbors become an edge of weight 0 from a row to itself; ``own`` is the
    position of the first row.
    """
    start, stop = rows
    inside = (near.indices >= start) & (near.indices < stop)
    itself = own + np.arange(len(near.indices))[:, None]
    return Neighbors(
        np.where(inside, near.indices - start + place, itself),
        np.where(inside, near.correlations, 0.0),
    )
