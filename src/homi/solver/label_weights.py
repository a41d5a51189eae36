"""The reduced problem with label weights, from moments.

    Σ_j ω_j (‖y_j - Xw_j - z_j‖² + β‖y_j - Yb_j - t_j‖²) + γ tr(KᵀLK) + λ(‖W‖²+…)

Only the squared errors are weighted, so that the ridge and the graph shrink a label of
more weight less. Each intercept is one more row of W and of B, for centered features
and labels; the ridge of such a row is that of the intercept at the origin:
``‖w‖² + (z' - x̄ᵀw)²``, or without the second term if it is not penalized. One
factorization serves all weights, because ``ωG + P`` is diagonal where G + P and P are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homi import threads
from homi.linalg import Array, Pencil, factor_pencil, inner
from homi.solver.descend import Point, Trials
from homi.solver.problem import Params, Problem, Solution


class Regression(NamedTuple):
    """Least squares with an intercept: Gram matrix, products with targets, ridge."""

    gram: Array
    products: Array
    ridge: Array

    def pencil(self, penalty: Array) -> Pencil:
        """Pencil in which gram and penalty are diagonal: 1 - mu, and mu."""
        return factor_pencil(self.gram + penalty, penalty)

    def solve(self, penalty: Array, weights: Array) -> Array:
        """``(ω_j gram + penalty)⁻¹ ω_j products_j`` for every target j."""
        mu, V = self.pencil(penalty)
        return V @ (shares(mu, weights) * (V.T @ self.products))


def shares(mu: Array, weights: Array) -> Array:
    """``ω_j / (ω_j (1 - μ_i) + μ_i)``: factor by which direction i is kept."""
    mu = np.minimum(mu, 1.0)[:, None]
    return weights / (weights * (1.0 - mu) + mu)


def features_of(problem: Problem) -> Regression:
    """Regression of the labels on the features."""
    moments = problem.moments
    return _regression(moments.Sxx, moments.Sxy, moments.x_mean, problem)


def labels_of(problem: Problem) -> Regression:
    """Regression of the labels on each other, times β."""
    moments = problem.moments
    own = _regression(moments.Syy, moments.Syy, moments.y_mean, problem)
    return own._replace(
        gram=problem.beta * own.gram, products=problem.beta * own.products
    )


def graph_of(problem: Problem) -> Array:
    """``γH``, and 0 for the intercept: the graph term does not depend on it."""
    m = problem.n_features
    padded = np.zeros((m + 1, m + 1))
    if problem.H is not None:
        padded[:m, :m] = problem.H
    return padded


def solve_weighted_identity(problem: Problem, weights: Array) -> Solution:
    """Hold B = I and t = 0: ``(ω_j X̃ᵀX̃ + λR + γH) w_j = ω_j X̃ᵀy_j``."""
    size = problem.n_features
    with threads.for_product(size, size, size):
        features, graph = features_of(problem), graph_of(problem)
        U = features.solve(features.ridge + graph, weights)
        B, t = np.eye(problem.n_labels), np.zeros(problem.n_labels)
        loss, penalty = _terms(features, problem, U, weights)
        of_labels = problem.lam * float(problem.n_labels)
        terms = {"features": loss + penalty, "labels": of_labels}
        terms["graph"] = inner(U, graph @ U)
        params = Params(U[:-1], U[-1] - problem.moments.x_mean @ U[:-1], B, t)
    return Solution(params, [terms], converged=True)


def _regression(S: Array, C: Array, mean: Array, problem: Problem) -> Regression:
    n, k = problem.moments.n, len(mean)
    gram = np.zeros((k + 1, k + 1))
    gram[:k, :k], gram[k, k] = S, n
    products = np.vstack([C, n * problem.moments.y_mean])
    ridge = np.diag([problem.lam] * k + [0.0])
    bias = np.append(-mean, 1.0)
    ridge += problem.bias_lam * np.outer(bias, bias)
    return Regression(gram, products, ridge)


def _terms(
    regression: Regression, problem: Problem, U: Array, weights: Array
) -> tuple[float, float]:
    """Weighted squared errors of the features' regression, and its ridge."""
    moments = problem.moments
    energy = np.diag(moments.Syy) + moments.n * moments.y_mean**2
    errors = energy + np.einsum("ij,ij->j", U, regression.gram @ U)
    errors -= 2.0 * np.einsum("ij,ij->j", U, regression.products)
    loss = float(weights @ np.maximum(errors, 0.0))
    return loss, inner(U, regression.ridge @ U)


