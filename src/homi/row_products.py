"""Sums and products of dense or sparse rows, in blocks that fit in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from homi.arrays import canonical, dense
from homi.typing import Array, Matrix

#: Bytes of a temporary block of rows or columns.
BLOCK_BYTES = 16 * 2**20

#: Bytes of a block that is only summed.
_SUM_BYTES = 2**18

#: Above this share of nonzeros, sparse rows are multiplied faster as dense blocks.
THIN = 0.05


def row_blocks(n_rows: int, n_columns: int, size: int | None = None) -> Iterator[slice]:
    """Return slices of rows whose float64 copy fits in a block."""
    step = max(1, min(size or BLOCK_BYTES, BLOCK_BYTES) // (8 * max(1, n_columns)))
    return (slice(i, i + step) for i in range(0, n_rows, step))


def as_csr_or_array(A: Matrix) -> Matrix:
    """Return sparse input as a CSR array, which is sliced by rows, other as ndarray."""
    if not sparse.issparse(A):
        return np.asarray(A)
    return sparse.csr_array(canonical(A))


def is_thin(A: Matrix) -> bool:
    """Return True for sparse rows that are multiplied faster as they are."""
    return sparse.issparse(A) and A.nnz <= THIN * A.shape[0] * A.shape[1]


def as_float(A: Matrix) -> Matrix:
    """Return A in double precision."""
    return A.astype(np.float64, copy=False)


def total_weight(A: Matrix, w: Array | None) -> float:
    """Return the number of rows, or their total weight."""
    return A.shape[0] if w is None else float(w.sum())


def root_weighted(A: Matrix, w: Array | None) -> Matrix:
    """Multiply rows by the root of their weight, so that products get the weight."""
    if w is None:
        return A
    root = np.sqrt(w)
    if not sparse.issparse(A):
        return A * root[:, None]
    data = A.data * np.repeat(root, np.diff(A.indptr))
    return sparse.csr_array((data, A.indices, A.indptr), shape=A.shape)


def column_means(A: Matrix, w: Array | None = None) -> Array:
    """Compute means in two passes; the second makes constant columns exact."""
    means = rough_means(A, w)
    return means + column_sums(A, means, w) / total_weight(A, w)


def rough_means(A: Matrix, w: Array | None = None) -> Array:
    """Compute means in one pass; exact up to the division for labels of 0 and 1."""
    return column_sums(A, np.zeros(A.shape[1]), w) / total_weight(A, w)


def column_sums(
    A: Matrix, shift: Array, w: Array | None = None, power: int = 1
) -> Array:
    """Sum ``(A - shift)**power`` over rows in float64; scipy would keep float32."""
    m = A.shape[1]
    if not sparse.issparse(A):
        sums = np.zeros(m)
        for rows in row_blocks(A.shape[0], m, _SUM_BYTES):
            gap = A[rows] - shift
            gap = gap * gap if power == 2 else gap
            sums += (np.ones(len(gap)) if w is None else w[rows]) @ gap
        return sums
    each = None if w is None else np.repeat(w, np.diff(A.indptr))
    stored = np.bincount(A.indices, each, minlength=m)
    values = (A.data - shift[A.indices]) ** power
    sums = np.bincount(
        A.indices, values if each is None else each * values, minlength=m
    )
    return sums + (total_weight(A, w) - stored) * (-shift) ** power


def _make_symmetric(S: Array) -> None:
    """``(S + Sᵀ) / 2``, in place and in blocks."""
    for rows in row_blocks(*S.shape):
        rest = slice(rows.start, None)
        mean = (S[rows, rest] + S[rest, rows].T) / 2
        S[rows, rest], S[rest, rows] = mean, mean.T


def subtract_outer(S: Array, n: float, u: Array, v: Array) -> Array:
    """``S - n u vᵀ``, in place and in blocks: S may be very large."""
    for rows in row_blocks(*S.shape):
        S[rows] -= np.outer(n * u[rows], v)
    return S


def without_full_means(X: sparse.csr_array, x_mean: Array) -> sparse.csr_array:
    """Subtract the mean from the columns that are stored in every row.

    Centered moments do not change, X stays as sparse, and such columns keep precision
    beside a large mean. In other columns, zeros keep the mean small.
    """
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    if not full.any():
        return X
    data = X.data - np.where(full, x_mean, 0.0)[X.indices]
    return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


def product(A: Matrix, B: Matrix) -> Array:
    """``AᵀB`` as a dense array, in blocks, for any mix of dense and sparse."""
    if sparse.issparse(A) and sparse.issparse(B):
        return _sparse_product(A, B)
    out = np.zeros((A.shape[1], B.shape[1]))
    for rows in row_blocks(A.shape[0], max(A.shape[1], B.shape[1])):
        left = as_float(A[rows])
        right = left if A is B else as_float(B[rows])
        out += left.T @ right
    return out


def _sparse_product(A: sparse.csr_array, B: sparse.csr_array) -> Array:
    At, B_columns = as_float(A).T.tocsr(), as_float(B).tocsc()
    out = np.empty((A.shape[1], B.shape[1]))
    for columns in row_blocks(B.shape[1], A.shape[1]):
        out[:, columns] = dense(At @ B_columns[:, columns])
    return out


def quadratic(X: Matrix, L: sparse.csr_array) -> Array:
    """``XᵀLX`` of dense or sparse rows X and the Laplacian L of their graph."""
    X = as_csr_or_array(X)
    mean = rough_means(X)
    H = (_sparse_quadratic if is_thin(X) else _dense_quadratic)(X, L, mean)
    _make_symmetric(H)
    return H


def _dense_quadratic(X: Matrix, L: sparse.csr_array, mean: Array) -> Array:
    """``XᵀLX``, in blocks of rows."""
    X, H = as_float(X), np.zeros((X.shape[1],) * 2)
    for rows in row_blocks(*X.shape):
        # Centering changes nothing in exact arithmetic; it keeps precision where the
        # mean is large.
        edges = L if rows.stop >= X.shape[0] and rows.start == 0 else L[rows]
        H += (dense(X[rows]) - mean).T @ dense(edges @ X)
    return H


def _sparse_quadratic(X: sparse.csr_array, L: sparse.csr_array, mean: Array) -> Array:
    """``XᵀLX``, in blocks of columns: LX is much denser than X."""
    X_columns = sparse.csc_array(as_float(without_full_means(X, mean)))
    Xt = X_columns.T.tocsr()
    out = np.empty((X.shape[1], X.shape[1]))
    for columns in row_blocks(X.shape[1], X.shape[1]):
        out[:, columns] = dense(Xt @ (L @ X_columns[:, columns]))
    return out
