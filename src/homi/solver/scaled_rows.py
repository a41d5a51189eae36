"""Centered and scaled rows as an operator: products only, never built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.linalg import Array, Matrix

#: Bytes of a block of columns. Products with sparse rows access it at random, so it
#: should stay in the cache.
_CACHE = 4 * 2**20

#: Rows whose products with all others are computed at a time.
_GRAM_ROWS = 1_000


@dataclass(frozen=True)
class ScaledRows:
    """X of the regression with its intercept eliminated, and the graph of its rows.

    The regression sees centered rows and, because the intercept is penalized, a share
    of the mean. That share is one more row, at the end, which has no edges. With it
    ``XᵀX = G - aaᵀ/(n+λ)``.

    Attributes
    ----------
    X, Xt : array or CSR array, and its transpose
        Scaled rows; centered only if dense.
    shift : ndarray of shape (m,) or None
        Vector still to be subtracted from every row of X; None for zero.
    mean_row : ndarray of shape (m,)
        The last row.
    L : CSR array or None
        ``γL`` of the rows, or None for no graph.
    """

    X: Matrix
    Xt: Matrix
    shift: Array | None
    mean_row: Array
    L: sparse.csr_array | None

    @classmethod
    def of(
        cls,
        X: Matrix,
        mean: Array,
        scale: Array,
        mean_row: Array,
        L: sparse.csr_array | None = None,
    ) -> ScaledRows:
        """Scale rows to ``(X - mean) / scale``; sparse X stays sparse."""
        if not sparse.issparse(X):
            centered = (X - mean) / scale
            return cls(centered, centered.T, None, mean_row, L)
        X = sparse.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        # Columns stored in every row are centered in place: that keeps the digits of a
        # column whose mean is much larger than its spread.
        full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
        X.data -= np.where(full, mean, 0.0)[X.indices]
        X.data /= scale[X.indices]
        return cls(X, X.T.tocsr(), np.where(full, 0.0, mean) / scale, mean_row, L)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, the one of the mean included, and of columns."""
        return self.X.shape[0] + 1, self.X.shape[1]

    def blocks(self, n_columns: int) -> Iterator[slice]:
        """Yield slices of columns for which products are fast."""
        step = min(64, max(4, _CACHE // (8 * max(self.shape))))
        if not sparse.issparse(self.X):
            step = 256
        return (slice(i, i + step) for i in range(0, n_columns, step))

    def times(self, V: Array) -> Array:
        """``XV``."""
        out = np.empty((self.shape[0], V.shape[1]))
        for part in self.blocks(V.shape[1]):
            block = np.ascontiguousarray(V[:, part])
            out[:-1, part] = self.X @ block
            if self.shift is not None:
                out[:-1, part] -= self.shift @ block
            out[-1, part] = self.mean_row @ block
        return out

    def transposed_times(self, E: Array) -> Array:
        """``XᵀE``."""
        out = np.empty((self.shape[1], E.shape[1]))
        for part in self.blocks(E.shape[1]):
            block = np.ascontiguousarray(E[:-1, part])
            out[:, part] = self.Xt @ block
            if self.shift is not None:
                out[:, part] -= np.outer(self.shift, block.sum(axis=0))
            if self.mean_row.any():
                out[:, part] += np.outer(self.mean_row, E[-1, part])
        return out

    def graph_times(self, Z: Array) -> Array:
        """``γLZ``; the row of the mean has no edges."""
        if self.L is None:
            return np.zeros_like(Z)
        out = np.empty_like(Z)
        out[-1] = 0.0
        for part in self.blocks(Z.shape[1]):
            out[:-1, part] = self.L @ np.ascontiguousarray(Z[:-1, part])
        return out

    def gram(self) -> Array:
        """``XXᵀ``, the Gram matrix of the rows, in Fortran order."""
        n = self.X.shape[0]
        K = np.empty((n + 1, n + 1), order="F")
        for i in range(0, n, _GRAM_ROWS):
            part = slice(i, min(i + _GRAM_ROWS, n))
            products = self.X @ self.X[part].T
            K[:-1, part] = dense(products)
        if self.shift is not None:
            along = self.X @ self.shift
            K[:-1, :-1] -= along[:, None]
            K[:-1, :-1] -= along - self.shift @ self.shift
        K[-1] = K[:, -1] = self.times(self.mean_row[:, None])[:, 0]
        return K

    def weighted_products(self, weights: Array) -> Array:
        """``Xᵀ diag(weights) X``, in Fortran order."""
        w, last = weights[:-1], np.sqrt(weights[-1]) * self.mean_row
        half = self.X * np.sqrt(w)[:, None]
        A = dense(half.T @ half)
        if self.shift is not None:
            along = self.Xt @ w - (w.sum() / 2) * self.shift
            A -= np.outer(along, self.shift) + np.outer(self.shift, along)
        A += np.outer(last, last)
        # It is symmetric, so its transpose has the order asked for.
        return A.T

    def degrees(self) -> Array:
        """Diagonal of ``γL``; zeros without a graph, and for the row of the mean."""
        degrees = np.zeros(self.shape[0])
        if self.L is not None:
            degrees[:-1] = self.L.diagonal()
        return degrees

    def squares(self, weights: Array | None = None) -> Array:
        """Diagonal of ``XᵀX``, the sums of squares of the columns, maybe weighted."""
        w = np.ones(self.shape[0]) if weights is None else weights
        last = w[-1] * self.mean_row**2
        w = w[:-1]
        if self.shift is None:
            return np.einsum("i,ij,ij->j", w, self.X, self.X) + last
        data, m = np.repeat(w, np.diff(self.X.indptr)) * self.X.data, self.X.shape[1]
        sums = np.bincount(self.X.indices, data, m)
        raw = np.bincount(self.X.indices, data * self.X.data, m)
        centered = raw - 2.0 * self.shift * sums + w.sum() * self.shift**2
        return np.maximum(centered, 0.0) + last
