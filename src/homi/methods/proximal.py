"""Proximal steps, and two ways to minimise a quadratic plus what they belong to.

The proximal step of a penalty p is ``argmin_x ½‖x - a‖² + p(x)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.linalg import inner
from homi.typing import Array, History

#: How far an iterate of a splitting goes beyond where it would end by itself.
_RELAXATION = 1.6


def soft_threshold(A: Array, tau: float) -> Array:
    """Step of ``τ‖A‖₁``, the sum of absolute values."""
    return A - np.clip(A, -tau, tau)


def shrink_rows(A: Array, tau: float) -> Array:
    """Step of ``τ‖A‖₂,₁``, the sum of the lengths of the rows."""
    length = row_lengths(A)
    kept = np.maximum(length - tau, 0.0) / np.where(length > 0, length, 1.0)
    return A * kept[..., None]


def shrink_singular_values(A: Array, tau: float) -> Array:
    """Step of ``τ‖A‖_*``, the sum of the singular values."""
    values, right = _right_singular(A)
    kept = np.maximum(values - tau, 0.0) / np.where(values > 0, values, 1.0)
    if A.shape[0] < A.shape[1]:
        return (right * kept) @ (right.T @ A)
    return (A @ right * kept) @ right.T


def row_lengths(A: Array) -> Array:
    """Euclidean length of every row."""
    return np.sqrt(np.einsum("...ij,...ij->...i", A, A))


def nuclear_norm(A: Array) -> float:
    """``‖A‖_*``, the sum of the singular values."""
    values = scipy.linalg.eigvalsh(_gram(A), check_finite=False)
    return float(np.sqrt(np.maximum(values, 0.0)).sum())


def _right_singular(A: Array) -> tuple[Array, Array]:
    """Singular values and their vectors on the shorter side of A.

    By the Gram matrix of that side: several times faster than a decomposition of A,
    and values far below the largest, which lose digits, are those that a step cuts.
    """
    squares, vectors = scipy.linalg.eigh(_gram(A), check_finite=False)
    return np.sqrt(np.maximum(squares, 0.0)), vectors


def _gram(A: Array) -> Array:
    return A @ A.T if A.shape[0] < A.shape[1] else A.T @ A


class Quadratic(NamedTuple):
    """``½⟨x, Ax⟩ - ⟨c, x⟩ + constant``, with ``A`` given by what it does to x.

    ``curvature`` is not below the largest eigenvalue of A.
    """

    apply: Callable[[Array], Array]
    c: Array
    constant: float
    curvature: float

    def value(self, x: Array, Ax: Array) -> float:
        return 0.5 * inner(x, Ax) - inner(self.c, x) + self.constant


class Descent(NamedTuple):
    """Where a descent ended, the objective's terms after every step, and how."""

    x: Array
    history: History
    converged: bool


def descend(
    smooth: Quadratic,
    step: Callable[[Array, float], Array],
    penalties: Callable[[Array], dict[str, float]],
    start: Array,
    *,
    max_iter: int,
    tol: float,
) -> Descent:
    """Minimise ``smooth + penalties`` by accelerated proximal gradient steps.

    ``step(a, s)`` is the proximal step of s times the penalties. The objective never
    rises: where momentum would raise it, it is dropped and the step taken again. Ends
    when a step is shorter than the share ``tol`` of where it leads.
    """
    s = 1.0 / smooth.curvature if smooth.curvature > 0 else 1.0

    def move(y: Array, Ay: Array) -> tuple[Array, Array, dict[str, float]]:
        x = step(y - s * (Ay - smooth.c), s)
        Ax = smooth.apply(x)
        return x, Ax, {"loss": smooth.value(x, Ax), **penalties(x)}

    x, Ax = start, smooth.apply(start)
    lowest = smooth.value(x, Ax) + sum(penalties(x).values())
    y, Ay, t = x, Ax, 1.0
    history: History = []
    for _ in range(max_iter):
        new, Anew, terms = move(y, Ay)
        if y is not x and sum(terms.values()) > lowest:
            t = 1.0
            new, Anew, terms = move(x, Ax)
        history.append(terms)
        lowest = sum(terms.values())
        t, before = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        momentum = (before - 1.0) / t
        # A is linear: what it does to the next point needs no product of its own.
        y, Ay = new + momentum * (new - x), Anew + momentum * (Anew - Ax)
        moved, length = np.linalg.norm(new - x), np.linalg.norm(new)
        x, Ax = new, Anew
        if moved <= tol * max(length, np.finfo(float).tiny):
            return Descent(x, history, converged=True)
    return Descent(x, history, converged=False)


def split(
    smooth_minimum: Callable[[Array], Array],
    step: Callable[[Array, float], Array],
    objective: Callable[[Array], dict[str, float]],
    start: Array,
    rho: float,
    *,
    least: float,
    max_iter: int,
    tol: float,
) -> Descent:
    """Minimise a smooth function plus penalties by splitting them (ADMM).

    ``smooth_minimum(a)`` is the ``argmin_x smooth(x) + ½ρ‖x - a‖²``; with the smooth
    part factored once this takes far fewer iterations than gradient steps where it is
    ill-conditioned. The objective need not fall at each of them. Ends when the copies
    that meet both parts, and the last two iterates, are nearer than the share ``tol``
    of their length, or of ``least`` where they vanish.
    """
    x, dual = start, np.zeros_like(start)
    history: History = []
    for _ in range(max_iter):
        smooth = smooth_minimum(x - dual)
        relaxed, before = _RELAXATION * smooth + (1.0 - _RELAXATION) * x + dual, x
        x = step(relaxed, 1.0 / rho)
        dual = relaxed - x
        history.append(objective(x))
        apart = max(np.linalg.norm(smooth - x), np.linalg.norm(x - before))
        if apart <= tol * max(float(np.linalg.norm(x)), least):
            return Descent(x, history, converged=True)
    return Descent(x, history, converged=False)
