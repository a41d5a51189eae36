"""The reduced problem from rows: a function of W alone, by products with rows only.

The same function as in :mod:`homi.solver.moments_form`, without an array of features
× features. z, B and t are eliminated, and

    φ(W) = ‖Y - XW‖² + λ‖W‖² + (the least of the labels' and the graph's terms),

with half of the gradient ``Xᵀ(XW - Y + γLXW BBᵀ) + λW``. The preconditioner divides by
the curvature of the (W, z) block, which here means one linear system for each label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from homi.linalg import Array, Matrix, inner
from homi.solver.conjugate_gradients import LabelSystems
from homi.solver.descend import Point
from homi.solver.label_blocks import LabelBlock
from homi.solver.problem import Params, mean_share
from homi.solver.scaled_rows import ScaledRows

#: Residuals of the linear systems, as shares of their right-hand sides: for the start,
#: and for each sweep. What they leave is part of the next gradient, so the minimum
#: reached is exact; but they influence which of several minima it is. On enron 0.1
#: reached the one of the direct solver, and 0.3 did not.
START, STEP = 1e-4, 1e-2


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


class RowsForm:
    """φ(W), with the labels in the basis of a label block, and the way back."""

    def __init__(self, given: RowsProblem, labels: LabelBlock) -> None:
        self._given, self._labels = given, labels
        self._rows, self._lam = given.rows, given.lam
        self._T = labels.rotate(given.targets())
        self._systems = LabelSystems(self._rows, given.lam)

    def start(self) -> Array:
        """Return ridge regression: the exact (W, z) step for B = 0."""
        C = self._rows.transposed_times(self._T)
        W = self._systems.solve(C, np.zeros(C.shape[1]), START)
        Z, LZ = self._scores(W)
        if LZ is not None:
            self._labels.settle(Z, LZ)
        return W

    def evaluate(self, W: Array) -> Point:
        """Return φ(W) and half its gradient."""
        Z, LZ = self._scores(W)
        step = self._labels.step(Z, LZ)
        del LZ
        Z -= self._T
        features = inner(Z, Z) + self._lam * inner(W, W)
        if step.graph_gradient is not None:
            Z += step.graph_gradient
        gradient = self._rows.transposed_times(Z)
        gradient += self._lam * W
        terms = {"features": features, "labels": step.labels, "graph": step.graph}
        return Point(W, sum(terms.values()), gradient, step.row_squares, terms)

    def precondition(self, point: Point, gradient: Array) -> Array:
        """Divide by the curvature of the (W, z) block, label by label."""
        theta = point.row_squares if self._rows.L is not None else 0 * point.row_squares
        return self._systems.solve(gradient, theta, STEP)

    def params(self, point: Point) -> Params:
        """Return W, z, B and t at a point, in the scaling of the problem."""
        given, n = self._given, self._rows.shape[0] - 1
        B = self._labels.B(*self._scores(point.omega))
        W = self._labels.rotate_back(point.omega)
        z = (given.y_mean - given.x_mean @ W) * (n / (n + given.lam))
        kept = given.beta * n / (given.beta * n + given.lam)
        return Params(W, z, B, (given.y_mean - given.y_mean @ B) * kept)

    def _scores(self, W: Array) -> tuple[Array, Array | None]:
        """``Z = XW`` and ``γLZ``, or None without a graph."""
        Z = self._rows.times(W)
        return Z, None if self._rows.L is None else self._rows.graph_times(Z)
