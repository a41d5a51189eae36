"""Linear discriminant analysis of label sets: which set explains the log-odds of a row.

The log-odds s of rows with label set T are taken as normal, with one covariance R and
the mean ``m + Aᵀ(T - ȳ) + d_T``. The part that is linear in the labels gives sets that
are rare, or that occur once, a mean, too; the deviation d_T of a set is shrunk toward 0
by its number of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.joint.label_sets import LabelSets
from homi.typing import Array

#: Ridge of the regression of log-odds on labels, in rows.
_RIDGE = 5.0
#: Weight of the linear mean of a set against its own, in rows.
_LINEAR_ROWS = 20.0
#: Shares of its diagonal that may be added to the covariance.
SHRINKAGES = (0.05, 1.0)
#: With more labels there are hardly two rows of a set, and the fit is slow.
MOST_LABELS = 200


class Discriminant(NamedTuple):
    """Log-density of log-odds given a label set, up to a constant of the row.

    Attributes
    ----------
    directions : ndarray of shape (n_sets, n_labels)
        ``R⁻¹μ_T`` with the mean ``m + μ_T`` of each set.
    center : ndarray of shape (n_labels,)
        m, the mean log-odds.
    quadratic : ndarray of shape (n_sets,)
        ``-μ_Tᵀ R⁻¹ μ_T / 2`` of each set.
    """

    directions: Array
    center: Array
    quadratic: Array

    def features(self, odds: Array) -> list[Array]:
        """Return ``(s - m)ᵀ R⁻¹μ_T`` and the quadratic term, for each row and set."""
        linear = (odds - self.center) @ self.directions.T
        return [linear, np.broadcast_to(self.quadratic, linear.shape)]


def fit_discriminant(
    odds: Array, Y: Array, sets: LabelSets, shrinkage: float
) -> Discriminant | None:
    """Fit the discriminant to held-out log-odds; None for too many labels."""
    q = Y.shape[1]
    if q > MOST_LABELS:
        return None
    y_mean, center = Y.mean(axis=0), odds.mean(axis=0)
    T, S = Y - y_mean, odds - center
    A = scipy.linalg.solve(T.T @ T + _RIDGE * np.eye(q), T.T @ S, assume_a="pos")
    residual = S - T @ A
    place, rows = sets.places(Y)
    own = np.zeros_like(sets.members)
    np.add.at(own, place, residual[rows])
    count = np.bincount(place, minlength=len(own))
    own /= count[:, None] + _LINEAR_ROWS
    residual[rows] -= own[place]
    R = residual.T @ residual / len(S)
    R += np.diag(shrinkage * np.diag(R) + 1e-6)
    means = (sets.members - y_mean) @ A + own
    directions = scipy.linalg.solve(R, means.T, assume_a="pos").T
    quadratic = -0.5 * np.einsum("ti,ti->t", directions, means)
    return Discriminant(directions, center, quadratic)
