"""Objective and updates of GLOCAL, from moments."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, cg

from homi.linalg import inner
from homi.methods.proximal import row_lengths
from homi.moments import Moments
from homi.typing import Array, Fields, History

#: Gradient steps in Z per cycle, and maximum conjugate gradient steps in U and in W.
_STEPS, _GRADIENTS = 30, 20


class Weights(NamedTuple):
    """λ, λ_V, λ_U, λ_W, λ_g and λ_l of the objective."""

    lam: float
    V: float
    U: float
    W: float
    whole: float
    local: float


class GLOCALProblem(NamedTuple):
    """``XᵀX = E diag(g) Eᵀ``, ``EᵀXᵀY``, ``YᵀY`` and for each cluster c ``X_cᵀX_c``.

    W is stored as EᵀW, so that the warm-up needs no product with XᵀX.
    """

    g: Array
    E: Array
    C: Array
    YtY: Array
    grams: Array
    shares: Array
    weights: Weights

    @classmethod
    def of(cls, parts: list[Moments], weights: Weights) -> GLOCALProblem:
        """Build the problem from the moments of each cluster."""
        whole = reduce(operator.add, parts)
        g, E = scipy.linalg.eigh(whole.G, check_finite=False)
        grams = np.array([part.G for part in parts])
        shares = np.array([part.n for part in parts]) / whole.n
        g = np.maximum(g, 0.0)
        return cls(g, E, E.T @ whole.C, whole.YtY, grams, shares, weights)

    def blend(self, W: Array, N: Array) -> Array:
        """Compute ``Σ_c G_c W N_c`` with ``G_c = λ_g (n_c/n) XᵀX + λ_l X_cᵀX_c``."""
        mean = self.weights.whole * np.tensordot(self.shares, N, 1)
        local = (self.grams @ (self.E @ W) @ N).sum(axis=0)
        return self.g[:, None] * (W @ mean) + self.weights.local * (self.E.T @ local)

    def spreads(self, W: Array) -> Array:
        """Compute ``K_c = WᵀG_cW`` for every cluster c."""
        EW = self.E @ W
        whole = np.multiply.outer(self.shares, W.T @ (self.g[:, None] * W))
        local = EW.T @ (self.grams @ EW)
        return self.weights.whole * whole + self.weights.local * local


class State(NamedTuple):
    """Unknowns, with V as its products; Z and K have one matrix per cluster."""

    U: Array
    W: Array
    Z: Array
    K: Array
    VtV: Array
    YtV: Array
    XtV: Array

    @property
    def N(self) -> Array:
        """``UᵀZ_cZ_cᵀU`` for every cluster c."""
        UtZ = self.U.T @ self.Z
        return UtZ @ UtZ.transpose(0, 2, 1)


def random_start(problem: GLOCALProblem, k: int, rng: np.random.RandomState) -> State:
    """Return a random U, W = 0, and no correlations."""
    m, q = problem.C.shape
    none = np.empty((0, q, 0)), np.empty((0, k, k))
    products = np.zeros((k, k)), np.zeros((q, k)), np.zeros((m, k))
    return State(rng.uniform(size=(q, k)), np.zeros((m, k)), *none, *products)


def random_correlations(
    problem: GLOCALProblem, state: State, k2: int, rng: np.random.RandomState
) -> State:
    """Add a random Z of k2 columns for every cluster."""
    Z = rng.uniform(size=(len(problem.shares), len(state.U), k2))
    return state._replace(Z=_to_unit_rows(Z, Z), K=problem.spreads(state.W))


def update_V(problem: GLOCALProblem, state: State) -> State:
    """Set ``V = (YU + λXW)S⁻¹ = YA + XB`` with ``S = UᵀU + (λ + λ_V)I``."""
    U, W, lam = state.U, state.W, problem.weights.lam
    S = U.T @ U + (lam + problem.weights.V) * np.eye(U.shape[1])
    A, B = _solve_right(S, U), _solve_right(S, lam * W)
    YtV = problem.YtY @ A + problem.C.T @ B
    XtV = problem.C @ A + problem.g[:, None] * B
    return state._replace(VtV=A.T @ YtV + B.T @ XtV, YtV=YtV, XtV=XtV)


def warm_U(problem: GLOCALProblem, state: State) -> State:
    """Set ``U = YᵀV(VᵀV + λ_U I)⁻¹``."""
    S = state.VtV + problem.weights.U * np.eye(len(state.VtV))
    return state._replace(U=_solve_right(S, state.YtV))


def warm_W(problem: GLOCALProblem, state: State) -> State:
    """Set ``W = (λXᵀX + λ_W I)⁻¹ λXᵀV``."""
    lam, ridge = problem.weights.lam, problem.weights.W
    return state._replace(W=lam * state.XtV / (lam * problem.g + ridge)[:, None])


def update_U(problem: GLOCALProblem, state: State) -> State:
    """Solve ``U(VᵀV + λ_U I) + Σ_c Z_cZ_cᵀUK_c = YᵀV`` for U."""
    S = state.VtV + problem.weights.U * np.eye(len(state.VtV))
    Z, Zt, K = state.Z, state.Z.transpose(0, 2, 1), state.K
    # Preconditioner: the solution for ZZᵀ = I, which has the same diagonal.
    near = S + K.sum(axis=0)
    U = _conjugate_gradients(
        lambda U: U @ S + (Z @ (Zt @ U @ K)).sum(axis=0),
        lambda R: _solve_right(near, R),
        state.YtV,
        state.U,
    )
    return state._replace(U=U)


def update_W(problem: GLOCALProblem, state: State) -> State:
    """Solve ``(λXᵀX + λ_W I)W + Σ_c G_cWN_c = λXᵀV`` for W."""
    weights, N, shares = problem.weights, state.N, problem.shares
    diagonal = (weights.lam * problem.g + weights.W)[:, None]
    # Preconditioner: the solution if every cluster had the moments of all rows.
    alike = (weights.whole + weights.local) * np.tensordot(shares, N, 1)
    nu, Q = scipy.linalg.eigh(alike, check_finite=False)
    near = diagonal + np.outer(problem.g, np.maximum(nu, 0.0))
    W = _conjugate_gradients(
        lambda W: diagonal * W + problem.blend(W, N),
        lambda R: (R @ Q / near) @ Q.T,
        weights.lam * state.XtV,
        state.W,
    )
    return state._replace(W=W, K=problem.spreads(W))


def update_Z(problem: GLOCALProblem, state: State) -> State:
    """Set ``Z_c ← Z_c - Q_cZ_c / τ_c`` with unit rows, where ``Q_c = UK_cUᵀ``.

    τ_c is the largest eigenvalue of Q_c, so that no step increases ``½tr(Z_cᵀQ_cZ_c)``:
    it minimizes, under the same constraint, an upper bound that is tight at Z_c.
    """
    U, Z = state.U, state.Z
    R = np.linalg.qr(U).R
    tau = np.linalg.eigvalsh(R @ state.K @ R.T)[:, -1]
    KUt = state.K @ U.T / np.maximum(tau, np.finfo(float).tiny)[:, None, None]
    for _ in range(_STEPS):
        Z = _to_unit_rows(Z - U @ (KUt @ Z), Z)
    return state._replace(Z=Z)


def _to_unit_rows(A: Array, instead: Array) -> Array:
    """Scale the rows of A to unit length; rows of zeros become those of ``instead``."""
    length = row_lengths(A)[..., None]
    return np.divide(A, length, out=instead.copy(), where=length > 0)


Update = Callable[[GLOCALProblem, State], State]
WARM_UP: tuple[Update, ...] = (update_V, warm_U, warm_W)
CYCLE: tuple[Update, ...] = (update_Z, update_V, update_U, update_W)


def objective(problem: GLOCALProblem, state: State) -> dict[str, float]:
    """Return the terms of the objective, computed from moments."""
    weights, (U, W, _, K, VtV, YtV, XtV) = problem.weights, state
    UtU, vv = U.T @ U, float(np.trace(VtV))
    labels = np.trace(problem.YtY) - 2.0 * inner(YtV, U) + inner(UtU, VtV)
    latent = vv - 2.0 * inner(W, XtV) + inner(W, problem.g[:, None] * W)
    ridge = weights.V * vv + weights.U * np.trace(UtU) + weights.W * inner(W, W)
    return {
        "labels": 0.5 * float(labels),
        "latent": 0.5 * weights.lam * latent,
        "ridge": 0.5 * float(ridge),
        "correlation": 0.5 * inner(state.N, K),
    }


def alternate(
    problem: GLOCALProblem,
    state: State,
    updates: tuple[Update, ...],
    *,
    max_iter: int,
    tol: float,
) -> tuple[State, History, bool]:
    """Apply the updates in turn until the objective converges."""
    history: History = []
    before = np.inf
    for _ in range(max_iter):
        for update in updates:
            state = update(problem, state)
        history.append(objective(problem, state))
        after = sum(history[-1].values())
        if before - after <= tol * after:
            return state, history, True
        before = after
    return state, history, False


def solve(
    problem: GLOCALProblem,
    k: int,
    k2: int,
    rng: np.random.RandomState,
    *,
    max_iter: int,
    tol: float,
) -> tuple[State, History, bool]:
    """Run a warm-up without correlations until it converges, then cycles with them."""
    limits: Fields = {"max_iter": max_iter, "tol": tol}
    start = random_start(problem, k, rng)
    start, _, warm = alternate(problem, start, WARM_UP, **limits)
    start = random_correlations(problem, start, k2, rng)
    state, history, converged = alternate(problem, start, CYCLE, **limits)
    return state, history, warm and converged


def _solve_right(S: Array, R: Array) -> Array:
    """Compute ``RS⁻¹`` for a positive definite S."""
    return scipy.linalg.solve(S, R.T, assume_a="pos", check_finite=False).T


def _conjugate_gradients(
    apply: Callable[[Array], Array],
    near_inverse: Callable[[Array], Array],
    R: Array,
    start: Array,
) -> Array:
    """Solve ``apply(x) = R`` from ``start``; no step increases the quadratic form."""

    def flat(f: Callable[[Array], Array]) -> LinearOperator:
        return LinearOperator(
            (R.size, R.size), lambda x: f(x.reshape(R.shape)).ravel(), dtype=float
        )

    M, limits = flat(near_inverse), {"rtol": 1e-8, "maxiter": _GRADIENTS}
    x, _ = cg(flat(apply), R.ravel(), start.ravel(), M=M, **limits)
    return x.reshape(R.shape)
