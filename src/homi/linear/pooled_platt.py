"""Platt scaling with slopes shrunk toward a mean that all labels share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from homi.linalg import Array
from homi.linear.platt import Sigmoids
from homi.typing import Indices

#: Precision of the prior of a log-slope: about the information of this many positives.
STRENGTH = 3.0
#: Strengths that ``choose_strength`` compares.
_STRENGTHS = (0.3, 3.0, 30.0)
#: Maximum step of a log-slope and of an offset.
_LONGEST = np.array([[1.0], [3.0]])


class PooledSigmoids(NamedTuple):
    """Sigmoids of all labels, which another fit can start from.

    ``line`` has log-slopes and offsets for scores of mean 0 and variance 1, so that a
    fit to scores of another scale can start from them.
    """

    slope: Array
    offset: Array
    line: Array

    def __call__(self, scores: Array) -> Array:
        """Return probabilities, strictly between 0 and 1."""
        return Sigmoids(self.slope, self.offset)(scores)


class _Fit(NamedTuple):
    """Scores of mean 0 and variance 1, with Platt's targets and weights.

    There is one row per label: sums over samples are then several times as fast.
    """

    Z: Array
    targets: Array
    weights: Array | None
    unit: Array
    mean: Array

    def of(self, some: Indices) -> _Fit:
        """Select some labels."""
        if len(some) == len(self.mean):
            return self
        w = self.weights
        w = w if w is None or w.ndim == 1 else w[some]
        return _Fit(
            self.Z[some], self.targets[some], w, self.unit[some], self.mean[some]
        )

    def sum(self, A: Array) -> Array:
        """Return the sum over samples."""
        return A.sum(axis=1) if self.weights is None else _sums(self.weights, A)


def fit_pooled_sigmoids(
    scores: Array,
    Y: Array,
    *,
    strength: float = STRENGTH,
    weights: Array | None = None,
    start: PooledSigmoids | None = None,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> PooledSigmoids:
    r"""Fit Platt's sigmoids with a common prior on their slopes.

    The slope of each label, for scores of variance 1, is :math:`e^{a}` with
    :math:`a \sim N(m, 1/k)`; m is the mean over all labels, weighted by their
    information. A label with few positives has little information, so its slope is
    close to the common one. Slopes are never negative. Offsets have no prior: the
    probabilities of each label have the same sum as Platt's targets.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Cross-validated scores.
    Y : ndarray of shape (n_samples, n_labels)
        Their labels, 0 or 1.
    strength : float
        Precision k of the prior.
    weights : ndarray of shape (n_samples,) or (n_samples, n_labels), or None
        Weights of the rows, or of the entries: 0 for a missing label. None means 1
        each.
    start : PooledSigmoids or None
        Sigmoids of similar scores to start from.
    tol : float
        Stop when the expected decrease of every label's loss is at most this.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    sigmoids : PooledSigmoids
        One sigmoid for each label. A label with constant scores, or without weight, has
        slope 0.
    """
    fit = _prepare(scores.T, Y.T, weights if weights is None else weights.T)
    line = _start(fit) if start is None else start.line.copy()
    trust, follow = np.ones(scores.shape[1]), np.zeros_like(line)
    some = np.arange(scores.shape[1])
    for _ in range(max_iter):
        middle = trust @ line[0] / max(trust.sum(), 1e-12)
        newton = _newton(fit.of(some), line[:, some], strength, middle)
        line[:, some] += newton.step
        trust[some], follow[:, some] = newton.trust, newton.follow
        # The steps move the mean, and the mean moves all slopes: solve for both.
        still = max(trust @ (1.0 - follow[0]), 1e-12)
        line += follow * np.clip(trust[some] @ newton.step[0] / still, -1.0, 1.0)
        moved = newton.decrease > tol
        if not moved.any() and len(some) == len(trust):
            break
        some = some[moved] if moved.any() else np.arange(len(trust))
    slope = np.exp(line[0]) * fit.unit
    return PooledSigmoids(-slope, slope * fit.mean - line[1], line)


def choose_strength(scores: Array, Y: Array, weights: Array | None = None) -> float:
    """Choose the strength with the highest likelihood in two-fold cross-validation."""
    halves = np.arange(len(Y)) % 2 == 0
    ones = Y if weights is None or weights.ndim == 1 else Y * weights
    if not ones[halves].any() or not ones[~halves].any():
        return STRENGTH
    losses = dict.fromkeys(_STRENGTHS, 0.0)
    for part in (halves, ~halves):
        seen = None if weights is None else weights[part]
        rest = None if weights is None else weights[~part]
        fitted = None
        for strength in _STRENGTHS:
            fitted = fit_pooled_sigmoids(
                scores[part], Y[part], strength=strength, weights=seen, start=fitted
            )
            losses[strength] += log_loss(Y[~part], fitted(scores[~part]), rest)
    return min(losses, key=losses.__getitem__)


def log_loss(Y: Array, P: Array, weights: Array | None = None) -> float:
    """Return the mean negative log-likelihood of labels, given probabilities.

    ``weights`` are per row or per entry. The loss is 0 if all weights are 0.
    """
    return mean_of_cells(-np.log(np.where(Y > 0, P, 1.0 - P)), weights)


def mean_of_cells(values: Array, weights: Array | None = None) -> float:
    """Return the mean with weights per row or per entry; 0 if all weights are 0."""
    if weights is None:
        return float(values.mean())
    if weights.ndim == 1:
        values = values.mean(axis=1)
    if not weights.any():
        return 0.0
    return float(np.average(values, weights=weights))


def _sums(weights: Array, A: Array) -> Array:
    """Return the weighted sum of each row."""
    if weights.ndim == 1:
        return A @ weights
    return np.einsum("ij,ij->i", weights, A)


def _prepare(scores: Array, Y: Array, weights: Array | None) -> _Fit:
    w = np.ones(Y.shape[1]) if weights is None else weights
    total = w.sum(axis=-1, keepdims=w.ndim == 2)
    ones = _column(_sums(w, Y))
    targets = np.where(Y > 0, (ones + 1) / (ones + 2), 1 / (total - ones + 2))
    # The mean and the deviation of a label without weight are 0.
    count = np.where(total > 0, total, 1.0)
    mean = _column(_sums(w, scores)) / count
    Z = scores - mean
    deviation = np.sqrt(_column(_sums(w, Z * Z)) / count)
    flat = deviation <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    unit = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, deviation))
    Z = np.multiply(Z, unit, order="C")
    return _Fit(Z, np.ascontiguousarray(targets), weights, unit[:, 0], mean[:, 0])


def _column(values: Array) -> Array:
    return values[:, None]


def _start(fit: _Fit) -> Array:
    """Return log-slopes 0, and the log-odds of each label's share as offsets."""
    total = fit.sum(np.ones((1, fit.Z.shape[1])))
    known = total > 0
    share = np.where(known, fit.sum(fit.targets) / np.where(known, total, 1.0), 0.5)
    share = np.clip(share, 1e-12, 1 - 1e-12)
    return np.vstack([np.zeros_like(share), np.log(share / (1.0 - share))])


