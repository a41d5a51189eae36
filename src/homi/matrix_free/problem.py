"""The joint problem as a function of W alone, through products with rows only.

What :mod:`homi.solver.reduced` is for moments: z, B and t are solved for, and

    φ(W) = ‖Y - XW‖² + λ‖W‖² + (the least of the labels' and the graph's terms),

with half of the gradient ``Xᵀ(XW - Y + γLXW BBᵀ) + λW``. The descent is the same as
well. Its preconditioner divides by the curvature of the (W, z) block, which here
means a linear system for each label.
"""

from __future__ import annotations

import numpy as np

from homi.linalg import Array, inner
from homi.matrix_free.given import Given
from homi.matrix_free.gradients import Systems
from homi.matrix_free.labels import Labels
from homi.solver.nouns import Params
from homi.solver.reduced import Point

#: Residuals of the linear systems, as shares of their right-hand sides: of the first
#: one, and of each sweep's. What they leave is in the next gradient, so that the end
#: does not depend on them; but which of several minima it is does. On enron 0.1 ended
#: where the direct solver ends, and 0.3 did not.
START, STEP = 1e-4, 1e-2


class RowsProblem:
    """φ(W), with the labels in the basis of ``labels``; and the way back."""

    def __init__(self, given: Given, labels: Labels) -> None:
        self._given, self._labels = given, labels
        self._rows, self._lam = given.rows, given.lam
        self._T = labels.rotate(given.targets())
        self._systems = Systems(self._rows, given.lam)

    def start(self) -> Array:
        """Ridge regression: the exact (W, z) step for B = 0."""
        C = self._rows.back(self._T)
        W = self._systems.solve(C, np.zeros(C.shape[1]), START)
        Z, LZ = self._scores(W)
        if LZ is not None:
            self._labels.settle(Z, LZ)
        return W

    def evaluate(self, W: Array) -> Point:
        """φ(W) and half its gradient."""
        Z, LZ = self._scores(W)
        step = self._labels.step(Z, LZ)
        del LZ
        graph = 0.0 if step.push is None else inner(Z, step.push)
        Z -= self._T
        features = inner(Z, Z) + self._lam * inner(W, W)
        if step.push is not None:
            Z += step.push
        gradient = self._rows.back(Z)
        gradient += self._lam * W
        terms = {"features": features, "labels": step.labels, "graph": graph}
        return Point(W, sum(terms.values()), gradient, step.row_squares, terms)

    def precondition(self, point: Point, gradient: Array) -> Array:
        """The gradient divided by the curvature of the (W, z) block, label by label."""
        theta = point.row_squares if self._rows.L is not None else 0 * point.row_squares
        return self._systems.solve(gradient, theta, STEP)

    def params(self, point: Point) -> Params:
        """W, z, B and t at a point, in the units of the problem."""
        given, n = self._given, self._rows.shape[0] - 1
        B = self._labels.B(*self._scores(point.omega))
        W = self._labels.rotate_back(point.omega)
        z = (given.y_mean - given.x_mean @ W) * (n / (n + given.lam))
        kept = given.beta * n / (given.beta * n + given.lam)
        return Params(W, z, B, (given.y_mean - given.y_mean @ B) * kept)

    def _scores(self, W: Array) -> tuple[Array, Array | None]:
        Z = self._rows.times(W)
        return Z, None if self._rows.L is None else self._rows.smooth(Z)
