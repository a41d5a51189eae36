"""The joint problem as a function of the feature weights alone.

(B, t) and z have closed forms, so what is left is a function of W. Two changes
of coordinates make it cheap: W = V ω Uᵀ, with V the pencil of the features
(``VᵀAV = I``, ``VᵀγHV = diag(μ)``) and U the eigenvectors of the labels' Gram
matrix (``UᵀỸU = diag(σ)``). Then

    φ(ω) = const + ‖ω‖² - 2⟨ω, R⟩ + Σ_j τ_j (1 - B_jj),
    B    = (diag(ρ) + NᵀN)⁻¹ diag(τ),   N = diag(√μ) ω,   τ = βσ,   ρ = τ + λ,

where B is the exact (B, t) step in the basis U. An evaluation with its gradient
costs O(ml·min(m, l)): no eigenvalue problem, and B itself is not formed where
m < l. Half of the gradient is ``ω - R + diag(√μ) N B Bᵀ``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from homi.linalg import Array, inner
from homi.solver.nouns import Params, Problem, Terms

_EPS = float(np.finfo(np.float64).eps)


class LabelStep(NamedTuple):
    """What the exact (B, t) step for given weights leaves behind, in the basis U."""

    diagonal: Array  # B_jj
    row_squares: Array  # Σ_k B_jk², the diagonal of BBᵀ
    push: Array  # N B Bᵀ


@dataclass(frozen=True)
class Point:
    """The reduced objective at ω, its named terms, and half its gradient."""

    omega: Array
    value: float
    gradient: Array
    row_squares: Array
    terms: Terms


class ReducedProblem:
    """φ(ω) of a problem, and the way back to (W, z, B, t)."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        moments, lam = problem.moments, problem.lam
        mu, self._V = problem.joint_pencil
        sigma, U = scipy.linalg.eigh(problem.joint_YtY, check_finite=False)
        sigma = np.maximum(sigma, 0.0)
        if lam == 0:
            # Without a ridge, combinations of labels that never vary are free:
            # leaving them out gives the solution of least norm.
            keep = sigma > 10 * len(sigma) * _EPS * max(sigma.max(), _EPS)
            sigma, U = sigma[keep], U[:, keep]
        self._U = U
        self._root_mu = np.sqrt(mu)[:, None]
        self._mu = mu[:, None]
        self._tau = problem.beta * sigma
        self._rho = self._tau + lam
        self._shrink = self._tau / self._rho
        self._root_rho = 1.0 / np.sqrt(self._rho)
        self._R = self._V.T @ problem.joint_C @ U
        kept = moments.n * problem.bias_lam / (moments.n + problem.bias_lam)
        self._constant = float(
            np.trace(moments.Syy) + kept * inner(moments.y_mean, moments.y_mean)
        )

    def start(self, B: Array) -> Array:
        """The exact (W, z) step for given B; for B = 0 it is ridge regression."""
        if not B.any():
            return self._R.copy()
        theta, Q = scipy.linalg.eigh(self._U.T @ B @ B.T @ self._U, check_finite=False)
        return ((self._R @ Q) / (1.0 + self._mu * np.maximum(theta, 0.0))) @ Q.T

    def evaluate(self, omega: Array) -> Point:
        """φ(ω) and half its gradient."""
        N = self._root_mu * omega
        step = self._wide(N) if len(omega) < omega.shape[1] else self._tall(N)
        gap = omega - self._R
        features = self._constant + inner(omega, gap) - inner(omega, self._R)
        tied = float(self._tau @ (1.0 - step.diagonal))
        graph = inner(N, step.push)
        gradient = step.push
        gradient *= self._root_mu
        gradient += gap
        terms = {"features": features, "labels": tied - graph, "graph": graph}
        return Point(omega, features + tied, gradient, step.row_squares, terms)

    def _tall(self, N: Array) -> LabelStep:
        """The (B, t) step through the l × l matrix diag(ρ) + NᵀN."""
        B = self._small_B(N)
        BBt = B @ B.T
        return LabelStep(np.diag(B), np.diag(BBt), N @ BBt)

    def _small_B(self, N: Array) -> Array:
        S = N.T @ N
        if not S.size:  # no label varies, and LAPACK takes no empty matrix
            return S
        S.flat[:: len(S) + 1] += self._rho
        triangle, _ = dpotrf(S, lower=1, overwrite_a=1, clean=1)
        inverse, _ = dpotri(triangle, lower=1, overwrite_c=1)
        full = inverse + inverse.T
        full.flat[:: len(full) + 1] *= 0.5
        return full * self._tau

    def _wide(self, N: Array) -> LabelStep:
        """The same through the m × m matrix I + N diag(ρ)⁻¹ Nᵀ (Woodbury).

        With A = N diag(ρ)⁻¹ and P = NB, ``B = diag(τ/ρ) - AᵀP``.
        """
        A, P = self._factors(N)
        pushed = (P @ P.T) @ A
        overlap = np.einsum("ij,ij->j", A, P)
        shrink = self._shrink
        row_squares = shrink * (shrink - 2.0 * overlap)
        row_squares += np.einsum("ij,ij->j", A, pushed)
        P *= shrink
        P -= pushed
        return LabelStep(shrink - overlap, np.maximum(row_squares, 0.0), P)

    def _factors(self, N: Array) -> tuple[Array, Array]:
        half = N * self._root_rho
        if not half.size:  # no feature varies, or no label
            return half, N
        K = half @ half.T
        K.flat[:: len(K) + 1] += 1.0
        triangle, _ = dpotrf(K, lower=1, overwrite_a=1, clean=0)
        P, _ = dpotrs(triangle, N * self._shrink, lower=1)
        half *= self._root_rho
        return half, np.ascontiguousarray(P)

    def precondition(self, point: Point, gradient: Array) -> Array:
        """The gradient over the diagonal of the (W, z) block's Hessian, in place."""
        gradient /= 1.0 + self._mu * point.row_squares
        return gradient

    def params(self, point: Point) -> Params:
        """W, z, B and t at a point, in the coordinates of the problem."""
        moments, lam, beta = (
            self._problem.moments,
            self._problem.bias_lam,
            self._problem.beta,
        )
        n, U = moments.n, self._U
        W = self._V @ point.omega @ U.T
        B = U @ self._B(self._root_mu * point.omega) @ U.T
        z = (moments.y_mean - W.T @ moments.x_mean) * (n / (n + lam))
        t = (moments.y_mean - B.T @ moments.y_mean) * (beta * n / (beta * n + lam))
        return Params(W, z, B, t)

    def _B(self, N: Array) -> Array:
        if N.shape[0] >= N.shape[1]:
            return self._small_B(N)
        A, P = self._factors(N)
        return np.diag(self._shrink) - A.T @ P