class WeightedMomentsForm:
    """Objective as a function of (W, z) alone, in the coordinates of their block.

    A :class:`~homi.solver.descend.ReducedProblem`. With U = Vω,
    ``VᵀX̃ᵀX̃V = I - D``, ``VᵀλRV = D`` and ``VᵀγHV = diag(μ)``, half of the gradient is
    ``ωΩ + Dω(I - Ω) - VᵀX̃ᵀYΩ + diag(μ) ω BBᵀ`` with Ω = diag(ω_j).
    """

    steps = 1

    def __init__(self, problem: Problem, weights: Array) -> None:
        self._problem, self._weights = problem, weights
        self._features, self._labels = features_of(problem), labels_of(problem)
        pencil = factor_pencil(
            self._features.gram + self._features.ridge, graph_of(problem)
        )
        self._mu, self._V = pencil.mu[:, None], pencil.V
        self._D = self._V.T @ self._features.ridge @ self._V
        self._R = (self._V.T @ self._features.products) * weights
        # Targets of the labels' regression: each label itself.
        self._own = np.vstack([np.eye(problem.n_labels), problem.moments.y_mean])

    def start(self, B: Array) -> Array:
        """Return ridge regression: the exact (W, z) step for B = 0. B has no effect."""
        U = self._features.solve(self._features.ridge, self._weights)
        # VᵀAV = I, so that VᵀA inverts V.
        return self._V.T @ (self._features.gram + self._features.ridge) @ U

    def evaluate(self, omega: Array) -> Point:
        """Return the objective at ω with (B, t) eliminated, and half its gradient."""
        N = np.sqrt(self._mu) * omega
        v = self._label_step(N)
        B = v[:-1]
        graph_gradient = (N @ B) @ B.T
        graph = inner(N, graph_gradient)
        gap = self._own - v
        errors = np.einsum("ij,ij->j", gap, self._labels.gram @ gap)
        labels = float(self._weights @ np.maximum(errors, 0.0))
        labels += inner(v, self._labels.ridge @ v)
        loss, penalty = _terms(
            self._features, self._problem, self._V @ omega, self._weights
        )
        gradient = omega * self._weights
        gradient += (self._D @ omega) * (1.0 - self._weights) - self._R
        gradient += np.sqrt(self._mu) * graph_gradient
        terms = {"features": loss + penalty, "labels": labels, "graph": graph}
        return Point(
            omega, sum(terms.values()), gradient, np.einsum("ij,ij->i", B, B), terms
        )

    def _label_step(self, N: Array) -> Array:
        """B over t + ȳᵀB: the exact minimizer of the labels' and the graph's terms."""
        penalty = self._labels.ridge.copy()
        penalty[:-1, :-1] += N.T @ N
        return self._labels.solve(penalty, self._weights)

    def precondition(self, point: Point, gradient: Array) -> Array:
        """Divide by the diagonal of the (W, z) block's Hessian."""
        d = np.diag(self._D)[:, None]
        own = self._weights * (1.0 - d) + d
        return gradient / (own + self._mu * point.row_squares)

    def line(self, point: Point, direction: Array) -> Trials[Point]:
        """Return the objective along a direction."""
        return Trials(self.evaluate, point.omega, direction)

    def params(self, point: Point) -> Params:
        """Return W, z, B and t at a point."""
        U = self._V @ point.omega
        v = self._label_step(np.sqrt(self._mu) * point.omega)
        moments = self._problem.moments
        W, B = U[:-1], v[:-1]
        return Params(W, U[-1] - moments.x_mean @ W, B, v[-1] - moments.y_mean @ B)
