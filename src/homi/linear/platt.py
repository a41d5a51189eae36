"""Platt scaling: map the margins of each label to probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.arrays import dense
from homi.linalg import Array, Matrix

#: Entries of a block of scores: 4 MB, so that several fit in the cache.
_BLOCK = 2**19
#: Absolute slope, for scores of variance 1, if the optimal slope is not negative.
_FLAT = 1e-6
#: Added to curvatures, which vanish where all probabilities are near 0 or 1.
_RIDGE = 1e-12
#: Maximum number of steps, and of step lengths tried for each.
_MAX_ITER, _TRIALS = 100, 30
#: Predicted decrease, as a share of the cross-entropy, at which Newton's method stops.
#: The next step would gain about its square.
_TOL = 1e-9


class Sigmoids(NamedTuple):
    """Probabilities 1 / (1 + exp(slope f + offset)) of scores f, for each label.

    Slopes are not positive: probabilities never decrease as scores increase.
    """

    slope: Array
    offset: Array

    def __call__(self, scores: Array) -> Array:
        """Return probabilities, strictly between 0 and 1."""
        # Overflow gives infinity, and so probability 0.
        with np.errstate(over="ignore"):
            P = np.exp(self.slope * scores + self.offset)
        P += 1.0
        np.divide(1.0, P, out=P)
        np.maximum(P, np.nextafter(0.0, 1.0), out=P)
        return np.minimum(P, np.nextafter(1.0, 0.0), out=P)


def fit_sigmoids(scores: Array, Y: Matrix, weights: Array | None = None) -> Sigmoids:
    """Fit Platt's sigmoid to each label by maximum likelihood.

    The targets are Platt's: (N₊ + 1)/(N₊ + 2) for positives and 1/(N₋ + 2) for
    negatives, so that slopes stay finite where scores separate the classes. A label
    that is constant, or has constant scores, gets a constant probability.

    Where the maximum-likelihood slope is not negative (scores no better than chance),
    the slope is -1e-6 divided by the standard deviation of the scores: probabilities
    are nearly constant, but keep the order of the scores.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Cross-validated scores.
    Y : array or sparse matrix of shape (n_samples, n_labels)
        Their labels, 0 or 1.
    weights : ndarray of shape (n_samples, n_labels), or None
        Weight of each entry; None means 1 each.

    Returns
    -------
    sigmoids : Sigmoids
        One sigmoid for each label.
    """
    n, q = scores.shape
    Y = sparse.csc_array(Y) if sparse.issparse(Y) else np.asarray(Y)
    width = max(1, _BLOCK // n)
    parts = [slice(first, first + width) for first in range(0, q, width)]
    fitted = [
        _fit_block(
            scores[:, part],
            Y[:, part],
            None if weights is None else weights[:, part],
        )
        for part in parts
    ]
    return Sigmoids(*(np.concatenate(piece) for piece in zip(*fitted, strict=True)))


def _fit_block(scores: Array, Y: Matrix, W: Array | None) -> Sigmoids:
    """Fit on scores of mean 0 and variance 1, then convert to the original scores."""
    y = dense(Y) > 0
    positives = np.count_nonzero(y, axis=0) if W is None else (W * y).sum(axis=0)
    negatives = (len(y) if W is None else W.sum(axis=0)) - positives
    targets = np.where(y, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    mean, deviation = scores.mean(axis=0), scores.std(axis=0)
    if W is not None:
        mean = _mean(scores, W)
        deviation = np.sqrt(_mean((scores - mean) ** 2, W))
    flat = (positives == 0) | (negatives == 0) | (deviation <= 1e-12 * np.abs(mean))
    unit = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
    slope, offset = _newton((scores - mean) * unit, targets, W)
    rising = slope >= 0.0
    slope = np.where(rising, -_FLAT, slope)
    offset = np.where(rising, _log_odds(1.0 - _mean(targets, W)), offset)
    slope *= unit
    return Sigmoids(slope, offset - slope * mean)


def _log_odds(p: Array) -> Array:
    return np.log(p / (1.0 - p))


def _mean(A: Array, W: Array | None) -> Array:
    """Return the weighted mean of each column; unweighted if all weights are 0."""
    if W is None:
        return A.mean(axis=0)
    total = W.sum(axis=0)
    sums = np.einsum("ij,ij->j", W, A)
    return np.where(total > 0, sums / np.where(total > 0, total, 1.0), A.mean(axis=0))


def _newton(Z: Array, targets: Array, W: Array | None) -> tuple[Array, Array]:
    """Minimize the cross-entropy over slopes and offsets, starting from slope 0."""
    offset = _log_odds(1.0 - _mean(targets, W))
    lines = np.vstack([np.zeros_like(offset), offset])
    labels = np.arange(len(offset))
    p, value = _evaluate(Z, targets, lines, W)
    for _ in range(_MAX_ITER):
        here = lines[:, labels], p, value
        lines[:, labels], p, value, done = _step(Z, targets, *here, W)
        if done.any():
            labels, left = labels[~done], ~done
            Z, targets, p, value = Z[:, left], targets[:, left], p[:, left], value[left]
            W = None if W is None else W[:, left]
        if not len(labels):
            break
    return lines[0], lines[1]


def _step(
    Z: Array, targets: Array, line: Array, p: Array, value: Array, W: Array | None
) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Take a Newton step, halved until it decreases the cross-entropy.

    Also return the new probabilities and cross-entropies, and whether the step was so
    short that the next one would be a rounding error.
    """
    error = targets - p
    if W is not None:
        error *= W
    g = np.vstack([np.einsum("ij,ij->j", Z, error), error.sum(axis=0)])
    direction = _direction(Z, p, g, W)
    done = -(g * direction).sum(axis=0) <= _TOL * value
    step = np.ones_like(value)
    for _ in range(_TRIALS):
        there = line + step * direction
        p, reached = _evaluate(Z, targets, there, W)
        worse = ~done & (reached > value)
        if not worse.any():
            break
        step[worse] *= 0.5
    return there, p, reached, done


def _evaluate(
    Z: Array, targets: Array, line: Array, W: Array | None
) -> tuple[Array, Array]:
    """Return p = 1 / (1 + exp(u)), and -Σ t log p + (1 - t) log(1 - p)."""
    u = line[0] * Z + line[1]
    # Both need this exponential, which cannot overflow.
    small = np.exp(-np.abs(u))
    value = np.maximum(u, 0.0) - (1.0 - targets) * u + np.log(1.0 + small)
    p = np.where(u > 0.0, small, 1.0) / (1.0 + small)
    if W is not None:
        value *= W
    return p, value.sum(axis=0)


def _direction(Z: Array, p: Array, g: Array, W: Array | None) -> Array:
    """Return -H⁻¹g for the 2 × 2 Hessian H of each label, plus a small ridge."""
    weight = p * (1.0 - p)
    if W is not None:
        weight *= W
    b = np.einsum("ij,ij->j", weight, Z)
    a = np.einsum("ij,ij,ij->j", weight, Z, Z) + _RIDGE
    c = weight.sum(axis=0) + _RIDGE
    determinant = a * c - b * b
    return np.vstack([b * g[1] - c * g[0], b * g[0] - a * g[1]]) / determinant
