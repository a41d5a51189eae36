"""The reduced problem as a function of W, by products with rows only.

The same function as in :mod:`homi.solver.moments_form`, without an array of features
× features: ω is W, and half of the gradient is ``Xᵀ(XW - Y + γLXW BBᵀ) + λW``. The
preconditioner divides by the diagonal of the curvature of the (W, z) block. On sparse
text, whose features are hardly correlated, that is nearly as good as the block itself.
"""

from __future__ import annotations

from homi.linalg import Array, inner
from homi.solver.conjugate_gradients import solve_ridge
from homi.solver.descend import Point
from homi.solver.label_blocks import LabelBlock
from homi.solver.rows_problem import RowsProblem
from homi.solver.scores_form import ScoresForm

#: Residual of the ridge regression that the sweeps start from, as a share of the
#: right-hand side.
START = 1e-2


class RowsForm(ScoresForm):
    """φ(W), with the labels in the basis of a label block, and the way back."""

    #: W are weights of the features themselves.
    basis = None

    def __init__(self, given: RowsProblem, labels: LabelBlock) -> None:
        super().__init__(given, labels)
        self._x_mean = given.x_mean
        self._squares = (self._rows.squares() + given.lam)[:, None]
        self._tied = self._rows.squares(self._rows.degrees())[:, None]

    def start(self) -> Array:
        """Return ridge regression: the (W, z) step for B = 0."""
        C = self._rows.transposed_times(self._T)
        W = solve_ridge(self._rows, C, self._lam, START)
        self._settle(self._scores(W))
        return W

    def precondition(self, point: Point, gradient: Array) -> Array:
        """Divide by the diagonal of ``XᵀX + λI + θ_j γXᵀDX``, D the degrees."""
        gradient /= self._squares + self._tied * point.row_squares
        return gradient

    def _scores(self, omega: Array) -> Array:
        return self._rows.times(omega)

    def _ridge(self, omega: Array, other: Array) -> float:
        return self._lam * inner(omega, other)

    def _gradient(self, E: Array, omega: Array) -> Array:
        gradient = self._rows.transposed_times(E)
        gradient += self._lam * omega
        return gradient

    def _weights(self, omega: Array) -> Array:
        return omega
