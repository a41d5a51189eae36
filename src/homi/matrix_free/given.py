"""What the iterative solver is given: rows, labels, a graph and hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from homi.linalg import Array
from homi.matrix_free.rows import Rows


@dataclass(frozen=True)
class Given:
    """Rows in the units of the problem, and the labels as they came.

    ``x_mean`` is the mean of the features in those units: 0 if they are standardised.
    """

    rows: Rows
    Y: Any
    x_mean: Array
    y_mean: Array
    lam: float
    beta: float

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        *,
        mean: Array,
        scale: Array,
        standardize: bool,
        L: sparse.csr_array | None = None,
        lam: float = 1.0,
        beta: float = 2.0,
        gamma: float = 1.0,
    ) -> Given:
        """X and Y as given; ``mean`` is X's, and ``scale`` what it is divided by.

        With ``standardize=False`` the mean is only taken off to keep digits, and comes
        back as the mean of the problem.
        """
        n = X.shape[0]
        Y = sparse.csr_array(Y, dtype=np.float64)
        x_mean = np.zeros_like(mean) if standardize else mean / scale
        kept = np.sqrt(n * lam / (n + lam))
        graph = gamma * L if L is not None and gamma > 0 and L.nnz else None
        rows = Rows.of(X, mean, scale, kept * x_mean, graph)
        y_mean = np.asarray(Y.sum(axis=0)).ravel() / n
        return cls(rows, Y, x_mean, y_mean, lam, beta)

    def targets(self) -> Array:
        """Centred labels, and the row of their mean: what the rows are regressed on."""
        n = self.Y.shape[0]
        T = np.empty((n + 1, self.Y.shape[1]))
        T[:-1] = self.Y.toarray()
        T[:-1] -= self.y_mean
        T[-1] = np.sqrt(n * self.lam / (n + self.lam)) * self.y_mean
        return T
