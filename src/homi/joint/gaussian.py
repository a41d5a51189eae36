"""Gaussian conditionals of scaled residuals: closed forms for any set of known labels.

A residual is a label minus its probability, divided by the standard deviation of the
label. C is the covariance of the residuals of a row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg
from scipy.special import expit

from homi.joint.low_rank import MANY_LABELS, Covariance, LowRank
from homi.typing import Array, Indices, Mask

#: Least variance of a label. A rare label that occurs has no huge residual then.
LEAST_VARIANCE = 0.02 * 0.98
#: Added to the diagonal, for labels that are constant.
_JITTER = 1e-6
#: With this many known sets or more, a precision matrix of all labels is faster.
_MANY_SETS = 8


def deviations(P: Array) -> Array:
    """Return standard deviations of labels with probabilities P, bounded from below."""
    return np.sqrt(np.maximum(P * (1.0 - P), LEAST_VARIANCE))


def scaled_residuals(log_odds: Array, Y: Array) -> Array:
    """``(y - p) / sd``, 0 for a missing label."""
    P = expit(log_odds)
    return np.where(np.isnan(Y), 0.0, (Y - P) / deviations(P))


def covariance(
    residuals: Array, weights: Array | None = None, seen: Mask | None = None
) -> Covariance:
    """``EᵀE / n``: second moments of the residuals; their means are near 0.

    Where labels are missing, n is the number of rows that have both labels, and the
    result is made positive semi-definite. ``seen`` are those that are not missing.
    Of more than 2,000 labels it has low rank plus a diagonal, and the covariance of two
    labels is divided by the geometric mean of their numbers of rows.
    """
    root = None if weights is None else np.sqrt(weights / weights.mean())[:, None]
    # The product of a matrix with itself is symmetric, bit for bit.
    E = residuals if root is None else residuals * root
    if E.shape[1] > MANY_LABELS:
        return _of_many_labels(E, seen, root)
    if seen is None or seen.all():
        return E.T @ E / len(E)
    there = seen.astype(np.float64) if root is None else seen * root
    C = E.T @ E / np.maximum(there.T @ there, 1.0)
    values, V = scipy.linalg.eigh(C)
    V *= np.sqrt(np.maximum(values, 0.0))
    return V @ V.T


def _of_many_labels(E: Array, seen: Mask | None, root: Array | None) -> LowRank:
    there = np.ones((len(E), 1)) if seen is None else seen
    counts = (there if root is None else there * root**2).sum(axis=0)
    E = E / np.sqrt(np.maximum(counts, 1.0))
    return LowRank.of(E, np.einsum("ij,ij->j", E, E))


def shrunk(C: Covariance, strength: float) -> Covariance:
    """``C + ρ diag(C) + εI``: the larger ρ, the less labels say about each other."""
    if isinstance(C, LowRank):
        return C.with_diagonal(strength * C.diagonal() + _JITTER)
    return C + np.diag(strength * np.diag(C) + _JITTER)


def conditional_shift(C: Covariance, residuals: Array, known: Mask) -> Array:
    """``C_UK C_KK⁻¹ e_K``: expected residuals of unknown labels; 0 for known ones.

    Rows with the same known labels share one factorization. Where less is unknown than
    known, ``-Λ_UU⁻¹ Λ_UK e_K`` with the precision Λ of all labels is the same.
    """
    shift = np.zeros_like(residuals)
    groups = [(k, rows) for k, rows in known_sets(known) if k.any() and not k.all()]
    if isinstance(C, LowRank):
        for k, rows in groups:
            known_residuals = residuals[np.ix_(rows, np.flatnonzero(k))]
            shift[np.ix_(rows, np.flatnonzero(~k))] = C.shift(known_residuals, k)
        return shift
    many = sum(2 * np.count_nonzero(k) > len(k) for k, _ in groups) >= _MANY_SETS
    precision: Array | None = scipy.linalg.inv(C) if many else None
    for k, rows in groups:
        some = np.ix_(rows, np.flatnonzero(~k))
        known_residuals = residuals[np.ix_(rows, np.flatnonzero(k))]
        if precision is not None and 2 * np.count_nonzero(k) > len(k):
            right = known_residuals @ precision[np.ix_(k, ~k)]
            shift[some] = -_solve(precision[np.ix_(~k, ~k)], right.T).T
        else:
            left = _solve(C[np.ix_(k, k)], known_residuals.T)
            shift[some] = left.T @ C[np.ix_(k, ~k)]
    return shift


def leave_one_out_shift(C: Covariance, residuals: Array, known: Mask) -> Array:
    """``e_j - (e C_KK⁻¹)_j / (C_KK⁻¹)_jj``: residual j given those known but for j."""
    shift = conditional_shift(C, residuals, known)
    for k, rows in known_sets(known):
        if np.count_nonzero(k) > 1:
            some = np.ix_(rows, np.flatnonzero(k))
            E = residuals[some]
            if isinstance(C, LowRank):
                shift[some] = C.leave_one_out(E, k)
                continue
            precision = scipy.linalg.inv(C[np.ix_(k, k)])
            shift[some] = E - (E @ precision) / np.diag(precision)
    return shift


def conditional_covariance(C: Covariance, known: Mask) -> Array:
    """``C_UU - C_UK C_KK⁻¹ C_KU`` for the unknown labels of one row."""
    if isinstance(C, LowRank):
        return C.conditional(known)
    if not known.any():
        return C.copy()
    across = C[np.ix_(known, ~known)]
    return C[np.ix_(~known, ~known)] - across.T @ _solve(
        C[np.ix_(known, known)], across
    )


def known_sets(known: Mask) -> Iterator[tuple[Mask, Indices]]:
    """Yield each distinct set of known labels, with the rows that have it."""
    if len(known) and (known == known[0]).all():
        yield known[0], np.arange(len(known))
        return
    packed = np.packbits(known, axis=1)
    keys = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))[:-1]
    for row, rows in zip(first, np.split(order, ends), strict=True):
        yield known[row], rows


def _solve(A: Array, B: Array) -> Array:
    factor = scipy.linalg.cho_factor(A, lower=True, check_finite=False)
    found: Array = scipy.linalg.cho_solve(factor, B, check_finite=False)
    return found
