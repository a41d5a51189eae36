"""L-BFGS for many labels at once.

Every label has its own convex problem, but all share the rows. What a step needs of
the rows are two products, so the steps of all labels are taken together, each with
its own length and memory, and labels that are done drop out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homi.linear.losses import Array, Loss
from homi.linear.metric import Metric
from homi.linear.rows import CentredRows

#: Steps remembered.
_MEMORY = 20
#: Share of the predicted decrease that a step must bring.
_ARMIJO = 1e-4
#: Trials of a step's length.
_TRIALS = 30
#: Labels that are done are dropped when they are this share of those at work.
_IDLE = 0.2
#: Decreases below this share of the objective are rounding.
_ROUNDING = 1e-15


class Task(NamedTuple):
    """min ½‖W‖² + C Σ_i ω_i ℓ(ỹ_i f_i) for each label.

    V = [W; b] are its parameters, F = [X - 1μᵀ, 1] V its scores; the rows have the ω.
    """

    rows: CentredRows
    signs: Array
    loss: Loss
    C: float
    metric: Metric
    allowed: NDArray[np.bool_] | None

    def take(self, labels: NDArray[Any]) -> Task:
        """The same for some of the labels."""
        return self._replace(
            signs=self.signs[:, labels],
            metric=self.metric.take(labels),
            allowed=None if self.allowed is None else self.allowed[:, labels],
        )

    def at(self, V: Array, F: Array) -> Point:
        """The objective at V, whose scores are F."""
        value, slope = self.loss.evaluate(self.signs, F, self.rows.weight)
        value = self.C * value + 0.5 * np.einsum("ij,ij->j", V[:-1], V[:-1])
        return Point(V, F, value, slope)

    def gradient(self, point: Point) -> Array:
        """[W + C Xᵀ ω dℓ/dF; C 1ᵀ ω dℓ/dF], 0 for coefficients that must stay 0."""
        gradient = self.C * self.rows.gather(point.slope)
        gradient[:-1] += point.V[:-1]
        if self.allowed is not None:
            gradient[:-1] *= self.allowed
        return gradient


class Point(NamedTuple):
    """Parameters V, scores F, the objective, and ω dℓ/dF."""

    V: Array
    F: Array
    value: Array
    slope: Array

    def take(self, labels: NDArray[Any]) -> Point:
        """The same for some of the labels."""
        return Point(*(part[..., labels] for part in self))


class Pair(NamedTuple):
    """A step s, the change y of the gradient along it, and 1/sᵀy of each label."""

    s: Array
    y: Array
    rho: Array

    def take(self, labels: NDArray[Any]) -> Pair:
        """The same for some of the labels."""
        return Pair(*(part[..., labels] for part in self))


def minimise(task: Task, V: Array, limits: Array, max_iter: int) -> tuple[Array, int]:
    """Parameters of each label, and how many were not done in ``max_iter`` steps.

    ``limits`` (2, n_labels) bound the norm of the gradient in the coefficients and
    its size in the intercept. A label is done when it meets both, or when a step no
    longer lowers the objective by more than rounding.
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
        # A label that is done stands still until it is dropped: where it ends must
        # not depend on its company.
        direction = _direction(memory, task.metric, gradient) * ~done
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


def _take(memory: list[Pair], labels: NDArray[Any]) -> list[Pair]:
    return [pair.take(labels) for pair in memory]


def _dot(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->j", A, B)


def _pair(s: Array, y: Array) -> Pair:
    # A label that stood still leaves no trace: 1/sᵀy is taken for 0.
    sy = _dot(s, y)
    return Pair(s, y, np.divide(1.0, sy, out=np.zeros_like(sy), where=sy > 0.0))


def _direction(memory: list[Pair], metric: Metric, gradient: Array) -> Array:
    """-H gradient, with the inverse Hessian H that the memory makes of the metric."""
    q, shares = -gradient, list[Array]()
    for s, y, rho in reversed(memory):
        share = rho * _dot(s, q)
        q -= share * y
        shares.append(share)
    direction = metric(q)
    if memory:
        direction *= _scale(memory[-1], metric)
    for (s, y, rho), share in zip(memory, reversed(shares), strict=True):
        direction += (share - rho * _dot(y, direction)) * s
    return direction


def _scale(pair: Pair, metric: Metric) -> Array:
    """sᵀy / yᵀMy: what makes the metric M fit the last step of each label."""
    product = pair.rho * _dot(pair.y, metric(pair.y))
    return np.divide(1.0, product, out=np.ones_like(product), where=product > 0.0)


def _search(task: Task, here: Point, gradient: Array, direction: Array) -> Point:
    """A point along the direction that lowers each label enough, by backtracking.

    Scores are linear along the direction: no trial needs a product with the rows.
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
    # What no step lowers stays where it is.
    for whole, part in zip(there, here, strict=True):
        whole[..., short] = part[..., short]
    return there


def _shorter(step: Array, descent: Array, gain: Array) -> Array:
    """Where the parabola through value and slope at 0 and value at step is least."""
    bend = -2.0 * (gain + step * descent)
    least = np.divide(-(step**2) * descent, bend, out=0.5 * step, where=bend > 0.0)
    return np.clip(least, 0.1 * step, 0.5 * step)
