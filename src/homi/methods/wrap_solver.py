"""Objective and updates of WRAP, from moments."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.linalg import inner, largest_eigenvalue, positive_eigenpairs
from homi.methods.proximal import Quadratic, descend, soft_threshold
from homi.moments import Moments
from homi.threads import for_product
from homi.typing import Array, History

#: Proximal gradient steps in V per sweep.
_INNER = 20


class WRAPProblem(NamedTuple):
    """``XᵀX = E diag(g) Eᵀ`` with g > 0, C = ``EᵀXᵀY``, and U in the basis E.

    X has no variance outside this basis, so U is 0 there.
    """

    g: Array
    C: Array
    yy: float
    L: Array
    lam1: float
    lam2: float
    lam3: float

    @classmethod
    def of(
        cls, moments: Moments, L: Array, lam1: float, lam2: float, lam3: float
    ) -> tuple[WRAPProblem, Array]:
        """Return the problem and E."""
        g, E = positive_eigenpairs(moments.G)
        yy = float(np.trace(moments.YtY))
        return cls(g, E.T @ moments.C, yy, L, lam1, lam2, lam3), E

    def objective(self, U: Array, V: Array) -> dict[str, float]:
        """Return the terms of the objective."""
        M = U @ V
        loss = 0.5 * (inner(M, self.g[:, None] * M) - 2.0 * inner(M, self.C) + self.yy)
        return {
            "loss": loss,
            "specific": self.lam1 * float(np.abs(V).sum()),
            "correlation": 0.5 * self.lam2 * inner(V, V @ self.L),
            "ridge": 0.5 * self.lam3 * inner(U, U),
        }


def solve(
    problem: WRAPProblem, d: int, *, max_iter: int, tol: float
) -> tuple[Array, Array, History, bool]:
    """Alternate updates of V and U, from the ridge solution."""
    U, V = start(problem, d)
    history: History = []
    before = sum(problem.objective(U, V).values())
    spread = problem.lam2 * largest_eigenvalue(problem.L)
    with for_product(len(problem.g), d, len(problem.L)):
        for _ in range(max_iter):
            V = update_V(problem, U, V, spread)
            # Drop dimensions without weights: U would be 0 there.
            V = V[V.any(axis=1)]
            U = update_U(problem, V)
            history.append(problem.objective(U, V))
            after = sum(history[-1].values())
            if before - after <= tol * before:
                return U, V, history, True
            before = after
    return U, V, history, False


def start(problem: WRAPProblem, d: int) -> tuple[Array, Array]:
    """Return ``PΣ^½`` and ``Σ^½Qᵀ`` of ``PΣQᵀ = (G + λ₃I)⁻¹C``, truncated to rank d."""
    ridge = problem.C / (problem.g + problem.lam3)[:, None]
    P, sigma, Qt = scipy.linalg.svd(ridge, full_matrices=False, check_finite=False)
    root = np.sqrt(sigma[:d])
    return P[:, :d] * root, root[:, None] * Qt[:d]


def update_V(problem: WRAPProblem, U: Array, V: Array, spread: float) -> Array:
    """Minimize over V; the gradient of the smooth part is ``AV - R + λ₂VL``."""
    A, R = U.T @ (problem.g[:, None] * U), U.T @ problem.C
    pull = problem.lam2 * problem.L
    smooth = Quadratic(
        lambda V: A @ V + V @ pull, R, 0.5 * problem.yy, largest_eigenvalue(A) + spread
    )
    return descend(
        smooth,
        lambda V, s: soft_threshold(V, s * problem.lam1),
        lambda V: {"specific": problem.lam1 * float(np.abs(V).sum())},
        V,
        max_iter=_INNER,
        tol=0.0,
    ).x


def update_U(problem: WRAPProblem, V: Array) -> Array:
    """Solve ``GUVVᵀ + λ₃U = CVᵀ``, with ``VVᵀ = Q diag(θ) Qᵀ``."""
    theta, Q = scipy.linalg.eigh(V @ V.T, check_finite=False)
    denominator = np.outer(problem.g, np.maximum(theta, 0.0)) + problem.lam3
    return ((problem.C @ V.T @ Q) / denominator) @ Q.T
