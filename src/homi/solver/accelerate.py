"""Accelerated joint sweeps: each is an exact (B, t) step and a better W step.

A plain joint sweep is one step of gradient descent on the reduced objective,
preconditioned by the curvature of the (W, z) block. It is slow where B and W
pull at each other. Here the step also remembers what the last few steps told
about the curvature (L-BFGS with that preconditioner, renewed at every step), and
is taken only as far as the objective falls.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg.blas import daxpy, ddot

from homi import threads
from homi.linalg import Array, inner
from homi.solver.alternate import has_converged
from homi.solver.label_weights import WeightedProblem
from homi.solver.nouns import OnSweep, Params, Problem, Solution
from homi.solver.reduced import Point, ReducedProblem

#: How many earlier steps are remembered; more were measured to save no sweeps.
MEMORY = 2

#: Of the fall that the slope promises, the share that a step must bring.
_SUFFICIENT = 1e-4

#: Steps are halved at most this often before rounding is held to have won.
_MAX_HALVINGS = 30


class Descendable(Protocol):
    """A function of the feature weights that can be gone down on."""

    def evaluate(self, omega: Array, /) -> Point: ...

    def precondition(self, point: Point, gradient: Array, /) -> Array: ...

    def params(self, point: Point, /) -> Params: ...


class _Pair(NamedTuple):
    """A step and the change of the gradient along it, as vectors."""

    move: Array
    change: Array
    scale: float


def accelerate(
    problem: Problem,
    params: Params,
    *,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None = None,
    memory: int = MEMORY,
) -> Solution:
    """Minimise the joint objective from ``params``; it never rises."""
    m, q = problem.n_features, problem.n_labels
    with threads.for_product(max(m, q), max(m, q), max(m, q)):
        reduced: ReducedProblem | WeightedProblem
        if problem.label_weight is None:
            reduced = ReducedProblem(problem)
        else:
            reduced = WeightedProblem(problem, problem.label_weight)
        omega = reduced.start(params.B)
    with threads.for_product(m, q, min(m, q)):
        return descend(reduced, omega, max_iter, tol, on_sweep, memory)


def descend(
    reduced: Descendable,
    omega: Array,
    max_iter: int,
    tol: float,
    on_sweep: OnSweep | None,
    memory: int,
) -> Solution:
    """Sweep until one gains too little, or nothing can be gained any more."""
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


def _asks_to_stop(on_sweep: OnSweep | None, reduced: Descendable, point: Point) -> bool:
    if on_sweep is None:
        return False
    return on_sweep(point.terms, partial(reduced.params, point))


def _advance(reduced: Descendable, point: Point, pairs: deque[_Pair]) -> Point | None:
    """The next point, or None where rounding leaves nothing to gain."""
    found = _line_search(reduced, point, _direction(reduced, point, pairs))
    if found is None and pairs:
        pairs.clear()
        found = _line_search(reduced, point, _direction(reduced, point, pairs))
    return found


def _direction(reduced: Descendable, point: Point, pairs: deque[_Pair]) -> Array:
    """The two-loop recursion of L-BFGS around the preconditioner."""
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


def _line_search(reduced: Descendable, point: Point, direction: Array) -> Point | None:
    """The first of the steps 1, then shorter ones, that brings a fall."""
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
