"""Scaled rows, labels and hyper-parameters: what the iterative solver is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from homi.linalg import Array, Matrix
from homi.solver.problem import mean_share
from homi.solver.scaled_rows import ScaledRows


@dataclass(frozen=True)
class RowsProblem:
    """Scaled rows, labels and hyper-parameters: what ``Problem`` is for moments.

    ``x_mean`` is the mean of the scaled features: 0 if they are standardized.
    """

    rows: ScaledRows
    Y: sparse.csr_array
    x_mean: Array
    y_mean: Array
    lam: float
    beta: float

    @classmethod
    def of(
        cls,
        X: Matrix,
        Y: Matrix,
        *,
        mean: Array,
        scale: Array,
        standardize: bool,
        L: sparse.csr_array | None = None,
        lam: float = 1.0,
        beta: float = 2.0,
        gamma: float = 1.0,
    ) -> RowsProblem:
        """Scale X by its ``mean`` and ``scale``.

        With ``standardize=False`` the mean is only subtracted to keep digits: it
        remains the mean of the problem.
        """
        n = X.shape[0]
        Y = sparse.csr_array(Y, dtype=np.float64)
        x_mean = np.zeros_like(mean) if standardize else mean / scale
        mean_row = np.sqrt(mean_share(n, lam)) * x_mean
        graph = gamma * L if L is not None and gamma > 0 and L.nnz else None
        rows = ScaledRows.of(X, mean, scale, mean_row, graph)
        y_mean = np.asarray(Y.sum(axis=0)).ravel() / n
        return cls(rows, Y, x_mean, y_mean, lam, beta)

    def targets(self) -> Array:
        """Centered labels and, as the last row, the share of their mean."""
        n = self.Y.shape[0]
        T = np.empty((n + 1, self.Y.shape[1]))
        T[:-1] = self.Y.toarray()
        T[:-1] -= self.y_mean
        T[-1] = np.sqrt(mean_share(n, self.lam)) * self.y_mean
        return T
