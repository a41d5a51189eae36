"""Linear discriminant analysis of label sets: which set explains the log-odds of a row.

The log-odds s of rows with label set T are taken as normal, with one covariance R and
means that are linear in the labels: ``m + Aᵀ(T - ȳ)``. Sets that are rare, or that
occur once, have a mean, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.joint.label_sets import LabelSets
from homi.typing import Array

#: Ridge of the regression of log-odds on labels, in rows.
_RIDGE = 5.0
#: Shares of its diagonal that may be added to the covariance.
SHRINKAGES = (0.05, 1.0)
#: With more labels there are hardly two rows of a set, and the fit is slow.
MOST_LABELS = 200


class Discriminant(NamedTuple):
    """Log-density of log-odds given a label set, up to a constant of the row.

    Attributes
    ----------
    matrix : ndarray of shape (n_labels, n_labels)
        ``M = R⁻¹Aᵀ``: what log-odds say about labels.
    center : ndarray of shape (n_labels,)
        m, the mean log-odds.
    quadratic : ndarray of shape (n_sets,)
        ``-(T - ȳ)ᵀ A M (T - ȳ) / 2`` of each set.
    """

    matrix: Array
    center: Array
    quadratic: Array

    def features(self, odds: Array, members: Array) -> list[Array]:
        """Return ``(s - m)ᵀ M T`` and the quadratic term, for each row and set."""
        linear = (odds - self.center) @ self.matrix @ members.T
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
    R = residual.T @ residual / len(S)
    R += np.diag(shrinkage * np.diag(R) + 1e-6)
    M = scipy.linalg.solve(R, A.T, assume_a="pos")
    members = sets.members - y_mean
    quadratic = -0.5 * np.einsum("ti,ti->t", members @ (A @ M), members)
    return Discriminant(M, center, quadratic)
