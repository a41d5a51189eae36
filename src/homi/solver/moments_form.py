"""The reduced problem from moments: a function of the feature weights alone.

(B, t) and z have closed forms, so the rest is a function of W. Two changes of
coordinates make it cheap: W = V ω Uᵀ, with V the pencil of the features
(``VᵀAV = I``, ``VᵀγHV = diag(μ)``) and U the eigenvectors of the labels' Gram matrix
(``UᵀỸU = diag(σ)``). Then

    φ(ω) = const + ‖ω‖² - 2⟨ω, R⟩ + Σ_j τ_j (1 - B_jj),
    B    = (diag(ρ) + NᵀN)⁻¹ diag(τ),   N = diag(√μ) ω,   τ = βσ,   ρ = τ + λ,

where B is the exact (B, t) step in the basis U. An evaluation with its gradient
costs O(ml·min(m, l)): it needs no eigenvalue problem, and not B itself where m < l.
Half of the gradient is ``ω - R + diag(√μ) N B Bᵀ``.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from homi.linalg import Array, Pencil, inner
from homi.solver.descend import Point, Trials
from homi.solver.label_blocks import AllDirections
from homi.solver.problem import Params, Problem, mean_share


class PencilForm:
    """φ(ω) in the coordinates of a pencil (A, γH) of features.

    Parameters
    ----------
    pencil : Pencil
        μ and V.
    C : ndarray of shape (n_features, n_labels)
        Products of features and labels, the labels in the basis of their block.
    labels : AllDirections
        The label block.
    constant : float
        φ without features and labels.
    has_graph : bool
        Whether there is an H at all.
    """

    steps = 1

    def __init__(
        self,
        pencil: Pencil,
        C: Array,
        labels: AllDirections,
        constant: float,
        has_graph: bool,
    ) -> None:
        mu, self.V = pencil
        self._labels, self._constant, self._has_graph = labels, constant, has_graph
        self._mu, self._root_mu = mu[:, None], np.sqrt(mu)[:, None]
        self._R = self.V.T @ C

    def evaluate(self, omega: Array) -> Point:
        """Return φ(ω) and half its gradient."""
        N, graph = self._scores(omega)
        step = self._labels.step(N, graph)
        gradient = omega - self._R
        features = self._constant + inner(omega, gradient) - inner(omega, self._R)
        if step.graph_gradient is not None:
            gradient += np.multiply(
                self._root_mu, step.graph_gradient, out=step.graph_gradient
            )
        terms = {"features": features, "labels": step.labels, "graph": step.graph}
        return Point(omega, sum(terms.values()), gradient, step.row_squares, terms)

    def precondition(self, point: Point, gradient: Array) -> Array:
        """Divide by the diagonal of the (W, z) block's Hessian, in place."""
        gradient /= 1.0 + self._mu * point.row_squares
        return gradient

    def line(self, point: Point, direction: Array) -> Trials[Point]:
        """Return the objective along a direction."""
        return Trials(self.evaluate, point.omega, direction)

    def _scores(self, omega: Array) -> tuple[Array, Array | None]:
        """N, in coordinates in which γL is the identity; twice if there is a graph."""
        N = self._root_mu * omega
        return N, N if self._has_graph else None


class MomentsForm(PencilForm):
    """φ(ω) of a problem, and the way back to (W, z, B, t)."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        moments = problem.moments
        labels = AllDirections(problem.joint_YtY, problem.beta, problem.lam)
        mean_square = inner(moments.y_mean, moments.y_mean)
        share = mean_share(moments.n, problem.bias_lam)
        super().__init__(
            problem.joint_pencil,
            labels.rotate(problem.joint_C),
            labels,
            float(np.trace(moments.Syy) + share * mean_square),
            problem.H is not None,
        )

    def start(self, B: Array) -> Array:
        """Return the exact (W, z) step for given B; for B = 0 it is ridge regression.

        Parameters
        ----------
        B : ndarray of shape (n_labels, n_labels)
            Label correlations, held.
        """
        if not B.any():
            return self._R.copy()
        UtB = self._labels.rotate(B.T).T
        theta, Q = scipy.linalg.eigh(UtB @ UtB.T, check_finite=False)
        return ((self._R @ Q) / (1.0 + self._mu * np.maximum(theta, 0.0))) @ Q.T

    def params(self, point: Point) -> Params:
        """Return W, z, B and t at a point, in the coordinates of the problem."""
        problem, moments = self._problem, self._problem.moments
        n, lam, beta = moments.n, problem.bias_lam, problem.beta
        W = self._labels.rotate_back(self.V @ point.omega)
        B = self._labels.B(*self._scores(point.omega))
        z = (moments.y_mean - W.T @ moments.x_mean) * (n / (n + lam))
        t = (moments.y_mean - B.T @ moments.y_mean) * (beta * n / (beta * n + lam))
        return Params(W, z, B, t)
