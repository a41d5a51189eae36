"""Features of blocks of rows, and their moments, for more rows than memory holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from homi.arrays import dense
from homi.linalg import Array
from homi.model.batches import row_slices
from homi.model.kernel_map import KernelMap, Triangle
from homi.moments import Moments
from homi.typing import Matrix

#: Below this share of the first, a number on the diagonal begins a new block.
_EVEN = 0.1

#: Below this share of ones, labels are multiplied faster as a sparse array.
_THIN = 0.2


class BlockFeatures(Protocol):
    """A map from rows to features, of one block at a time."""

    def __call__(self, X: Matrix) -> Array:
        """Return the features of some rows, in an array of their own."""


@dataclass(frozen=True)
class LinearFeatures:
    """Features ``x Q - shift`` of rows x."""

    Q: Array
    shift: Array

    def __call__(self, X: Matrix) -> Array:
        """Return the features of some rows, in an array of their own."""
        return np.asarray(X @ self.Q - self.shift)


class KernelFeatures:
    """Nyström features times the diagonal blocks of the landmarks' triangle.

    Nyström features are kernel values times the inverse of the triangle. Where its
    diagonal is about even, moments of the kernel values themselves are as exact, and
    the product is left to the moments: ``from_blocks`` finishes it. Only later blocks
    of the diagonal, which is in descending order, are freed of those before.

    Parameters
    ----------
    kernel_map : KernelMap
    """

    def __init__(self, kernel_map: KernelMap) -> None:
        self._kernel_map = kernel_map
        self._ends = _even_blocks(kernel_map.triangle.diagonal())
        self._blocks = _diagonal_blocks(kernel_map.triangle, self._ends)
        self._Q = Triangle(kernel_map.triangle).written_out() @ self._blocks.T

    def __call__(self, X: Matrix) -> Array:
        """Return the features of some rows, in an array of their own."""
        K = self._kernel_map.of_block(X)
        for first, last in reversed(list(pairwise(self._ends))):
            if first:
                K[:, first:last] += K[:, :first] @ self._Q[:first, first:last]
        return K

    def to_blocks(self, features: Array) -> Array:
        """Return these features for Nyström features."""
        return features @ self._blocks.T

    def from_blocks(self, moments: Moments) -> Moments:
        """Return the moments of the Nyström features from those of these features."""
        solve = partial(solve_triangular, self._blocks, lower=True, check_finite=False)
        Sxx = solve(solve(moments.Sxx).T)
        return replace(
            moments,
            x_mean=solve(moments.x_mean),
            Sxx=(Sxx + Sxx.T) / 2.0,
            Sxy=solve(moments.Sxy),
        )


def _even_blocks(diagonal: Array) -> list[int]:
    """Return the ends of blocks in which no number is far below the first."""
    ends = [0]
    for place, value in enumerate(diagonal):
        if value < _EVEN * diagonal[ends[-1]]:
            ends.append(place)
    return [*ends, len(diagonal)]


def _diagonal_blocks(triangle: Array, ends: list[int]) -> Array:
    blocks = np.zeros_like(triangle)
    for first, last in pairwise(ends):
        blocks[first:last, first:last] = triangle[first:last, first:last]
    return blocks


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


def _thin(Y: Matrix) -> Matrix:
    """Return labels as floats, and as a CSR array where few are 1."""
    if sparse.issparse(Y):
        return sparse.csr_array(Y, dtype=np.float64)
    few = np.count_nonzero(Y) < _THIN * Y.size
    return sparse.csr_array(Y, dtype=np.float64) if few else Y.astype(np.float64)
