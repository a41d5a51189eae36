"""Objective and solver of CLML, from moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.linalg import factor_pencil, inner, solve_psd
from homi.methods.proximal import (
    Descent,
    row_lengths,
    shrink_rows,
    soft_threshold,
    split,
)
from homi.typing import Array


class CLMLProblem(NamedTuple):
    """``XᵀX``, ``XᵀY``, ``‖Y‖²``, ``αL₁``, ``λ₁XᵀL₂X`` and the two penalties."""

    G: Array
    C: Array
    yy: float
    L: Array
    H: Array
    lam2: float
    beta: float

    def objective(self, W: Array) -> dict[str, float]:
        """Return the terms of the objective."""
        GW = self.G @ W
        return {
            "loss": 0.5 * (inner(W, GW) - 2.0 * inner(W, self.C) + self.yy),
            "labels": 0.5 * inner(W, GW @ self.L),
            "rows": 0.5 * inner(W, self.H @ W),
            "common": self.lam2 * float(row_lengths(W).sum()),
            "specific": self.beta * float(np.abs(W).sum()),
        }

    def step(self, A: Array, s: float) -> Array:
        """Take the proximal step of s times both penalties, the ℓ₁ norm first."""
        return shrink_rows(soft_threshold(A, s * self.beta), s * self.lam2)

    def factor(self, rho: float) -> Callable[[Array], Array]:
        """Return the function A ↦ W that solves ``GW + αGWL₁ + λ₁HW + ρW = C + ρA``."""
        mu, V = factor_pencil(self.G + self.H + rho * np.eye(len(self.G)), self.G)
        nu, Q = scipy.linalg.eigh(self.L, check_finite=False)
        denominator = 1.0 + np.outer(mu, np.maximum(nu, 0.0))
        return lambda A: V @ ((V.T @ (self.C + rho * A) @ Q) / denominator) @ Q.T

    def start(self, gamma: float) -> Array:
        """Return the ridge solution, rescaled to minimize the smooth terms."""
        W = solve_psd(self.G + gamma * np.eye(len(self.G)), self.C)
        GW = self.G @ W
        curvature = inner(W, GW + GW @ self.L + self.H @ W)
        return W * (inner(W, self.C) / curvature) if curvature > 0 else W

    def rho(self, W: Array) -> float:
        """Return three times the penalty divided by the mean length of a row."""
        penalty = self.lam2 + self.beta * np.sqrt(W.shape[1])
        least = 1e-8 * float(np.diag(self.G).mean()) or 1.0
        length = float(row_lengths(W).mean())
        # Of factors from 0.3 to 30, 3 took the fewest iterations on the paper's grid.
        return max(3.0 * penalty / length, least) if length > 0 else least


def solve(problem: CLMLProblem, gamma: float, *, max_iter: int, tol: float) -> Descent:
    """Minimize by ADMM from a ridge solution."""
    start = problem.start(gamma)
    rho = problem.rho(start)
    return split(
        problem.factor(rho),
        problem.step,
        problem.objective,
        start,
        rho,
        least=tol * float(np.linalg.norm(start)),
        max_iter=max_iter,
        tol=tol,
    )
