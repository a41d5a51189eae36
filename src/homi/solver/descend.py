"""L-BFGS on the objective as a function of the feature weights alone.

A plain joint sweep is one step of gradient descent on that function, preconditioned
by the curvature of the (W, z) block. It is slow where B and W depend strongly on each
other. This loop also uses the curvature along the last few steps (L-BFGS with that
preconditioner, renewed at every step) and a backtracking line search. It knows no
algebra: a :class:`ReducedProblem` evaluates the function.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.blas import daxpy, ddot

from homi.linalg import Array, inner
from homi.solver.problem import OnSweep, Params, Solution, Terms

#: Number of earlier steps remembered. More of them saved no sweeps when measured.
MEMORY = 2

#: Share of the decrease predicted by the slope that a step must bring (Armijo).
_SUFFICIENT = 1e-4

#: Most halvings of a step before rounding is taken as the reason.
_MAX_HALVINGS = 30


@dataclass(frozen=True)
class Point:
    """Objective at weights ω, its named terms, and half its gradient."""

    omega: Array
    value: float
    gradient: Array
    row_squares: Array  # the diagonal of BBᵀ, which preconditioners need
    terms: Terms


class ReducedProblem(Protocol):
    """The objective as a function of the feature weights, with z, B and t eliminated.

    Two forms of it exist: :mod:`~homi.solver.moments_form` works on moments and
    :mod:`~homi.solver.rows_form` on products with rows. With label weights,
    :mod:`~homi.solver.label_weights` replaces the former.
    """

    def evaluate(self, omega: Array, /) -> Point:
        """Return the objective and half its gradient at ω."""

    def precondition(self, point: Point, gradient: Array, /) -> Array:
        """Divide a gradient, maybe in place, by the curvature of the (W, z) block."""

    def params(self, point: Point, /) -> Params:
        """Return W, z, B and t at a point."""


class _Pair(NamedTuple):
    """A step and the change of the gradient along it, as vectors."""

    move: Array
    change: Array
    scale: float


def has_converged(before: float, after: float, tol: float) -> bool:
    """Return whether a sweep gained at most a share ``tol`` of the objective."""
    return before - after <= tol * before


def descend(
    reduced: ReducedProblem,
    omega: Array,
    *,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None = None,
    memory: int = MEMORY,
) -> Solution:
    """Minimize from ω until a sweep gains too little. The objective never rises."""
    pairs: deque[_Pair] = deque(maxlen=memory)
    point = reduced.evaluate(omega)
    history, converged = [point.terms], False
    while not _asks_to_stop(on_sweep, reduced, point):
        if converged or len(history) == max_iter:
            break
        following = _advance(reduced, point, pairs)
        if following is None:
            converged = True
            break
        converged = has_converged(point.value, following.value, tol)
        _remember(pairs, point, following)
        point = following
        history.append(point.terms)
    pairs.clear()
    return Solution(reduced.params(point), history, converged)


def _asks_to_stop(
    on_sweep: OnSweep | None, reduced: ReducedProblem, point: Point
) -> bool:
    if on_sweep is None:
        return False
    return on_sweep(point.terms, partial(reduced.params, point))


def _advance(
    reduced: ReducedProblem, point: Point, pairs: deque[_Pair]
) -> Point | None:
    """Return the next point, or None where rounding leaves nothing to gain."""
    found = _line_search(reduced, point, _direction(reduced, point, pairs))
    if found is None and pairs:
        pairs.clear()
        found = _line_search(reduced, point, _direction(reduced, point, pairs))
    return found


def _direction(reduced: ReducedProblem, point: Point, pairs: deque[_Pair]) -> Array:
    """Two-loop recursion of L-BFGS around the preconditioner."""
    q, shares = point.gradient.ravel().copy(), []
    for pair in reversed(pairs):
        share = pair.scale * ddot(pair.move, q)
        shares.append(share)
        daxpy(pair.change, q, a=-share)
    q = reduced.precondition(point, q.reshape(point.gradient.shape)).ravel()
    for pair, share in zip(pairs, reversed(shares), strict=True):
        daxpy(pair.move, q, a=share - pair.scale * ddot(pair.change, q))
    np.negative(q, out=q)
    return q.reshape(point.gradient.shape)


def _line_search(
    reduced: ReducedProblem, point: Point, direction: Array
) -> Point | None:
    """Return the first point that lowers the objective enough, from step length 1."""
    # Twice, because points carry half of the gradient.
    slope = 2.0 * inner(point.gradient, direction)
    size = 1.0
    for _ in range(_MAX_HALVINGS):
        if slope * size >= -np.finfo(float).eps * abs(point.value):
            return None
        trial = reduced.evaluate(point.omega + size * direction)
        if trial.value <= point.value + _SUFFICIENT * size * slope:
            return trial
        excess = trial.value - point.value - size * slope
        size *= min(0.5, max(0.1, -size * slope / (2.0 * excess)))
    return None


def _remember(pairs: deque[_Pair], before: Point, after: Point) -> None:
    """Keep a step along which the gradient grew: others say nothing on curvature."""
    move = (after.omega - before.omega).ravel()
    change = (after.gradient - before.gradient).ravel()
    growth = inner(move, change)
    if growth > 1e-10 * inner(move, move):
        pairs.append(_Pair(move, change, 1.0 / growth))
