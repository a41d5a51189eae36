"""The reduced problem from rows: a function of W alone, by products with rows only.

The same function as in :mod:`homi.solver.moments_form`, without an array of features
× features. z, B and t are eliminated, and with the scores Z = XW

    φ(W) = ‖Y - Z‖² + λ‖W‖² + (the least of the labels' and the graph's terms),

with half of the gradient ``Xᵀ(Z - Y + γLZ BBᵀ) + λW``. Z is linear along a line, and in
a subspace: minima there take no further products with rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from homi.linalg import Array, inner
from homi.solver.conjugate_gradients import solve_ridge
from homi.solver.descend import Point
from homi.solver.label_blocks import LabelBlock
from homi.solver.preconditioners import Diagonal, Factored
from homi.solver.problem import Params
from homi.solver.rows_problem import RowsProblem

#: Residual of the ridge regression that the sweeps start from, as a share of the
#: right-hand side.
START = 1e-2


@dataclass(frozen=True)
class ScoredPoint(Point):
    """A point with its scores Z = XW, and ``γLZ`` and their products, if any."""

    Z: Array
    LZ: Array | None
    products: Array | None


class Parabola(NamedTuple):
    """``constant + size linear + size² square``, of numbers or arrays."""

    constant: Any
    linear: Any
    square: Any

    def at(self, size: float) -> Any:
        """Return the value."""
        return self.constant + size * self.linear + size**2 * self.square


@dataclass(frozen=True)
class ScoresLine:
    """φ along a direction: scores are known without products with rows."""

    form: RowsForm
    start: ScoredPoint
    direction: Array
    D: Array
    LD: Array | None
    features: Parabola
    products: Parabola | None

    tolerance = 0.1

    def value(self, size: float) -> float:
        """Return φ after a step of this size."""
        both = self.start.terms["labels"]
        if self.products is not None:
            both = self.form.labels.least(self.products.at(size))
        return float(self.features.at(size)) + both

    def point(self, size: float) -> ScoredPoint:
        """Return the point after a step of this size."""
        start, LZ = self.start, self.start.LZ
        if LZ is not None and self.LD is not None:
            LZ = LZ + size * self.LD
        omega = start.omega + size * self.direction
        return self.form.at(omega, start.Z + size * self.D, LZ)


class RowsForm:
    """φ(W), with the labels in the basis of a label block, and the way back."""

    #: A step costs less than to solve for (W, z), as each sweep from moments does.
    steps = 2

    def __init__(
        self, given: RowsProblem, labels: LabelBlock, *, factored: bool = False
    ) -> None:
        self.labels, self.lam = labels, given.lam
        self._given, self._rows = given, given.rows
        self.T = labels.rotate(given.targets())
        self._divisor = (Factored if factored else Diagonal)(self._rows, self.lam)

    def start(self) -> Array:
        """Return ridge regression: the (W, z) step for B = 0."""
        C = self._rows.transposed_times(self.T)
        divide = self._divisor.divide_ridge
        W = solve_ridge(self._rows, C, self.lam, START, divide)
        Z = self.scores(W)
        LZ = self.graph_times(Z)
        if LZ is not None:
            self.labels.settle(Z, LZ)
        return W

    def evaluate(self, W: Array) -> ScoredPoint:
        """Return φ(W) and half its gradient."""
        Z = self.scores(W)
        return self.at(W, Z, self.graph_times(Z))

    def at(self, W: Array, Z: Array, LZ: Array | None) -> ScoredPoint:
        """Return the same for known scores."""
        step = self.labels.step(Z, LZ)
        E = Z - self.T
        features = inner(E, E) + self.lam * inner(W, W)
        if step.graph_gradient is not None:
            E += step.graph_gradient
        gradient = self._rows.transposed_times(E)
        gradient += self.lam * W
        terms = {"features": features, "labels": step.labels, "graph": step.graph}
        value, squares = sum(terms.values()), step.row_squares
        return ScoredPoint(W, value, gradient, squares, terms, Z, LZ, step.products)

    def precondition(self, point: Point, gradient: Array) -> Array:
        """Divide by the curvature of the (W, z) block, nearly."""
        return self._divisor.divide(gradient, point.row_squares)

    def line(self, point: ScoredPoint, direction: Array) -> ScoresLine:
        """Return φ along a direction."""
        D = self.scores(direction)
        LD, products = self.graph_times(D), None
        if LD is not None and point.LZ is not None:
            more = self.labels.along(point.Z, point.LZ, D, LD)
            products = Parabola(point.products, *more)
        slope = inner(point.Z, D) - inner(self.T, D)
        slope += self.lam * inner(point.omega, direction)
        square = inner(D, D) + self.lam * inner(direction, direction)
        features = Parabola(point.terms["features"], 2.0 * slope, square)
        return ScoresLine(self, point, direction, D, LD, features, products)

    def params(self, point: ScoredPoint) -> Params:
        """Return W, z, B and t at a point, in the scaling of the problem."""
        given, n = self._given, self._rows.shape[0] - 1
        B = self.labels.B(point.Z, point.LZ)
        W = self.labels.rotate_back(point.omega)
        z = (given.y_mean - given.x_mean @ W) * (n / (n + given.lam))
        kept = given.beta * n / (given.beta * n + given.lam)
        return Params(W, z, B, (given.y_mean - given.y_mean @ B) * kept)

    def scores(self, W: Array) -> Array:
        """``XW``."""
        return self._rows.times(W)

    def graph_times(self, Z: Array) -> Array | None:
        """``γLZ``, or None without a graph."""
        return None if self._rows.L is None else self._rows.graph_times(Z)
