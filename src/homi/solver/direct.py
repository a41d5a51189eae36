"""Models whose B is not learnt together with W: both have closed forms.

The paper learns B from the labels and applies it to scores. Here B is the identity, or
it is learnt from what it will be applied to: scores of rows by a model that has not
seen them.
"""

from __future__ import annotations

import numpy as np

from homi import threads
from homi.linalg import Array
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
    B, t = Correction(P, Y, weights, label_weight)(beta)
    return params._replace(B=B, t=t)


class Correction:
    r"""B and t of scores P by each other, drawn to no correction.

    .. math:: \min_{B, t} \beta \frac{l}{\|P_c\|^2} \|Y - PB - 1t^T\|^2 + \|B - I\|^2

    with :math:`P_c` the scores less their means, so that the units of the scores do
    not matter. All sums and means are over rows by their ``weights``; a label's errors
    count by its ``label_weight``. The rows are gone through once, and one eigenvalue
    problem serves every β.
    """

    def __init__(
        self,
        P: Array,
        Y: Array,
        weights: Array | None = None,
        label_weight: Array | None = None,
    ) -> None:
        self._p, self._y = (np.average(A, axis=0, weights=weights) for A in (P, Y))
        Pc, Yc = P - self._p, Y - self._y
        if weights is not None:
            root = np.sqrt(weights)[:, None]
            Pc, Yc = root * Pc, root * Yc
        self._square = float(np.vdot(Pc, Pc))
        self._label_weight = 1.0 if label_weight is None else label_weight
        sigma, self._U = np.linalg.eigh(Pc.T @ Pc)
        self._sigma = np.maximum(sigma, 0.0)[:, None]
        self._R = self._U.T @ (Pc.T @ (Yc - Pc))

    def __call__(self, beta: float) -> tuple[Array, Array]:
        """``b_j = e_j + (ω_j P_cᵀP_c + ridge I)⁻¹ ω_j P_cᵀ(y_j - p_j)``, and t."""
        n_labels = len(self._p)
        # Any penalty will do for scores that are constant.
        ridge = self._square / (beta * n_labels) or 1.0
        B = self._U @ (self._R / (self._sigma + ridge / self._label_weight))
        B.flat[:: n_labels + 1] += 1.0
        return B, self._y - self._p @ B
