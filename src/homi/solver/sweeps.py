"""Plain sweeps: exact minimizers of one block with the others held, taken in turn.

Simplified by ``L1 = 0``: the graph term sees neither z nor t.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from homi.linalg import Array, Pencil, solve_psd, solve_two_sided
from homi.solver.descend import has_converged
from homi.solver.problem import OnSweep, Params, Problem, Solution, objective, total

Update = Callable[[Problem, Params], Params]


def update_W(problem: Problem, params: Params) -> Params:
    """Eq. (10): (G + λI)W + γHWBBᵀ = C - azᵀ."""
    R = problem.moments.C - np.outer(problem.moments.a, params.z)
    return params._replace(W=_solve_W(problem.pencil, params.B, R))


def update_z(problem: Problem, params: Params) -> Params:
    """Eq. (14): z = (b - Wᵀa) / (n + λ)."""
    moments = problem.moments
    z = (moments.b - params.W.T @ moments.a) / (moments.n + problem.bias_lam)
    return params._replace(z=z)


def update_B(problem: Problem, params: Params) -> Params:
    """Eq. (13): (βYᵀY + λI + γWᵀHW)B = βYᵀY - βbtᵀ."""
    moments = problem.moments
    R = problem.beta * (moments.YtY - np.outer(moments.b, params.t))
    A = problem.beta * moments.YtY + _label_penalty(problem, params.W)
    return params._replace(B=solve_psd(A, R))


def update_t(problem: Problem, params: Params) -> Params:
    """Eq. (15): t = β(b - Bᵀb) / (βn + λ)."""
    b, beta = problem.moments.b, problem.beta
    t = beta * (b - params.B.T @ b) / (beta * problem.moments.n + problem.bias_lam)
    return params._replace(t=t)


def update_Wz(problem: Problem, params: Params) -> Params:
    """(W, z) together: Eq. (10) with Eq. (14) substituted."""
    W = _solve_W(problem.joint_pencil, params.B, problem.joint_C)
    return update_z(problem, params._replace(W=W))


def update_Bt(problem: Problem, params: Params) -> Params:
    """(B, t) together: Eq. (13) with Eq. (15) substituted."""
    R = problem.beta * problem.joint_YtY
    B = solve_psd(R + _label_penalty(problem, params.W), R)
    return update_t(problem, params._replace(B=B))


def _solve_W(pencil: Pencil, B: Array, R: Array) -> Array:
    return solve_two_sided(pencil, B @ B.T, R)


def _label_penalty(problem: Problem, W: Array) -> Array:
    """λI + γWᵀHW."""
    penalty = problem.lam * np.eye(problem.n_labels)
    return penalty if problem.H is None else penalty + W.T @ problem.H @ W


#: One sweep of each kind. The order of z and B in the paper's sweep has no effect:
#: z does not depend on B, nor B on z.
SWEEPS: dict[str, tuple[Update, ...]] = {
    "paper": (update_W, update_B, update_z, update_t),
    "joint": (update_Wz, update_Bt),
}


def alternate(
    problem: Problem,
    params: Params,
    updates: tuple[Update, ...],
    *,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None = None,
) -> Solution:
    """Apply the updates in turn until a sweep gains too little."""
    history, before = [], total(objective(problem, params))
    for _ in range(max_iter):
        for update in updates:
            params = update(problem, params)
        history.append(objective(problem, params))
        after = total(history[-1])
        stop = on_sweep is not None and on_sweep(history[-1], partial(_itself, params))
        if has_converged(before, after, tol):
            return Solution(params, history, converged=True)
        if stop:
            break
        before = after
    return Solution(params, history, converged=False)


def _itself(params: Params) -> Params:
    return params
