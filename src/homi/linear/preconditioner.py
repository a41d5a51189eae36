"""Preconditioners: approximate inverses of the labels' Hessians.

Where all scores of label j are equal, all its rows have the same curvature c_j. Then
the Hessian is I + c_j G for the coefficients, with G the Gram matrix of the centered
features, and n c_j for the intercept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy import sparse

from homi.linalg import Array
from homi.linear.centered_rows import CenteredRows

#: Minimum number of rows per feature for the full Gram matrix. With fewer, features can
#: have different correlations in the rows that matter for a label.
_MANY_ROWS = 3
#: Maximum number of features whose eigenvalue problem is cheap compared with L-BFGS.
_FEW_FEATURES = 2000

Mask = NDArray[np.bool_]


class Preconditioner(Protocol):
    """Symmetric positive definite map from gradients to directions, for each label."""

    def __call__(self, R: Array) -> Array:
        """Return directions for gradients R; 0 for coefficients fixed at 0."""

    def take(self, labels: NDArray[np.intp]) -> Preconditioner:
        """Select some labels."""


class GramMatrix(Protocol):
    """G or its diagonal, shared by the preconditioners of all labels."""

    def preconditioner(self, curvature: Array, allowed: Mask | None) -> Preconditioner:
        """Return the preconditioner of labels with these curvatures."""


def gram_of(rows: CenteredRows) -> GramMatrix:
    """Compute the full Gram matrix where it saves time, else its diagonal.

    Measured on the paper's data sets: with dense features and many rows, the full
    matrix saves four of five steps. With sparse features, alone or next to dense ones,
    the rows of a rare label differ from the others, and the diagonal needs fewer steps.
    """
    dense = not any(sparse.issparse(part) for part in rows.X.parts)
    if dense and rows.n >= _MANY_ROWS * rows.m and rows.m <= _FEW_FEATURES:
        g, E = scipy.linalg.eigh(rows.gram(), check_finite=False)
        return GramSpectrum(np.maximum(g, 0.0), E, rows.n)
    return GramDiagonal(rows.squares(), rows.n)


@dataclass(frozen=True)
class GramDiagonal:
    """Diagonal of G."""

    g: Array
    n: float

    def preconditioner(self, curvature: Array, allowed: Mask | None) -> Preconditioner:
        """Return (I + c_j diag G)⁻¹ for each label."""
        # Coefficients fixed at 0 have gradient 0, and so direction 0.
        scale = 1.0 / (1.0 + np.outer(self.g, curvature))
        return DiagonalPreconditioner(np.vstack([scale, 1.0 / (self.n * curvature)]))


@dataclass(frozen=True)
class DiagonalPreconditioner:
    """(I + c_j diag G)⁻¹."""

    scale: Array

    def __call__(self, R: Array) -> Array:
        """Return directions for gradients R."""
        return self.scale * R

    def take(self, labels: NDArray[np.intp]) -> Preconditioner:
        """Select some labels."""
        return DiagonalPreconditioner(self.scale[:, labels])


@dataclass(frozen=True)
class GramSpectrum:
    """G = E diag(g) Eᵀ."""

    g: Array
    E: Array
    n: float

    def preconditioner(self, curvature: Array, allowed: Mask | None) -> Preconditioner:
        """Return (I + c_j G)⁻¹ for each label."""
        shrink = 1.0 / (1.0 + np.outer(self.g, curvature))
        return SpectralPreconditioner(
            self.E, shrink, 1.0 / (self.n * curvature), allowed
        )


@dataclass(frozen=True)
class SpectralPreconditioner:
    """(I + c_j G)⁻¹."""

    E: Array
    shrink: Array
    intercept: Array
    allowed: Mask | None

    def __call__(self, R: Array) -> Array:
        """Return directions for gradients R; 0 for coefficients fixed at 0."""
        W = self.E @ (self.shrink * (self.E.T @ R[:-1]))
        if self.allowed is not None:
            W *= self.allowed
        return np.vstack([W, self.intercept * R[-1]])

    def take(self, labels: NDArray[np.intp]) -> Preconditioner:
        """Select some labels."""
        allowed = None if self.allowed is None else self.allowed[:, labels]
        return SpectralPreconditioner(
            self.E, self.shrink[:, labels], self.intercept[labels], allowed
        )
