"""Fewer rows than features: the problem in coordinates of the row space of X.

The penalty keeps every column of W in the row space. With an orthonormal basis Q of
it, ``X = X'Qᵀ`` and ``W = QW'``, and the problem in X' and W' is the same one, with as
many features as there are independent rows. The pivoted Cholesky factor of ``K = XXᵀ``
is X' itself, and finds rows that are combinations of others:

    K = X'X'ᵀ,   Q = X_pᵀ T⁻ᵀ,

with p the pivots and T the triangle of X' in their rows. K is an n × n array, smaller
than a dense X, and only built where n is below m by enough to be worth it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from homi.linalg import Array
from homi.solver import costs
from homi.solver.problem import mean_share
from homi.solver.rows_problem import RowsProblem
from homi.solver.scaled_rows import ScaledRows

#: A row counts as a combination of those before it where the square of the remainder is
#: below this many times n ε times the largest squared norm of a row.
_ROUNDING = 16


def is_wide(n: int, m: int) -> bool:
    """Return whether n rows of m features are few enough to work in the row space."""
    return 5 * (n + 1) <= 4 * m and n <= costs.MOST_ROWS


@dataclass(frozen=True)
class Basis:
    """Q, the orthonormal basis: maps coordinates in the row space to features."""

    _rows: ScaledRows
    _pivots: NDArray[np.intp]
    _triangle: Array

    def written_out(self) -> Array:
        """Return Q as an array."""
        rank = len(self._triangle)
        return self.widen(np.eye(rank), np.empty((self._rows.shape[1], rank)))

    def widen(self, W: Array, out: Array) -> Array:
        """Compute ``out = QW``, a block of columns at a time."""
        for part in self._rows.blocks(W.shape[1]):
            E = np.zeros((self._rows.shape[0], W[:, part].shape[1]))
            E[self._pivots] = solve_triangular(
                self._triangle, W[:, part], lower=True, trans=1, check_finite=False
            )
            out[:, part] = self._rows.transposed_times(E)
        return out


def compact_rows(rows: ScaledRows) -> tuple[Array, Basis]:
    """Return all rows, that of the mean included, in the row space, and its basis."""
    K = rows.gram()
    rounding = _ROUNDING * len(K) * np.finfo(float).eps * K.diagonal().max()
    factor, pivots, rank, _ = dpstrf(K, tol=rounding, lower=1, overwrite_a=1)
    pivots = pivots - 1
    # The row space of zeros is empty; one column of zeros represents it.
    rank = max(rank, 1)
    triangle = np.tril(factor[:rank, :rank])
    if not triangle[0, 0]:
        triangle[0, 0] = 1.0
    X = np.zeros((len(factor), rank))
    X[pivots] = np.tril(factor[:, :rank])
    return X, Basis(rows, pivots[:rank], triangle)


def compacted(given: RowsProblem) -> tuple[RowsProblem, Basis]:
    """Return the same problem in its row space, and the basis."""
    X, basis = compact_rows(given.rows)
    n = len(X) - 1
    rows = ScaledRows(X[:-1], X[:-1].T, None, X[-1], given.rows.L)
    x_mean = X[-1] / np.sqrt(mean_share(n, given.lam))
    return replace(given, rows=rows, x_mean=x_mean), basis
