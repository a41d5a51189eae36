"""Proximal steps, proximal gradient descent and ADMM.

The proximal step of a penalty p is ``argmin_x ½‖x - a‖² + p(x)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from homi.linalg import inner
from homi.typing import Array, History

#: Over-relaxation of ADMM.
_RELAXATION = 1.6


def soft_threshold(A: Array, tau: float) -> Array:
    """Proximal step of ``τ‖A‖₁``, the sum of absolute values."""
    return A - np.clip(A, -tau, tau)


def shrink_rows(A: Array, tau: float) -> Array:
    """Proximal step of ``τ‖A‖₂,₁``, the sum of the lengths of the rows."""
    length = row_lengths(A)
    kept = np.maximum(length - tau, 0.0) / np.where(length > 0, length, 1.0)
    return A * kept[..., None]


def shrink_singular_values(A: Array, tau: float) -> Array:
    """Proximal step of ``τ‖A‖_*``, the sum of the singular values."""
    values, right = _right_singular(A)
    kept = np.maximum(values - tau, 0.0) / np.where(values > 0, values, 1.0)
    if A.shape[0] < A.shape[1]:
        return (right * kept) @ (right.T @ A)
    return (A @ right * kept) @ right.T


def row_lengths(A: Array) -> Array:
    """Euclidean length of every row."""
    return np.sqrt(np.einsum("...ij,...ij->...i", A, A))


def nuclear_norm(A: Array) -> float:
    """Compute ``‖A‖_*``, the sum of the singular values."""
    values = scipy.linalg.eigvalsh(_gram(A), check_finite=False)
    return float(np.sqrt(np.maximum(values, 0.0)).sum())


def _right_singular(A: Array) -> tuple[Array, Array]:
    """Return the singular values, and the singular vectors of the shorter side of A.

    The Gram matrix of that side is several times faster than a decomposition of A. It
    loses precision in singular values far below the largest, which a step sets to 0.
    """
    squares, vectors = scipy.linalg.eigh(_gram(A), check_finite=False)
    return np.sqrt(np.maximum(squares, 0.0)), vectors


def _gram(A: Array) -> Array:
    return A @ A.T if A.shape[0] < A.shape[1] else A.T @ A


class Quadratic(NamedTuple):
    """``½⟨x, Ax⟩ - ⟨c, x⟩ + constant``, with A as a function ``apply``.

    ``curvature`` is at least the largest eigenvalue of A.
    """

    apply: Callable[[Array], Array]
    c: Array
    constant: float
    curvature: float

    def value(self, x: Array, Ax: Array) -> float:
        """Return the value at x, given Ax."""
        return 0.5 * inner(x, Ax) - inner(self.c, x) + self.constant


class Descent(NamedTuple):
    """Result of a minimization, and the terms of the objective after every step."""

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
    """Minimize ``smooth + penalties`` by accelerated proximal gradient steps.

    ``step(a, s)`` is the proximal step of s times the penalties. The objective never
    increases: a step whose momentum would increase it is repeated without momentum.
    Stop when the relative length of a step is at most ``tol``.
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
        # A is linear, so the next Ay needs no product.
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
    """Minimize a smooth function plus penalties by ADMM.

    ``smooth_minimum(a)`` is ``argmin_x smooth(x) + ½ρ‖x - a‖²``. With the smooth part
    factored once, ADMM takes far fewer iterations than gradient steps on
    ill-conditioned problems. The objective need not decrease in every iteration. Stop
    when the distance between both copies, and between the last two iterates, is at
    most ``tol`` times the length of the iterate, or times ``least`` if that is longer.
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
