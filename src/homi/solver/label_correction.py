"""B and t fitted to held-out scores, in closed form.

The paper fits B to the labels and applies it to scores. Here B is fitted to what it
will be applied to: the scores of rows by a model that has not seen them.
"""

from __future__ import annotations

import numpy as np

from homi.linalg import Array
from homi.solver.problem import Params


def correct(
    params: Params,
    P: Array,
    Y: Array,
    beta: float,
    weights: Array | None = None,
    label_weight: Array | None = None,
) -> Params:
    """Replace B and t by those that correct held-out scores P by each other."""
    B, t = Correction(P, Y, weights, label_weight)(beta)
    return params._replace(B=B, t=t)


class Correction:
    r"""Regression of labels Y on scores P, shrunk toward the identity.

    .. math:: \min_{B, t} \beta \frac{l}{\|P_c\|^2} \|Y - PB - 1t^T\|^2 + \|B - I\|^2

    with :math:`P_c` the centered scores, so that the scale of the scores has no effect.
    Sums and means are weighted by ``weights`` over rows, and errors by ``label_weight``
    over labels. One pass over the rows and one eigenvalue problem serve every β.
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
        # Constant scores need some penalty; any value gives the same B.
        ridge = self._square / (beta * n_labels) or 1.0
        B = self._U @ (self._R / (self._sigma + ridge / self._label_weight))
        B.flat[:: n_labels + 1] += 1.0
        return B, self._y - self._p @ B
