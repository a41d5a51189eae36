"""L-BFGS on the objective as a function of the feature weights alone.

A plain joint sweep is one step of gradient descent on that function, preconditioned
by the curvature of the (W, z) block. It is slow where B and W depend strongly on each
other. This loop also uses the curvature along the last few steps (L-BFGS with that
preconditioner, renewed at every step) and a line search. It knows no algebra: a
:class:`ReducedProblem` evaluates the function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.linalg.blas import daxpy, ddot

from homi.linalg import Array, inner
from homi.solver.problem import OnSweep, Params, Solution, Terms

#: Number of earlier steps remembered. More of them saved no sweeps when measured.
MEMORY = 2

#: Share of the decrease predicted by the slope that a step must bring (Armijo).
_SUFFICIENT = 1e-4

#: Maximum trials of a step, after which rounding is assumed; and trials after which
#: any decrease is accepted.
_MAX_TRIALS, _REFINEMENTS = 30, 5


@dataclass(frozen=True)
class Point:
    """Objective at weights ω, its named terms, and half its gradient."""

    omega: Array
    value: float
    gradient: Array
    row_squares: Array  # the diagonal of BBᵀ, which preconditioners need
    terms: Terms


P = TypeVar("P", bound=Point)
P_co = TypeVar("P_co", bound=Point, covariant=True)


class ReducedProblem(Protocol[P]):
    """The objective as a function of the feature weights, with z, B and t eliminated.

    Two forms of it exist: :mod:`~homi.solver.moments_form` works on moments, and
    :mod:`~homi.solver.rows_form` on products with rows. With label weights,
    :mod:`~homi.solver.label_weights` replaces the first.
    """

    def evaluate(self, omega: Array, /) -> P:
        """Return the objective and half its gradient at ω."""

    def precondition(self, point: P, gradient: Array, /) -> Array:
        """Divide a gradient, maybe in place, by the curvature of the (W, z) block."""

    def line(self, point: P, direction: Array, /) -> Line[P]:
        """Return the objective along a direction."""

    #: Steps that count as one sweep.
    steps: int


class SolvableProblem(ReducedProblem[P], Protocol[P]):
    """A reduced problem with the way back."""

    def params(self, point: P, /) -> Params:
        """Return W, z, B and t at a point."""


class Sweep(Protocol[P]):
    """One sweep of a descent."""

    def __call__(self, point: P, /) -> P:
        """Return a lower point; the same one if there is nothing to gain."""


class Line(Protocol[P_co]):
    """The objective along a direction from a point."""

    #: Largest share by which a step may miss the minimum along the line.
    tolerance: float

    def value(self, size: float, /) -> float:
        """Return the objective after a step of this size."""

    def point(self, size: float, /) -> P_co:
        """Return the point after the step of this size, whose value was asked for."""


class Trials(Generic[P]):
    """A line whose every value costs a whole evaluation: any decrease is accepted."""

    tolerance = float("inf")

    def __init__(
        self, evaluate: Callable[[Array], P], start: Array, direction: Array
    ) -> None:
        self._evaluate, self._start, self._direction = evaluate, start, direction

    def value(self, size: float) -> float:
        """Evaluate, and keep the point."""
        self._point = self._evaluate(self._start + size * self._direction)
        return self._point.value

    def point(self, size: float) -> P:
        """Return the point kept."""
        return self._point


class _Pair(NamedTuple):
    """A step and the change of the gradient along it, as vectors."""

    move: Array
    change: Array
    scale: float


def has_converged(before: float, after: float, tol: float) -> bool:
    """Return whether a sweep gained at most a share ``tol`` of the objective."""
    return before - after <= tol * before


class Descent(NamedTuple, Generic[P]):
    """Where a descent ended, the objective's terms after each sweep, and how it did."""

    point: P
    history: list[Terms]
    converged: bool


def descend(
    reduced: SolvableProblem[P],
    omega: Array,
    *,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None = None,
    sweep: Sweep[P] | None = None,
) -> Solution:
    """Minimize from ω until a sweep gains too little. The objective never rises."""

    def asks_to_stop(point: P) -> bool:
        if on_sweep is None:
            return False
        return on_sweep(point.terms, partial(reduced.params, point))

    sweep = QuasiNewton(reduced) if sweep is None else sweep
    end = lowest(reduced, omega, sweep, asks_to_stop, max_iter=max_iter, tol=tol)
    del sweep
    return Solution(reduced.params(end.point), end.history, end.converged)


def lowest(
    reduced: ReducedProblem[P],
    omega: Array,
    sweep: Sweep[P],
    asks_to_stop: Callable[[P], bool] = lambda _: False,
    *,
    max_iter: int,
    tol: float,
) -> Descent[P]:
    """Return where sweeps from ω end."""
    point = reduced.evaluate(omega)
    history, converged = [point.terms], False
    while not asks_to_stop(point):
        if converged or len(history) == max_iter:
            break
        following = sweep(point)
        if following is point:
            converged = True
            break
        converged = has_converged(point.value, following.value, tol)
        point = following
        history.append(point.terms)
    return Descent(point, history, converged)


class QuasiNewton(Generic[P]):
    """Sweeps of L-BFGS with the preconditioner of a problem."""

    def __init__(self, reduced: ReducedProblem[P], memory: int = MEMORY) -> None:
        self._reduced = reduced
        self._pairs: deque[_Pair] = deque(maxlen=memory)

    def __call__(self, point: P) -> P:
        """Take the steps of a sweep."""
        for _ in range(self._reduced.steps):
            following = _advance(self._reduced, point, self._pairs)
            if following is None:
                break
            _remember(self._pairs, point, following)
            point = following
        return point


def _advance(reduced: ReducedProblem[P], point: P, pairs: deque[_Pair]) -> P | None:
    """Return the next point, or None where rounding leaves nothing to gain."""
    found = _line_search(reduced, point, _direction(reduced, point, pairs))
    if found is None and pairs:
        pairs.clear()
        found = _line_search(reduced, point, _direction(reduced, point, pairs))
    return found


def _direction(reduced: ReducedProblem[P], point: P, pairs: deque[_Pair]) -> Array:
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


def _line_search(reduced: ReducedProblem[P], point: P, direction: Array) -> P | None:
    """Return a point that lowers the objective enough, from step length 1.

    Where values along the line are cheap, it is near the minimum of the line: of the
    parabola through the last trial.
    """
    # Twice, because points carry half of the gradient.
    slope = 2.0 * inner(point.gradient, direction)
    line, size = reduced.line(point, direction), 1.0
    for trial in range(_MAX_TRIALS):
        if slope * size >= -np.finfo(float).eps * abs(point.value):
            return None
        change = line.value(size) - point.value
        curvature = (change - size * slope) / size**2
        best = -slope / (2.0 * curvature) if curvature > 0 else np.inf
        is_enough = change <= _SUFFICIENT * size * slope
        is_near = abs(best - size) <= line.tolerance * size
        if is_enough and (is_near or trial >= _REFINEMENTS):
            return line.point(size)
        size *= min(4.0 if is_enough else 0.5, max(0.1, best / size))
    return None


def _remember(pairs: deque[_Pair], before: Point, after: Point) -> None:
    """Keep a step along which the gradient grew: others say nothing on curvature."""
    move = (after.omega - before.omega).ravel()
    change = (after.gradient - before.gradient).ravel()
    growth = inner(move, change)
    if growth > 1e-10 * inner(move, move):
        pairs.append(_Pair(move, change, 1.0 / growth))
