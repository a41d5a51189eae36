"""Rows seen through products only: centred and scaled, and never written out so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from homi.arrays import dense
from homi.linalg import Array

#: Bytes of a block of columns. Products with sparse rows jump about in it, so that it
#: is to stay in the cache.
_CACHE = 4 * 2**20

#: Rows whose products with all others are made at a time.
_GRAM_ROWS = 1_000


@dataclass(frozen=True)
class Rows:
    """X of the regression with its bias solved for, and the graph of its rows.

    The regression sees centred rows and, because the bias is penalised, a share of
    the mean. That share is one more row, at the end, which no edge ties to another:
    with it ``XᵀX = G - aaᵀ/(n+λ)``. Everything is in the units of the problem.

    Attributes
    ----------
    X, Xt : array or CSR array, and its transpose
        Rows, centred where they are dense and scaled.
    shift : ndarray of shape (m,) or None
        What is still to be taken off every row of X; None for nothing.
    mean_row : ndarray of shape (m,)
        The last row.
    L : CSR array or None
        ``γL`` of the rows, or None for no graph.
    """

    X: Any
    Xt: Any
    shift: Array | None
    mean_row: Array
    L: sparse.csr_array | None

    @classmethod
    def of(
        cls, X: Any, mean: Array, scale: Array, mean_row: Array, L: Any = None
    ) -> Rows:
        """Rows ``(X - mean) / scale`` and ``mean_row``; sparse X stays sparse."""
        if not sparse.issparse(X):
            centred = (X - mean) / scale
            return cls(centred, centred.T, None, mean_row, L)
        X = sparse.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        # Columns stored in every row can be centred as they are: that keeps the digits
        # of a column whose mean is large beside its spread.
        full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
        X.data -= np.where(full, mean, 0.0)[X.indices]
        X.data /= scale[X.indices]
        return cls(X, X.T.tocsr(), np.where(full, 0.0, mean) / scale, mean_row, L)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, the one of the mean included, and columns."""
        return self.X.shape[0] + 1, self.X.shape[1]

    def blocks(self, n_columns: int) -> Iterator[slice]:
        """Slices of columns that products are fast with."""
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

    def back(self, E: Array) -> Array:
        """``XᵀE``."""
        out = np.empty((self.shape[1], E.shape[1]))
        for part in self.blocks(E.shape[1]):
            block = np.ascontiguousarray(E[:-1, part])
            out[:, part] = self.Xt @ block
            if self.shift is not None:
                out[:, part] -= np.outer(self.shift, block.sum(axis=0))
            out[:, part] += np.outer(self.mean_row, E[-1, part])
        return out

    def smooth(self, Z: Array) -> Array:
        """``γLZ``; the row of the mean has no edges."""
        if self.L is None:
            return np.zeros_like(Z)
        out = np.empty_like(Z)
        out[-1] = 0.0
        for part in self.blocks(Z.shape[1]):
            out[:-1, part] = self.L @ np.ascontiguousarray(Z[:-1, part])
        return out

    def gram(self) -> Array:
        """``XXᵀ``: the rows' products with each other, in the order of Fortran."""
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

    def squares(self) -> Array:
        """Sums of squares of the columns: the diagonal of XᵀX."""
        n = self.X.shape[0]
        if self.shift is None:
            return np.einsum("ij,ij->j", self.X, self.X) + self.mean_row**2
        sums = np.bincount(self.X.indices, self.X.data, self.X.shape[1])
        raw = np.bincount(self.X.indices, self.X.data**2, self.X.shape[1])
        centred = raw - 2.0 * self.shift * sums + n * self.shift**2
        return np.maximum(centred, 0.0) + self.mean_row**2
