"""The reduced problem for few rows: weights of rows, and their Gram matrix factored.

The penalty keeps W in the space of the rows: ``W = Xᵀα``. With ``K = XXᵀ`` the scores
are ``Z = Kα`` and ``λ‖W‖² = λ⟨Z, α⟩``. A step changes (Z, α) together, so ω holds both;
gradients are those with respect to Z, and zeros below them: then the inner product of a
gradient and a step is the change of φ, to first order.

The preconditioner solves for the (W, z) block with the graph replaced by its degrees:
``XᵀEX + λI`` with ``E = I + θD``, and one θ for all labels. For a gradient g that gives

    (K + λE⁻¹) dα = E⁻¹g,   dZ = K dα = E⁻¹(g - λ dα),

so that after one factorization of n × n no step needs X or K. Products with rows
remain for the end, when W is computed.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from homi.linalg import Array, inner
from homi.solver.descend import Point
from homi.solver.label_blocks import LabelBlock
from homi.solver.rows_problem import RowsProblem
from homi.solver.scaled_rows import ScaledRows
from homi.solver.scores_form import ScoresForm

#: The diagonal added to K is at least this many times n ε times its largest entry, so
#: that the factor exists for every λ.
_ROUNDING = 16


class GramForm(ScoresForm):
    """φ of the scores and the weights of rows; ``params`` has α in the place of W."""

    def __init__(self, given: RowsProblem, labels: LabelBlock) -> None:
        super().__init__(given, labels)
        self.basis = RowWeights(given.rows)
        self._x_mean = given.rows.times(given.x_mean[:, None])[:, 0]
        self._K = given.rows.gram()
        largest = self._K.diagonal().max()
        self._least = _ROUNDING * len(self._K) * np.finfo(float).eps * largest

    def start(self) -> Array:
        """Return ridge regression: the exact (W, z) step for B = 0."""
        n = len(self._K)
        self._factor(np.ones(n), overwrite=self._rows.L is None)
        zeros = np.zeros((2 * n, self._T.shape[1]))
        omega = self._solved(self._T, zeros)
        self._settle(omega[:n])
        if self._rows.L is not None:
            theta = self.evaluate(omega).row_squares.mean()
            self._factor(1.0 + theta * self._rows.degrees(), overwrite=True)
        return omega

    def precondition(self, point: Point, gradient: Array) -> Array:
        """Divide by the curvature of the (W, z) block, the graph by its degrees."""
        return self._solved(gradient[: len(self._E)], gradient)

    def _solved(self, g: Array, out: Array) -> Array:
        """Write dZ and dα of the module's equations to ``out``."""
        n = len(self._E)
        R = g / self._E
        out[n:] = cho_solve(self._triangle, R, check_finite=False)
        out[:n] = R - self._added * out[n:]
        return out

    def _factor(self, E: Array, *, overwrite: bool) -> None:
        self._E = E[:, None]
        self._added = np.maximum(self._lam / self._E, self._least)
        A = self._K if overwrite else self._K.copy(order="F")
        A.flat[:: len(A) + 1] += self._added[:, 0]
        self._triangle = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
        if overwrite:
            del self._K

    def _scores(self, omega: Array) -> Array:
        return omega[: len(self._E)]

    def _ridge(self, omega: Array, other: Array) -> float:
        n = len(self._E)
        return self._lam * inner(omega[:n], other[n:])

    def _gradient(self, E: Array, omega: Array) -> Array:
        n = len(self._E)
        gradient = np.zeros_like(omega)
        np.multiply(self._lam, omega[n:], out=gradient[:n])
        gradient[:n] += E
        return gradient

    def _weights(self, omega: Array) -> Array:
        return omega[len(self._E) :]


class RowWeights:
    """Map weights of rows to weights of features: ``W = Xᵀα``."""

    def __init__(self, rows: ScaledRows) -> None:
        self._rows = rows

    def widen(self, W: Array, out: Array) -> Array:
        """Compute ``out = XᵀW``, a block of columns at a time."""
        for part in self._rows.blocks(W.shape[1]):
            out[:, part] = self._rows.transposed_times(W[:, part])
        return out
