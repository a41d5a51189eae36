"""L-BFGS for many labels at once.

Every label has its own convex problem, but all share the rows. A step needs two
products with the rows, so the steps of all labels are taken together, each with its
own length and memory. Labels that have converged are dropped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from homi.linalg import Array
from homi.linear.centered_rows import CenteredRows
from homi.linear.losses import Loss
from homi.linear.preconditioner import Preconditioner

#: Number of steps in memory.
_MEMORY = 20
#: Share of the predicted decrease that a step must achieve (Armijo).
_ARMIJO = 1e-4
#: Maximum number of step lengths tried in a line search.
_TRIALS = 30
#: Share of the active labels that must have converged before they are dropped.
_IDLE = 0.2
#: Decreases below this share of the objective are rounding errors.
_ROUNDING = 1e-15


class Task(NamedTuple):
    """Minimize ½‖W‖² + C Σ_i ω_i ℓ(ỹ_i f_i) for each label.

    V = [W; b] are the parameters, F = [X - 1μᵀ, 1] V the scores; ω are the weights of
    the rows. A sign ỹ_i of 0 leaves the row out: its loss is constant.
    """

    rows: CenteredRows
    signs: Array
    loss: Loss
    C: float
    preconditioner: Preconditioner
    allowed: NDArray[np.bool_] | None

    def take(self, labels: NDArray[np.intp]) -> Task:
        """Select some labels."""
        return self._replace(
            signs=self.signs[:, labels],
            preconditioner=self.preconditioner.take(labels),
            allowed=None if self.allowed is None else self.allowed[:, labels],
        )

    def at(self, V: Array, F: Array) -> Point:
        """Evaluate the objective at V, whose scores are F."""
        value, slope = self.loss.evaluate(self.signs, F, self.rows.weight)
        value = self.C * value + 0.5 * np.einsum("ij,ij->j", V[:-1], V[:-1])
        return Point(V, F, value, slope)

    def gradient(self, point: Point) -> Array:
        """Compute [W + C Xᵀ ω dℓ/dF; C 1ᵀ ω dℓ/dF]; 0 for coefficients fixed at 0."""
        gradient = self.C * self.rows.gather(point.slope)
        gradient[:-1] += point.V[:-1]
        if self.allowed is not None:
            gradient[:-1] *= self.allowed
        return gradient


class Point(NamedTuple):
    """Parameters V, scores F, the objective, and the slopes ω dℓ/dF."""

    V: Array
    F: Array
    value: Array
    slope: Array

    def take(self, labels: NDArray[np.intp]) -> Point:
        """Select some labels."""
        return Point(*(part[..., labels] for part in self))


class Pair(NamedTuple):
    """A step s, the change y of the gradient along it, and 1/sᵀy of each label."""

    s: Array
    y: Array
    rho: Array

    def take(self, labels: NDArray[np.intp]) -> Pair:
        """Select some labels."""
        return Pair(*(part[..., labels] for part in self))


def minimize(task: Task, V: Array, limits: Array, max_iter: int) -> tuple[Array, int]:
    """Return the optimal parameters, and the number of labels that did not converge.

    ``limits`` (2, n_labels) bound the norm of the gradient in the coefficients and its
    absolute value in the intercept. A label has converged when it meets both, or when
    a step decreases its objective by no more than a rounding error.
    """
    found, labels, memory = V.copy(), np.arange(V.shape[1]), list[Pair]()
    here = task.at(V, task.rows.scores(V))
    gradient, stuck = task.gradient(here), np.zeros(len(labels), dtype=bool)
    for _ in range(max_iter):
        done = stuck | (_norms(gradient) <= limits).all(axis=0)
        if done.mean() >= _IDLE:
            found[:, labels] = here.V
            keep = np.flatnonzero(~done)
            if not len(keep):
                return found, 0
            task, here, memory = task.take(keep), here.take(keep), _take(memory, keep)
            labels, limits, gradient = labels[keep], limits[:, keep], gradient[:, keep]
            done = done[keep]
        # Converged labels do not move until they are dropped: a result must not depend
        # on the other labels.
        direction = _direction(memory, task.preconditioner, gradient) * ~done
        there = _search(task, here, gradient, direction)
        stuck = done | (here.value - there.value <= _ROUNDING * here.value)
        after = task.gradient(there)
        memory = [*memory[1 - _MEMORY :], _pair(there.V - here.V, after - gradient)]
        here, gradient = there, after
    found[:, labels] = here.V
    done = stuck | (_norms(gradient) <= limits).all(axis=0)
    return found, int(np.count_nonzero(~done))


def _norms(gradient: Array) -> Array:
    return np.vstack([np.linalg.norm(gradient[:-1], axis=0), np.abs(gradient[-1])])


def _take(memory: list[Pair], labels: NDArray[np.intp]) -> list[Pair]:
    return [pair.take(labels) for pair in memory]


def _dot(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->j", A, B)


def _pair(s: Array, y: Array) -> Pair:
    # The pair of a label that did not move is ignored: its 1/sᵀy is 0.
    sy = _dot(s, y)
    return Pair(s, y, np.divide(1.0, sy, out=np.zeros_like(sy), where=sy > 0.0))


def _direction(
    memory: list[Pair], preconditioner: Preconditioner, gradient: Array
) -> Array:
    """Return -H gradient by two-loop recursion; H approximates the inverse Hessian."""
    q, shares = -gradient, list[Array]()
    for s, y, rho in reversed(memory):
        share = rho * _dot(s, q)
        q -= share * y
        shares.append(share)
    direction = preconditioner(q)
    if memory:
        direction *= _scale(memory[-1], preconditioner)
    for (s, y, rho), share in zip(memory, reversed(shares), strict=True):
        direction += (share - rho * _dot(y, direction)) * s
    return direction


def _scale(pair: Pair, preconditioner: Preconditioner) -> Array:
    """Return sᵀy / yᵀMy, which fits the preconditioner M to the last step."""
    product = pair.rho * _dot(pair.y, preconditioner(pair.y))
    return np.divide(1.0, product, out=np.ones_like(product), where=product > 0.0)


def _search(task: Task, here: Point, gradient: Array, direction: Array) -> Point:
    """Backtrack along the direction until each objective decreases enough.

    Scores are linear along the direction, so trials need no product with the rows.
    """
    image, descent = task.rows.scores(direction), _dot(gradient, direction)
    step = np.ones(len(descent))
    there = task.at(here.V + direction, here.F + image)
    for _ in range(_TRIALS):
        gain = here.value - there.value
        short = np.flatnonzero(gain < -_ARMIJO * step * descent)
        if not len(short):
            return there
        step[short] = _shorter(step[short], descent[short], gain[short])
        V = here.V[:, short] + step[short] * direction[:, short]
        F = here.F[:, short] + step[short] * image[:, short]
        for whole, part in zip(there, task.take(short).at(V, F), strict=True):
            whole[..., short] = part
    # Labels without a successful trial do not move.
    for whole, part in zip(there, here, strict=True):
        whole[..., short] = part[..., short]
    return there


def _shorter(step: Array, descent: Array, gain: Array) -> Array:
    """Minimizer of the parabola through value and slope at 0 and value at step."""
    bend = -2.0 * (gain + step * descent)
    least = np.divide(-(step**2) * descent, bend, out=0.5 * step, where=bend > 0.0)
    return np.clip(least, 0.1 * step, 0.5 * step)
