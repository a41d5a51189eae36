"""The problem, the parameters learned, and the objective in named terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from homi.linalg import Array, Pencil, factor_pencil, inner
from homi.moments import Moments


class Params(NamedTuple):
    """Parameters learned: ``g(x) = (xW + z)B + t``."""

    W: Array
    z: Array
    B: Array
    t: Array


#: The objective, term by term.
Terms = dict[str, float]

#: Called after each sweep with its terms and a function that computes the current
#: parameters. The solver stops if it returns True.
OnSweep = Callable[[Terms, Callable[[], Params]], bool]


@dataclass(frozen=True)
class Problem:
    """Moments, hyper-parameters, and every matrix that no sweep changes.

    With the intercepts z and t eliminated, each regression has a nearly centered Gram
    matrix: the ``joint_`` properties. Only the penalty on the intercepts, which the
    paper has, keeps a share of the mean.
    """

    moments: Moments
    lam: float = 1.0
    beta: float = 2.0
    gamma: float = 1.0
    penalize_bias: bool = True
    #: Weight of each label's squared errors; None for 1 each.
    label_weight: Array | None = None

    @property
    def bias_lam(self) -> float:
        """Ridge penalty of z and t."""
        return self.lam if self.penalize_bias else 0.0

    @property
    def n_features(self) -> int:
        """Number of features, m."""
        return len(self.moments.x_mean)

    @property
    def n_labels(self) -> int:
        """Number of labels, l."""
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
        """``(G - aaᵀ/(n+λ) + λI, γH)``: the W step with z eliminated."""
        x = self.moments.x_mean
        gram = mean_share(self.moments.n, self.bias_lam) * np.outer(x, x)
        gram += self.moments.Sxx
        return factor_pencil(_add_to_diagonal(gram, self.lam), self.H)

    @cached_property
    def joint_C(self) -> Array:
        """``C - abᵀ/(n+λ)``."""
        moments, share = self.moments, mean_share(self.moments.n, self.bias_lam)
        return moments.Sxy + share * np.outer(moments.x_mean, moments.y_mean)

    @cached_property
    def joint_YtY(self) -> Array:
        """``YᵀY - βbbᵀ/(βn+λ)``."""
        n, y = self.moments.n, self.moments.y_mean
        share = n * self.bias_lam / (self.beta * n + self.bias_lam)
        return self.moments.Syy + share * np.outer(y, y)


def mean_share(n: float, lam: float) -> float:
    """``nλ/(n+λ)``: how much of the squared mean the penalty of z leaves."""
    return n * lam / (n + lam)


def _add_to_diagonal(A: Array, value: float) -> Array:
    """Compute ``A + value I`` in place."""
    A.flat[:: len(A) + 1] += value
    return A


@dataclass(frozen=True)
class Solution:
    """Parameters learned, the objective's terms after each sweep, and how it ended."""

    params: Params
    history: list[Terms]
    converged: bool


def zero_params(problem: Problem) -> Params:
    """Start of Algorithm 1."""
    m, q = problem.n_features, problem.n_labels
    return Params(np.zeros((m, q)), np.zeros(q), np.zeros((q, q)), np.zeros(q))


def random_params(problem: Problem, rng: np.random.RandomState) -> Params:
    """Start of the paper's text: everything uniform in (0, 1)."""
    m, q = problem.n_features, problem.n_labels
    return Params(
        rng.uniform(size=(m, q)),
        rng.uniform(size=q),
        rng.uniform(size=(q, q)),
        rng.uniform(size=q),
    )


def objective(problem: Problem, params: Params) -> Terms:
    """Evaluate the objective from moments alone, term by term.

    ``features`` ‖Y-XW-1zᵀ‖² + λ(‖W‖²+‖z‖²), ``labels`` β‖Y-YB-1tᵀ‖² + λ(‖B‖²+‖t‖²),
    ``graph`` γ tr(KᵀLK).
    """
    return {
        "features": _features(problem, params),
        "labels": _labels(problem, params),
        "graph": _graph(problem, params),
    }


def total(terms: Terms) -> float:
    """Sum of the objective's terms."""
    return sum(terms.values())


def _features(problem: Problem, params: Params) -> float:
    moments, (W, z, _, _) = problem.moments, params
    mean_residual = moments.y_mean - W.T @ moments.x_mean - z
    spread = np.trace(moments.Syy) + inner(W, moments.Sxx @ W - 2 * moments.Sxy)
    loss = max(float(spread), 0.0) + moments.n * _squares(mean_residual)
    return loss + problem.lam * _squares(W) + problem.bias_lam * _squares(z)


def _labels(problem: Problem, params: Params) -> float:
    moments, (_, _, B, t) = problem.moments, params
    E = np.eye(problem.n_labels) - B
    mean_residual = E.T @ moments.y_mean - t
    spread = max(inner(E, moments.Syy @ E), 0.0)
    loss = problem.beta * (spread + moments.n * _squares(mean_residual))
    return loss + problem.lam * _squares(B) + problem.bias_lam * _squares(t)


def _graph(problem: Problem, params: Params) -> float:
    if problem.H is None:
        return 0.0
    WB = params.W @ params.B
    return inner(WB, problem.H @ WB)


def _squares(A: Array) -> float:
    return inner(A, A)
