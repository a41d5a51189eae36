"""Leave-one-out scores in closed form: each row by the model of all other rows.

With B and the graph held, (W, z) is linear in Y. In the eigenbasis of ``BBᵀ`` every
rotated label is a ridge regression with its own penalty ``λI + γθH``, and the leverage
of a row gives the score without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.linalg

from homi.arrays import dense
from homi.linalg import Array, Matrix
from homi.solver.label_weights import features_of, graph_of, shares
from homi.solver.problem import Problem

#: Numbers in a block of rows: 16 MB.
_BLOCK = 2**21


def leave_one_out(
    problem: Problem,
    X: Matrix,
    Y: Matrix,
    B: Array,
    *,
    mean: Array | None = None,
    scale: Array | None = None,
    weights: Array | None = None,
) -> Array:
    """Compute ``XW + 1zᵀ``, each row by the (W, z) of all other rows.

    Parameters
    ----------
    problem : Problem
        Moments of the rows ``(X - mean) / scale`` and their labels.
    X, Y : array or CSR matrix of n_samples rows
        Rows from which the moments were computed, and their labels.
    B : ndarray of shape (n_labels, n_labels)
        Label correlations. They are held, as is the graph: both keep the row that is
        left out. B must be the identity where labels have weights.
    mean, scale : ndarray of shape (n_features,), or None
        Scaling of the moments; None for unscaled rows.
    weights : ndarray of shape (n_samples,), or None
        Sample weights of the moments. A row is left out with all its weight.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        Finite everywhere: a row of leverage 1 gets the mean of the labels.
    """
    if problem.label_weight is not None:
        return _of_weighted_labels(problem, X, Y, mean, scale, weights)
    theta, Q = scipy.linalg.eigh(B @ B.T, check_finite=False)
    mu, V = problem.joint_pencil
    D = 1.0 / (1.0 + np.outer(mu, np.maximum(theta, 0.0)))
    coefficients = D * (V.T @ problem.joint_C @ Q)
    weight_of_mean = 1.0 / (problem.moments.n + problem.bias_lam)
    offset = weight_of_mean * problem.moments.b @ Q
    scores = np.empty((X.shape[0], len(Q)))
    for rows, P in projected(problem, X, V, mean, scale):
        y = Y[rows] @ Q
        fitted = P @ coefficients + offset
        leverage = (P * P) @ D + weight_of_mean
        if weights is not None:
            leverage *= weights[rows, None]
        scores[rows] = without_own(fitted, leverage, y, offset) @ Q.T
    return scores


def _of_weighted_labels(
    problem: Problem,
    X: Matrix,
    Y: Matrix,
    mean: Array | None,
    scale: Array | None,
    weights: Array | None,
) -> Array:
    """Leave-one-out scores for B = I, with the penalty relative to label weights."""
    assert problem.label_weight is not None
    features = features_of(problem)
    mu, V = features.pencil(features.ridge + graph_of(problem))
    D = shares(mu, problem.label_weight)
    coefficients = D * (V.T @ features.products)
    centered = Problem(replace(problem.moments, n=1.0), lam=0.0)
    scores = np.empty((X.shape[0], problem.n_labels))
    for rows, P in projected(centered, X, V[:-1], mean, scale):
        P += V[-1]
        leverage = (P * P) @ D
        if weights is not None:
            leverage *= weights[rows, None]
        y = dense(Y[rows])
        average = problem.moments.y_mean
        scores[rows] = without_own(P @ coefficients, leverage, y, average)
    return scores


def projected(
    problem: Problem, X: Matrix, V: Array, mean: Array | None, scale: Array | None
) -> Iterator[tuple[slice, Array]]:
    """Yield ``(x - a/(n+λ))ᵀV`` of blocks of rows, x scaled as in the moments."""
    moments = problem.moments
    center = moments.n * moments.x_mean / (moments.n + problem.bias_lam)
    if scale is not None:
        V = V / scale[:, None]
        center = center * scale
    if mean is not None:
        center = center + mean
    shift = center @ V
    step = max(1, _BLOCK // max(1, V.shape[1]))
    for first in range(0, X.shape[0], step):
        rows = slice(first, first + step)
        P = X[rows] @ V
        P -= shift
        yield rows, P


def without_own(fitted: Array, leverage: Array, y: Array, mean: Array) -> Array:
    """Return ``(f - h y) / (1 - h)``, and the mean where h is 1."""
    rest = 1.0 - leverage
    alone = rest <= 1e-12
    if not alone.any():
        return (fitted - leverage * y) / rest
    rest[alone] = 1.0
    return np.where(alone, mean, (fitted - leverage * y) / rest)
