"""Models whose B is not learnt together with W: both have closed forms.

The paper learns B from the labels and applies it to scores. Here B is the identity, or
it is learnt from what it will be applied to: scores of rows by a model that has not
seen them.
"""

from __future__ import annotations

import numpy as np

from homi import threads
from homi.linalg import Array, solve_psd
from homi.solver.nouns import Params, Problem, Solution, zero_params
from homi.solver.objective import objective
from homi.solver.updates import update_Wz


def solve_identity(problem: Problem) -> Solution:
    """B = I and t = 0: ridge regression with the graph, each label for itself."""
    size = max(problem.n_features, problem.n_labels)
    with threads.for_product(size, size, size):
        params = zero_params(problem)._replace(B=np.eye(problem.n_labels))
        params = update_Wz(problem, params)
        terms = objective(problem, params)
    return Solution(params, [terms], converged=True)


def correct(params: Params, P: Array, Y: Array, beta: float) -> Params:
    """B and t that correct held-out scores P by each other."""
    B, t = correction(P, Y, beta)
    return params._replace(B=B, t=t)


def correction(P: Array, Y: Array, beta: float) -> tuple[Array, Array]:
    r"""B and t of scores P by each other, drawn to no correction.

    .. math:: \min_{B, t} \beta \frac{l}{\|P_c\|^2} \|Y - PB - 1t^T\|^2 + \|B - I\|^2

    with :math:`P_c` the scores less their means, so that the units of the scores do
    not matter.
    """
    p, y = P.mean(axis=0), Y.mean(axis=0)
    Pc = P - p
    # Any penalty will do for scores that are constant.
    ridge = float(np.vdot(Pc, Pc)) / (beta * len(p)) or 1.0
    B = solve_psd(Pc.T @ Pc + ridge * np.eye(len(p)), Pc.T @ (Y - y - Pc))
    B.flat[:: len(p) + 1] += 1.0
    return B, y - p @ B
