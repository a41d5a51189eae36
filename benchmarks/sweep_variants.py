"""Two other sweeps for HOMI's joint solver, measured by ``benchmarks/speed.py``.

Both minimize the same function of the feature weights as L-BFGS does, with the same
preconditioner, and never take a step that raises it.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from homi.linalg import Array, inner
from homi.solver.descend import Point
from homi.solver.moments_form import MomentsForm


class Extrapolation:
    """Anderson acceleration of preconditioned gradient steps."""

    def __init__(self, form: MomentsForm, memory: int = 5) -> None:
        self._form = form
        self._steps: deque[tuple[Array, Array]] = deque(maxlen=memory + 1)

    def __call__(self, point: Point) -> Point:
        """Extrapolate from the last steps; a plain step where that gains nothing."""
        step = -self._form.precondition(point, point.gradient.copy())
        self._steps.append((point.omega, step))
        if len(self._steps) > 1:
            extrapolated = self._form.evaluate(self._mixture())
            if extrapolated.value < point.value:
                return extrapolated
            self._steps.clear()
        plain = self._form.evaluate(point.omega + step)
        return plain if plain.value < point.value else point

    def _mixture(self) -> Array:
        """Return the combination of earlier points whose combined step is least."""
        omegas, steps = (np.array(parts) for parts in zip(*self._steps, strict=True))
        moves, changes = np.diff(omegas, axis=0), np.diff(steps, axis=0)
        flat = changes.reshape(len(changes), -1)
        weights = np.linalg.lstsq(flat.T, steps[-1].ravel(), rcond=1e-10)[0]
        best = omegas[-1] + steps[-1]
        return best - np.tensordot(weights, moves + changes, axes=1)


class Newton:
    """Truncated Newton steps: conjugate gradients with gradient differences."""

    def __init__(self, form: MomentsForm, products: int = 6) -> None:
        self._form, self._products = form, products

    def __call__(self, point: Point) -> Point:
        """Take one truncated Newton step, halved until the objective falls."""
        direction = self._direction(point)
        for size in 0.5 ** np.arange(12):
            following = self._form.evaluate(point.omega + size * direction)
            if following.value < point.value:
                return following
        return point

    def _direction(self, point: Point) -> Array:
        solution = np.zeros_like(point.omega)
        residual = -point.gradient
        q = self._form.precondition(point, residual.copy())
        fall = inner(residual, q)
        for _ in range(self._products):
            product = self._times_hessian(point, q)
            curvature = inner(q, product)
            if curvature <= 0:
                break
            solution += (fall / curvature) * q
            residual = residual - (fall / curvature) * product
            conditioned = self._form.precondition(point, residual.copy())
            fall, before = inner(residual, conditioned), fall
            q = conditioned + (fall / before) * q
        return solution if solution.any() else q

    def _times_hessian(self, point: Point, q: Array) -> Array:
        size = 1e-6 * max(1.0, np.sqrt(inner(point.omega, point.omega)))
        size /= np.sqrt(inner(q, q))
        return (
            self._form.evaluate(point.omega + size * q).gradient - point.gradient
        ) / size
