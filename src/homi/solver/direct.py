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
    r"""B and t that correct held-out scores P by each other, drawn to no correction.

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
    B = np.eye(len(p)) + _correction(Pc, Yc - Pc, beta, label_weight)
    return params._replace(B=B, t=y - p @ B)


def corrected_without_own(P: Array, Y: Array, beta: float) -> Array:
    """Scores P corrected as by :func:`correct`, each row without its own labels."""
    Pc, rest = P - P.mean(axis=0), Y - P
    fitted = Pc @ _correction(Pc, rest - rest.mean(axis=0), beta) + rest.mean(axis=0)
    ridge = Pc.T @ Pc + _ridge(Pc, beta) * np.eye(P.shape[1])
    leverage = np.einsum("ij,ij->i", Pc, solve_psd(ridge, Pc.T).T) + 1.0 / len(P)
    left = np.maximum(1.0 - leverage, 1e-12)[:, None]
    return P + rest - (rest - fitted) / left


def _correction(
    Pc: Array, rest: Array, beta: float, label_weight: Array | None = None
) -> Array:
    """``B - I``: ridge regression of what is left of the labels on the scores."""
    ridge = _ridge(Pc, beta)
    if label_weight is not None:
        sigma, U = np.linalg.eigh(Pc.T @ Pc)
        kept = 1.0 / (np.maximum(sigma, 0.0)[:, None] + ridge / label_weight)
        return U @ (kept * (U.T @ (Pc.T @ rest)))
    return solve_psd(Pc.T @ Pc + ridge * np.eye(Pc.shape[1]), Pc.T @ rest)


def _ridge(Pc: Array, beta: float) -> float:
    """The penalty, in units of the scores' squares; any will do for constant ones."""
    return float(np.vdot(Pc, Pc)) / (beta * Pc.shape[1]) or 1.0
