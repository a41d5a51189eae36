"""The exact minimisers of one block of the objective with the others held.

Simplified by ``L1 = 0``: the graph term sees neither z nor t.
"""

from __future__ import annotations

import numpy as np

from homi.linalg import Array, Pencil, solve_psd, solve_two_sided
from homi.solver.nouns import Params, Problem


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
    """(W, z) together: Eq. (10) with Eq. (14) put into it."""
    W = _solve_W(problem.joint_pencil, params.B, problem.joint_C)
    return update_z(problem, params._replace(W=W))


def update_Bt(problem: Problem, params: Params) -> Params:
    """(B, t) together: Eq. (13) with Eq. (15) put into it."""
    R = problem.beta * problem.joint_YtY
    B = solve_psd(R + _label_penalty(problem, params.W), R)
    return update_t(problem, params._replace(B=B))


def _solve_W(pencil: Pencil, B: Array, R: Array) -> Array:
    return solve_two_sided(pencil, B @ B.T, R)


def _label_penalty(problem: Problem, W: Array) -> Array:
    """λI + γWᵀHW."""
    penalty = problem.lam * np.eye(problem.n_labels)
    return penalty if problem.H is None else penalty + W.T @ problem.H @ W


#: One sweep of each kind. The order of z and B in the paper's makes no difference:
#: z does not depend on B, nor B on z.
SWEEPS = {
    "paper": (update_W, update_B, update_z, update_t),
    "joint": (update_Wz, update_Bt),
}
