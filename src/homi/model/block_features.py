"""Features of blocks of rows, and their moments, for more rows than memory holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dsyrk

from homi.arrays import dense
from homi.linalg import Array
from homi.model.batches import row_slices
from homi.model.kernel_map import KernelMap
from homi.moments import Moments
from homi.typing import Matrix

#: Columns of a triangular matrix that are multiplied at a time.
_PANEL = 256

#: Below this share of ones, labels are multiplied faster as a sparse array.
_THIN = 0.1


@dataclass(frozen=True)
class BlockFeatures:
    """Features ``k Q - shift`` of rows, with their values k of a kernel or as given.

    Attributes
    ----------
    kernel_map : KernelMap or None
        None for the rows as they are.
    Q : ndarray of shape (n_values, n_features)
        Upper triangular for a kernel.
    shift : ndarray of shape (n_features,)
    """

    kernel_map: KernelMap | None
    Q: Array
    shift: Array

    def __call__(self, X: Matrix) -> Array:
        """Return the features of some rows."""
        given = values_of(X, self.kernel_map)
        if self.kernel_map is None:
            return np.asarray(given @ self.Q - self.shift)
        return _times_triangle(given, self.Q)

    def of_all(self, X: Matrix) -> Array:
        """Return the features of many rows, made block by block."""
        features = np.empty((X.shape[0], self.Q.shape[1]))
        for rows in row_slices(len(features), self.Q.shape[1]):
            features[rows] = self(X[rows])
        return features


def values_of(X: Matrix, kernel_map: KernelMap | None) -> Matrix:
    """Return kernel values of rows, or the rows themselves."""
    return X if kernel_map is None else kernel_map.of_block(X)


def mapped_moments(
    X: Matrix,
    Y: Matrix,
    weights: Array | None,
    start: int,
    *,
    features: BlockFeatures,
    near: Array,
) -> Moments:
    """Return the moments of the features of rows; ``near`` is about their mean."""
    total = _RunningMoments(near, Y.shape[1])
    for rows in row_slices(X.shape[0], len(near)):
        total.add(
            features(X[rows]), Y[rows], None if weights is None else weights[rows]
        )
    return total.moments()


def plain_moments(
    X: Matrix, Y: Matrix, weights: Array | None, start: int, *, near: Array
) -> Moments:
    """Return the moments of the rows as they are; ``near`` is about their mean."""
    return Moments.from_rows(X, Y, weights, near=near)


class _RunningMoments:
    """Moments of blocks of features, summed in place about a point near the mean."""

    def __init__(self, near: Array, n_labels: int) -> None:
        m = len(near)
        self._near, self._n = near, 0.0
        self._x, self._y = np.zeros(m), np.zeros(n_labels)
        self._Sxx = np.zeros((m, m), order="F")
        self._Sxy, self._Syy = np.zeros((m, n_labels)), np.zeros((n_labels, n_labels))

    def add(self, F: Array, Y: Matrix, w: Array | None) -> None:
        """Add a block; F is overwritten."""
        F -= self._near
        Y, root = _thin(Y), np.ones(len(F))
        if w is not None:
            root = np.sqrt(w)
            F *= root[:, None]
            Y = sparse.csr_array(Y * root[:, None])
        self._n += float(root @ root)
        self._x += root @ F
        self._y += root @ Y
        # In place, and one triangle of it.
        self._Sxx = dsyrk(1.0, F.T, beta=1.0, c=self._Sxx, overwrite_c=1)
        self._Sxy += (Y.T @ F).T
        self._Syy += dense(Y.T @ Y)

    def moments(self) -> Moments:
        n = self._n
        gap, y_mean = self._x / n, self._y / n
        Sxx = np.triu(self._Sxx)
        Sxx += np.triu(self._Sxx, 1).T
        Sxx -= np.outer(n * gap, gap)
        Sxy = self._Sxy - np.outer(n * gap, y_mean)
        Syy = self._Syy - np.outer(n * y_mean, y_mean)
        return Moments(n, self._near + gap, y_mean, Sxx, Sxy, Syy)


def _times_triangle(K: Array, Q: Array) -> Array:
    """``K Q`` with an upper triangular Q, half the work of a full product."""
    out = np.empty((len(K), Q.shape[1]))
    for first in range(0, Q.shape[1], _PANEL):
        last = first + _PANEL
        np.matmul(K[:, :last], Q[:last, first:last], out=out[:, first:last])
    return out


def _thin(Y: Matrix) -> Matrix:
    """Return labels as floats, and as a CSR array where few are 1."""
    if sparse.issparse(Y):
        return sparse.csr_array(Y, dtype=np.float64)
    few = np.count_nonzero(Y) < _THIN * Y.size
    return sparse.csr_array(Y, dtype=np.float64) if few else Y.astype(np.float64)
