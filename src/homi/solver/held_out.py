"""Scores of every row by the model that was learnt without it, in closed form.

With B and the graph held, (W, z) is linear in Y. In the eigenbasis of ``BBᵀ`` every
rotated label is a ridge regression with the penalty ``λI + γθH`` of its own, so that
leaving a row out changes its score by what its own label had of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from homi.linalg import Array, Pencil, factor_pencil, positive_eigenpairs
from homi.moments import Moments
from homi.solver.nouns import Problem

#: Numbers in a block of rows: 16 MB.
_BLOCK = 2**21


def leave_one_out(
    problem: Problem,
    X: Any,
    Y: Any,
    B: Array,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
    pencil: Pencil | None = None,
) -> Array:
    """``XW + 1zᵀ``, each row by the (W, z) of all other rows.

    Parameters
    ----------
    problem : Problem
        Moments of the rows ``(X - mean) / scale`` and their labels.
    X, Y : array or CSR matrix of n_samples rows
        The rows that the moments are of, and their labels.
    B : ndarray of shape (n_labels, n_labels)
        Held, as is the graph: rows that are left out keep their place in both.
    mean, scale : ndarray of shape (n_features,), or None
        Units of the moments; None for rows as they are.
    pencil : Pencil or None
        The problem's ``joint_pencil``, if it is at hand: with another γ only its
        eigenvalues change.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        NaN nowhere: a row that alone decides its score (leverage 1) keeps the score
        of the mean label.
    """
    theta, Q = scipy.linalg.eigh(B @ B.T, check_finite=False)
    mu, V = problem.joint_pencil if pencil is None else pencil
    D = 1.0 / (1.0 + np.outer(mu, np.maximum(theta, 0.0)))
    coefficients = D * (V.T @ problem.joint_C @ Q)
    weight_of_mean = 1.0 / (problem.moments.n + problem.bias_lam)
    offset = weight_of_mean * problem.moments.b @ Q
    scores = np.empty((X.shape[0], len(Q)))
    for rows, P in _projected(problem, X, V, mean, scale):
        y = Y[rows] @ Q
        fitted = P @ coefficients + offset
        leverage = (P * P) @ D + weight_of_mean
        scores[rows] = _without_own(fitted, leverage, y, offset) @ Q.T
    return scores


def _projected(
    problem: Problem, X: Any, V: Array, mean: Array | None, scale: Array | None
) -> Iterator[tuple[slice, Array]]:
    """``(x - a/(n+λ))ᵀV`` of blocks of rows, x in the units of the moments."""
    moments = problem.moments
    centre = moments.n * moments.x_mean / (moments.n + problem.bias_lam)
    if scale is not None:
        V = V / scale[:, None]
        centre = centre * scale
    if mean is not None:
        centre = centre + mean
    shift = centre @ V
    step = max(1, _BLOCK // max(1, V.shape[1]))
    for first in range(0, X.shape[0], step):
        rows = slice(first, first + step)
        yield rows, X[rows] @ V - shift


def _without_own(fitted: Array, leverage: Array, y: Array, mean: Array) -> Array:
    """``(f - h y) / (1 - h)``, and the mean where h is 1."""
    rest = 1.0 - leverage
    alone = rest <= 1e-12
    rest[alone] = 1.0
    return np.where(alone, mean, (fitted - leverage * y) / rest)


@dataclass(frozen=True)
class Path:
    """Rows in coordinates that serve many ridge regressions with free biases.

    Along a path every candidate's Gram matrix is diagonal: ``values + λ`` without a
    graph, ``1 + γ values`` with one and λ held. So it costs one product with the
    rows, which are kept here, and no factorisation.
    """

    values: Array
    V: Array
    P: Array  # rows less their mean, times V
    C: Array  # PᵀY
    y_mean: Array

    def held_out(self, Y: Array, inverse: Array) -> Array:
        """Scores, each row by the model of all others; ``inverse`` of the diagonal."""
        fitted = self.P @ (inverse[:, None] * self.C) + self.y_mean
        leverage = np.einsum("ij,ij,j->i", self.P, self.P, inverse) + 1.0 / len(Y)
        return _without_own(fitted, leverage[:, None], Y, self.y_mean)

    def weights(self, inverse: Array) -> Array:
        """W in the units of the moments."""
        return self.V @ (inverse[:, None] * self.C)


def ridge_path(
    moments: Moments, X: Any, mean: Array | None = None, scale: Array | None = None
) -> Path:
    """Every λ without a graph, from one eigenvalue problem."""
    values, V = positive_eigenpairs(moments.Sxx)
    return _path(moments, X, Pencil(values, V), mean, scale)


def graph_path(
    moments: Moments,
    X: Any,
    lam: float,
    mean: Array | None = None,
    scale: Array | None = None,
) -> Path:
    """Every γ with the graph of the moments, for one λ."""
    gram = moments.Sxx + lam * np.eye(len(moments.x_mean))
    return _path(moments, X, factor_pencil(gram, moments.H), mean, scale)


def _path(
    moments: Moments, X: Any, pencil: Pencil, mean: Array | None, scale: Array | None
) -> Path:
    values, V = pencil
    # With free biases the penalty of z has no part in it: rows less their mean.
    free = Problem(moments, penalize_bias=False)
    P = np.empty((X.shape[0], V.shape[1]))
    for rows, block in _projected(free, X, V, mean, scale):
        P[rows] = block
    return Path(values, V, P, V.T @ moments.Sxy, moments.y_mean)
