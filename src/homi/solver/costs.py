"""Work of each solver, in floating-point operations of BLAS.

Rough counts, to choose between ways that differ by factors. Measured on one thread:
0.05 ns for an operation, and 0.4 ns for a stored value of sparse rows in a product
with one label.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from homi.linalg import Array, Matrix

#: Operations that one product with a stored value counts for, and with a number of
#: dense rows.
_SPARSE, _DENSE = 8, 2

#: m³ times this are the operations of a generalized eigenvalue problem of size m.
_EIGENVALUES = 5

#: Steps of the iterative solver: with a factored Gram matrix, by products with sparse
#: rows of equal length, and with dense rows, whose features are correlated.
_STEPS_FACTORED, _STEPS, _STEPS_DENSE = 60, 100, 1000

#: Largest Gram matrix that is factored: it takes 0.8 GB.
MOST_ROWS = 10_000


def work_direct(n: int, m: int, n_labels: int, n_stored: int) -> float:
    """Return the work of the eigenvalue problems of features and labels."""
    products = 2 * _DENSE * n_stored * m if n_stored == n * m else 0
    return float(products + _EIGENVALUES * (m**3 + n_labels**3))


def work_factored(n: int, m: int, n_labels: int, n_stored: int) -> float:
    """Return the work with one Gram matrix factored: of rows or of features."""
    size = min(n, m)
    gram = _DENSE * n_stored * size if n_stored == n * m else 0
    return gram + size**3 / 3 + _STEPS_FACTORED * 2 * size**2 * n_labels


def work_products(
    n: int, m: int, n_labels: int, n_stored: int, unequal: float = 1.0
) -> float:
    """Return the work by products with rows; see ``inequality`` for ``unequal``."""
    is_dense = n_stored == n * m
    each = _STEPS_DENSE * _DENSE if is_dense else _STEPS * _SPARSE
    return each * np.sqrt(unequal) * 2 * n_stored * n_labels


def inequality(X: Matrix) -> float:
    """Return the longest row's squared length over the mean, of scaled features.

    The number of steps by products with rows grows with its root: one row that has many
    words which no other has is a direction of large curvature that no feature shows.
    """
    if not sparse.issparse(X):
        columns = np.einsum("ij,ij->j", X, X)
        lengths = np.einsum("ij,ij,j->i", X, X, _inverse(columns))
    else:
        squares = X.multiply(X).tocsr()
        lengths = squares @ _inverse(np.asarray(squares.sum(axis=0)).ravel())
    mean = lengths.mean()
    return float(lengths.max() / mean) if mean > 0 else 1.0


def _inverse(columns: Array) -> Array:
    """Return one over each number; 0 for 0."""
    return np.divide(1.0, columns, where=columns > 0, out=np.zeros_like(columns))
