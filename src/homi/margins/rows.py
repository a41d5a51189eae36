"""Centred rows with a column of ones, dense or sparse, never built."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from homi.margins.losses import Array


class CentredRows:
    """The matrix [X - 1μᵀ, 1]. Sparse X stays sparse.

    The parameters of a label are its coefficients and, last, its intercept for
    centred features. The intercept is not penalised, so centring does not move the
    optimum; it only unties the intercept from the coefficients.
    """

    def __init__(self, X: Any):
        self.X = X
        self.n, self.m = X.shape
        self.mean: Array = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()

    def scores(self, V: Array) -> Array:
        """[X - 1μᵀ, 1] V."""
        F: Array = self.X @ V[:-1]
        F += V[-1] - self.mean @ V[:-1]
        return F

    def gather(self, R: Array) -> Array:
        """[X - 1μᵀ, 1]ᵀ R."""
        totals = R.sum(axis=0)
        return np.vstack([self.X.T @ R - np.outer(self.mean, totals), totals])

    def gram(self) -> Array:
        """(X - 1μᵀ)ᵀ(X - 1μᵀ), dense."""
        G = self.X.T @ self.X
        G = G.toarray() if sparse.issparse(G) else G
        return G - self.n * np.outer(self.mean, self.mean)

    def squares(self) -> Array:
        """The diagonal of the Gram matrix."""
        squares = self.X.multiply(self.X) if sparse.issparse(self.X) else self.X**2
        raw = np.asarray(squares.sum(axis=0), dtype=np.float64).ravel()
        return np.maximum(raw - self.n * self.mean**2, 0.0)
