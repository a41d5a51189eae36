"""Models whose B is not learnt together with W: both have closed forms.

The paper learns B from the labels and applies it to scores. Here B is the identity, or
it is learnt from what it will be applied to: scores of rows by a model that has not
seen them.
"""

from __future__ import annotations

import numpy as np

from homi import threads
from homi.linalg import Array, solve_psd
from homi.solver.label_weights import solve_weighted_identity
from homi.solver.nouns import Params, Problem, Solution, zero_params
from homi.solver.objective import objective
from homi.solver.updates import update_Wz


def solve_identity(problem: Problem) -> Solution:
    """B = I and t = 0: ridge regression with the graph, each label for itself."""
    if problem.label_weight is not None:
        return solve_weighted_identity(problem, problem.label_weight)
    size = max(problem.n_features, problem.n_labels)
    with threads.for_product(size, size, size):
        params = zero_params(problem)._replace(B=np.eye(problem.n_labels))
        params = update_Wz(problem, params)
        terms = objective(problem, params)
    return Solution(params, [terms], converged=True)


def correct(
    params: Params,
    P: Array,
    Y: Array,
    beta: float,
    weights: Array | None = None,
    label_weight: Array | None = None,
) -> Params:
    """B and t that correct held-out scores P by each other."""
    B, t = correction(P, Y, beta, weights, label_weight)
    return params._replace(B=B, t=t)


def correction(
    P: Array,
    Y: Array,
    beta: float,
    weights: Array | None = None,
    label_weight: Array | None = None,
) -> tuple[Array, Array]:
    r"""B and t of scores P by each other, drawn to no correction.

    .. math:: \min_{B, t} \beta \frac{l}{\|P_c\|^2} \|Y - PB - 1t^T\|^2 + \|B - I\|^2

    with :math:`P_c` the scores less their means, so that the units of the scores do
    not matter. All sums and means are over rows by their ``weights``; a label's errors
    count by its ``label_weight``.
    """
    p, y = (np.average(A, axis=0, weights=weights) for A in (P, Y))
    Pc, Yc = P - p, Y - y
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        Pc, Yc = root * Pc, root * Yc
    # Any penalty will do for scores that are constant.
    ridge = float(np.vdot(Pc, Pc)) / (beta * len(p)) or 1.0
    B = _ridge_regression(Pc.T @ Pc, Pc.T @ (Yc - Pc), ridge, label_weight)
    B.flat[:: len(p) + 1] += 1.0
    return B, y - p @ B


def _ridge_regression(
    G: Array, R: Array, ridge: float, label_weight: Array | None
) -> Array:
    """``(ω_j G + ridge I)⁻¹ ω_j r_j`` for every label j."""
    if label_weight is None:
        return solve_psd(G + ridge * np.eye(len(G)), R)
    sigma, U = np.linalg.eigh(G)
    kept = 1.0 / (np.maximum(sigma, 0.0)[:, None] + ridge / label_weight)
    return U @ (kept * (U.T @ R))