class _Newton(NamedTuple):
    """Newton step of log-slopes and offsets.

    ``decrease`` is the expected decrease of each label's loss, ``trust`` the weight of
    its slope in the common mean, ``follow`` the derivative of its line with respect to
    that mean.
    """

    step: Array
    decrease: Array
    trust: Array
    follow: Array


def _newton(fit: _Fit, line: Array, strength: float, middle: float) -> _Newton:
    slope, offset = _column(np.exp(line[0])), _column(line[1])
    u = slope * fit.Z
    # Overflow gives infinity, and so p = 0.
    with np.errstate(over="ignore"):
        p = np.exp(-offset - u)
    p += 1.0
    np.divide(1.0, p, out=p)
    error = p - fit.targets
    p *= 1.0 - p
    h_bb = fit.sum(p) + 1e-12
    p *= u
    h_ab = fit.sum(p)
    p *= u
    h_aa = fit.sum(p)
    g_b = fit.sum(error)
    error *= u
    g_a = fit.sum(error)
    # Information of each label on its log-slope, with its offset profiled out.
    said = np.maximum(h_aa - h_ab * h_ab / h_bb, 0.0)
    # Drop a negative error term (Gauss-Newton): the Hessian is positive definite.
    h_aa = h_aa + strength + np.maximum(g_a, 0.0)
    g_a = g_a + strength * (line[0] - middle)
    determinant = h_aa * h_bb - h_ab * h_ab
    step = np.array([h_ab * g_b - h_bb * g_a, h_ab * g_a - h_aa * g_b]) / determinant
    decrease = -0.5 * (g_a * step[0] + g_b * step[1])
    follow = np.array([h_bb, -h_ab]) * (strength / determinant)
    clipped = np.minimum(np.maximum(step, -_LONGEST), _LONGEST)
    return _Newton(clipped, decrease, said / (said + strength), follow)
