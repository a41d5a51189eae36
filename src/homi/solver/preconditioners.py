"""Preconditioners: cheap approximations of the curvature of the (W, z) block.

The block of label j has the curvature ``XᵀX + λI + θ_j γXᵀLX``. Both ways replace L by
its diagonal, the degrees D of the rows.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from homi.linalg import Array
from homi.solver.scaled_rows import ScaledRows

#: One θ for all labels: about the mean of θ_j where the sweeps start.
_THETA = 0.4


class Diagonal:
    """The diagonal of the curvature.

    On sparse text, whose features are hardly correlated, the number of sweeps is not
    much larger than with the curvature itself.
    """

    def __init__(self, rows: ScaledRows, lam: float) -> None:
        self._ridge = (rows.squares() + lam)[:, None]
        self._graph = rows.squares(rows.degrees())[:, None]

    def divide_ridge(self, gradient: Array) -> Array:
        """Divide by the diagonal for θ = 0."""
        return gradient / self._ridge

    def divide(self, gradient: Array, theta: Array) -> Array:
        """Divide by the diagonal, in place."""
        gradient /= self._ridge + self._graph * theta
        return gradient


class Factored:
    """The curvature for one θ, factored: few features, or rows in their own space."""

    def __init__(self, rows: ScaledRows, lam: float) -> None:
        E = 1.0 + _THETA * rows.degrees()
        A = rows.weighted_products(E)
        A.flat[:: len(A) + 1] += lam
        self._triangle = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)

    def divide_ridge(self, gradient: Array) -> Array:
        """Solve for one θ."""
        return np.asarray(cho_solve(self._triangle, gradient, check_finite=False))

    def divide(self, gradient: Array, theta: Array) -> Array:
        """Solve for one θ, whatever those of the labels are."""
        return self.divide_ridge(gradient)
