"""What the solver is given, what it learns, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from homi.linalg import Array, Pencil, factor_pencil
from homi.moments import Moments


class Params(NamedTuple):
    """What is learnt: ``g(x) = (xW + z)B + t``."""

    W: Array
    z: Array
    B: Array
    t: Array


#: The objective, term by term.
Terms = dict[str, float]

#: Called after each sweep with its terms and a way to the parameters so far
#: (computed only if asked for); True asks the solver to stop.
OnSweep = Callable[[Terms, Callable[[], Params]], bool]


@dataclass(frozen=True)
class Problem:
    """Moments, hyper-parameters, and every matrix that no sweep changes.

    With the biases z and t solved for, what is left of each regression is one
    with a nearly centred Gram matrix: the ``joint_`` properties. Only the
    penalty on the bias, which the paper has, keeps a share of the mean.
    """

    moments: Moments
    lam: float = 1.0
    beta: float = 2.0
    gamma: float = 1.0
    penalize_bias: bool = True
    #: Of the labels' squared errors; None for 1 each.
    label_weight: Array | None = None

    @property
    def bias_lam(self) -> float:
        """The ridge penalty of z and t."""
        return self.lam if self.penalize_bias else 0.0

    @property
    def n_features(self) -> int:
        return len(self.moments.x_mean)

    @property
    def n_labels(self) -> int:
        return len(self.moments.y_mean)

    @cached_property
    def H(self) -> Array | None:
        """``γXᵀLX``, or None where it is zero."""
        if self.gamma == 0 or self.moments.H is None:
            return None
        return self.moments.H if self.gamma == 1 else self.gamma * self.moments.H

    @cached_property
    def pencil(self) -> Pencil:
        """``(G + λI, γH)``: the W step of the paper, z held."""
        return factor_pencil(_add_to_diagonal(self.moments.G, self.lam), self.H)

    @cached_property
    def joint_pencil(self) -> Pencil:
        """``(G - aaᵀ/(n+λ) + λI, γH)``: the W step with z solved for."""
        x = self.moments.x_mean
        gram = self._kept * np.outer(x, x)
        gram += self.moments.Sxx
        return factor_pencil(_add_to_diagonal(gram, self.lam), self.H)

    @cached_property
    def joint_C(self) -> Array:
        """``C - abᵀ/(n+λ)``."""
        moments = self.moments
        return moments.Sxy + self._kept * np.outer(moments.x_mean, moments.y_mean)

    @cached_property
    def joint_YtY(self) -> Array:
        """``YᵀY - βbbᵀ/(βn+λ)``."""
        n, y = self.moments.n, self.moments.y_mean
        kept = n * self.bias_lam / (self.beta * n + self.bias_lam)
        return self.moments.Syy + kept * np.outer(y, y)

    @property
    def _kept(self) -> float:
        return self.moments.n * self.bias_lam / (self.moments.n + self.bias_lam)


def _add_to_diagonal(A: Array, value: float) -> Array:
    """``A + value I``, in place."""
    A.flat[:: len(A) + 1] += value
    return A


@dataclass(frozen=True)
class Solution:
    """Learnt parameters, the objective's terms after each sweep, and how it ended."""

    params: Params
    history: list[Terms]
    converged: bool


def zero_params(problem: Problem) -> Params:
    """The start of Algorithm 1."""
    m, q = problem.n_features, problem.n_labels
    return Params(np.zeros((m, q)), np.zeros(q), np.zeros((q, q)), np.zeros(q))


def random_params(problem: Problem, rng: np.random.RandomState) -> Params:
    """The start of the paper's text: everything uniform in (0, 1)."""
    m, q = problem.n_features, problem.n_labels
    return Params(
        rng.uniform(size=(m, q)),
        rng.uniform(size=q),
        rng.uniform(size=(q, q)),
        rng.uniform(size=q),
    )
