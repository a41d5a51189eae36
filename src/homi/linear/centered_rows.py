"""Operator for centered rows with a column of ones; the matrix is never formed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.linalg import Array, Matrix


@dataclass(frozen=True)
class SideBySide:
    """Matrix [A, B, …] of dense or sparse parts, without a copy."""

    parts: tuple[Matrix, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        widths = [part.shape[1] for part in self.parts]
        return self.parts[0].shape[0], sum(widths)

    def __getitem__(self, rows: NDArray[np.intp]) -> SideBySide:
        """Return some of the rows."""
        return SideBySide(tuple(part[rows] for part in self.parts))

    def __matmul__(self, V: Array) -> Array:
        """Compute [A, B, …] V."""
        ends = np.cumsum([part.shape[1] for part in self.parts])
        pieces = np.split(V, ends[:-1])
        first, *others = (
            part @ piece for part, piece in zip(self.parts, pieces, strict=True)
        )
        for other in others:
            first += other
        return np.asarray(first)

    def gather(self, R: Array) -> Array:
        """Compute [A, B, …]ᵀ R."""
        return np.vstack([part @ R for part in self._transposed])

    @cached_property
    def _transposed(self) -> tuple[Matrix, ...]:
        # Cached: transposing a sparse part takes longer than a small product.
        return tuple(part.T for part in self.parts)


def side_by_side(X: Matrix | SideBySide) -> SideBySide:
    """Return the rows in floating point, with sparse parts as CSR."""
    parts = X.parts if isinstance(X, SideBySide) else (X,)
    return SideBySide(tuple(map(_checked, parts)))


def _checked(part: Matrix) -> Matrix:
    part = sparse.csr_array(part) if sparse.issparse(part) else np.asarray(part)
    return part.astype(np.float64, copy=False)


class CenteredRows:
    """Matrix [X - 1μᵀ, 1]. Sparse X stays sparse.

    The parameters of a label are its coefficients and, last, its intercept for
    centered features. The intercept is not penalized, so centering does not change the
    optimum; it decouples the intercept from the coefficients.

    The mean, the Gram matrix and n are weighted. The products are not: the slopes
    already contain the weights.
    """

    def __init__(self, X: SideBySide, weight: Array | None = None):
        self.X, self.weight = X, weight
        self.stored, self.m = X.shape
        self.n = self.stored if weight is None else float(weight.sum())
        counts = np.ones(self.stored) if weight is None else weight
        self.mean: Array = X.gather(counts[:, None]).ravel() / self.n

    def scores(self, V: Array) -> Array:
        """Compute [X - 1μᵀ, 1] V."""
        F = self.X @ V[:-1]
        F += V[-1] - self.mean @ V[:-1]
        return F

    def gather(self, R: Array) -> Array:
        """Compute [X - 1μᵀ, 1]ᵀ R."""
        totals = R.sum(axis=0)
        return np.vstack([self.X.gather(R) - np.outer(self.mean, totals), totals])

    def count(self, Y: Matrix) -> Array:
        """Sum the weights of the rows with each label."""
        if self.weight is None:
            return np.asarray(Y.sum(axis=0), dtype=np.float64).ravel()
        return np.asarray(self.weight @ Y, dtype=np.float64)

    def gram(self) -> Array:
        """Compute (X - 1μᵀ)ᵀ(X - 1μᵀ) of dense parts."""
        weighted = [self._weighted(part) for part in self.X.parts]
        G = np.block([[A.T @ B for B in weighted] for A in self.X.parts])
        return G - self.n * np.outer(self.mean, self.mean)

    def squares(self) -> Array:
        """Diagonal of the Gram matrix."""
        squares = [
            np.asarray((part * self._weighted(part)).sum(axis=0), dtype=np.float64)
            for part in self.X.parts
        ]
        return np.maximum(np.concatenate(squares) - self.n * self.mean**2, 0.0)

    def _weighted(self, part: Matrix) -> Matrix:
        return part if self.weight is None else part * self.weight[:, None]
