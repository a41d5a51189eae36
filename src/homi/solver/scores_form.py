"""The reduced problem through the scores of all rows: what both of its forms share.

z, B and t are eliminated, and with the scores Z = XW

    φ = ‖Y - Z‖² + λ‖W‖² + (the least of the labels' and the graph's terms),

with half of the gradient ``Z - Y + γLZ BBᵀ`` with respect to Z, besides the ridge term.
Along a line Z is linear, so the minimum of the line takes no products with rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

from homi.linalg import Array, inner
from homi.solver.descend import Point
from homi.solver.label_blocks import LabelBlock
from homi.solver.problem import Params
from homi.solver.rows_problem import RowsProblem


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

    form: ScoresForm
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
            both = self.form.least(self.products.at(size))
        return float(self.features.at(size)) + both

    def point(self, size: float) -> ScoredPoint:
        """Return the point after a step of this size."""
        start, LZ = self.start, self.start.LZ
        if LZ is not None and self.LD is not None:
            LZ = LZ + size * self.LD
        omega = start.omega + size * self.direction
        return self.form.at(omega, start.Z + size * self.D, LZ)


class ScoresForm(ABC):
    """φ through the scores Z of all rows, with the labels in the basis of their block.

    Subclasses say what the weights ω are: what scores they give (``_scores``), what the
    ridge term of two of them is (``_ridge``), and what half of the gradient is, given
    that with respect to the scores (``_gradient``). ``_weights`` is ω as W, of
    features with the mean ``_x_mean``.
    """

    #: A step costs less than to solve for (W, z), as each sweep from moments does.
    steps = 4

    def __init__(self, given: RowsProblem, labels: LabelBlock) -> None:
        self._given, self._labels = given, labels
        self._rows, self._lam = given.rows, given.lam
        self._T = labels.rotate(given.targets())

    def evaluate(self, omega: Array) -> ScoredPoint:
        """Return φ and half its gradient."""
        Z = self._scores(omega)
        return self.at(omega, Z, self._graph_times(Z))

    def at(self, omega: Array, Z: Array, LZ: Array | None) -> ScoredPoint:
        """Return the same for known scores."""
        step = self._labels.step(Z, LZ)
        E = Z - self._T
        features = inner(E, E) + self._ridge(omega, omega)
        if step.graph_gradient is not None:
            E += step.graph_gradient
        terms = {"features": features, "labels": step.labels, "graph": step.graph}
        value, gradient = sum(terms.values()), self._gradient(E, omega)
        squares = step.row_squares
        return ScoredPoint(omega, value, gradient, squares, terms, Z, LZ, step.products)

    def line(self, point: ScoredPoint, direction: Array) -> ScoresLine:
        """Return φ along a direction."""
        D = self._scores(direction)
        LD, products = self._graph_times(D), None
        if LD is not None and point.LZ is not None:
            cross = self._labels.cross(point.Z, point.LZ, D, LD)
            products = Parabola(point.products, cross, self._labels.products(D, LD))
        slope = inner(point.Z, D) - inner(self._T, D)
        slope += self._ridge(point.omega, direction)
        square = inner(D, D) + self._ridge(direction, direction)
        features = Parabola(point.terms["features"], 2.0 * slope, square)
        return ScoresLine(self, point, direction, D, LD, features, products)

    def least(self, products: Array) -> float:
        """Return the minimum over (B, t) of the labels' and the graph's terms."""
        return self._labels.least(products)

    def params(self, point: ScoredPoint) -> Params:
        """Return W, z, B and t at a point, in the scaling of the problem."""
        given, n = self._given, self._rows.shape[0] - 1
        B = self._labels.B(point.Z, point.LZ)
        W = self._labels.rotate_back(self._weights(point.omega))
        z = (given.y_mean - self._x_mean @ W) * (n / (n + given.lam))
        kept = given.beta * n / (given.beta * n + given.lam)
        return Params(W, z, B, (given.y_mean - given.y_mean @ B) * kept)

    def _graph_times(self, Z: Array) -> Array | None:
        """``γLZ``, or None without a graph."""
        return None if self._rows.L is None else self._rows.graph_times(Z)

    def _settle(self, Z: Array) -> None:
        """Fix what of the label block depends on the first scores."""
        LZ = self._graph_times(Z)
        if LZ is not None:
            self._labels.settle(Z, LZ)

    _x_mean: Array

    @abstractmethod
    def _scores(self, omega: Array) -> Array: ...

    @abstractmethod
    def _ridge(self, omega: Array, other: Array) -> float: ...

    @abstractmethod
    def _gradient(self, E: Array, omega: Array) -> Array: ...

    @abstractmethod
    def _weights(self, omega: Array) -> Array: ...
