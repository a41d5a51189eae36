"""Fewer rows than features: the problem in coordinates of the space of the rows.

The penalty keeps every column of W in the space that the rows span. With an
orthonormal basis Q of that space, ``X = X'Qᵀ`` and ``W = QW'``, and the problem in X'
and W' is the same one, with as many features as there are independent rows. A Cholesky
factor with pivots of ``K = XXᵀ`` is X' itself, and finds rows that the others span:

    K = X'X'ᵀ,   Q = X_pᵀ T⁻ᵀ,

p the pivots and T the triangle that X' has in their rows. K is an array of n × n,
less than X written out, and only made where n is at most half of m.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from homi.linalg import Array
from homi.matrix_free.given import Given
from homi.matrix_free.rows import Rows

#: More rows than this are not compacted: the factor takes n³/3 steps.
MOST_ROWS = 10_000

#: What a non-zero of sparse rows costs, in units of what a number of dense ones does:
#: about 4 ns beside 0.07 in a product, and longer vectors besides. Measured.
_SPARSE_COST = 100

#: What rows have beyond those before them is held to be rounding where its square is
#: less than this many times n ε of the longest row's.
_ROUNDING = 16


def is_wide(n: int, m: int) -> bool:
    """Whether n rows are so few that the space they span is the smaller one."""
    return 2 * (n + 1) <= m and n <= MOST_ROWS


def saves_products(n: int, m: int, nnz: int) -> bool:
    """Whether products with rows are cheaper in the space of the rows, too."""
    return is_wide(n, m) and n * n <= _SPARSE_COST * nnz


@dataclass(frozen=True)
class Basis:
    """Q: the way back from coordinates in the space of the rows to features."""

    _rows: Rows
    _pivots: Array
    _triangle: Array

    def written_out(self) -> Array:
        """Q itself."""
        rank = len(self._triangle)
        return self.widen(np.eye(rank), np.empty((self._rows.shape[1], rank)))

    def widen(self, W: Array, out: Array) -> Array:
        """``out = QW``, a block of columns at a time."""
        for part in self._rows.blocks(W.shape[1]):
            E = np.zeros((self._rows.shape[0], W[:, part].shape[1]))
            E[self._pivots] = solve_triangular(
                self._triangle, W[:, part], lower=True, trans=1, check_finite=False
            )
            out[:, part] = self._rows.back(E)
        return out


def compact_rows(rows: Rows) -> tuple[Array, Basis]:
    """Rows, that of the mean included, in the space they span; and the way back."""
    K = rows.gram()
    rounding = _ROUNDING * len(K) * np.finfo(float).eps * K.diagonal().max()
    factor, pivots, rank, _ = dpstrf(K, tol=rounding, lower=1, overwrite_a=1)
    pivots = pivots - 1
    # Rows that are all zero span nothing; one column of zeros will do for them.
    rank = max(rank, 1)
    triangle = np.tril(factor[:rank, :rank])
    if not triangle[0, 0]:
        triangle[0, 0] = 1.0
    X = np.zeros((len(factor), rank))
    X[pivots] = np.tril(factor[:, :rank])
    return X, Basis(rows, pivots[:rank], triangle)


def compacted(given: Given) -> tuple[Given, Basis]:
    """The same problem in the space of its rows, and the way back."""
    X, basis = compact_rows(given.rows)
    n = len(X) - 1
    rows = Rows(X[:-1], X[:-1].T, None, X[-1], given.rows.L)
    kept = np.sqrt(n * given.lam / (n + given.lam))
    return replace(given, rows=rows, x_mean=X[-1] / kept), basis
