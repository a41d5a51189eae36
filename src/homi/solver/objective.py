"""The objective, term by term, from moments alone."""

from __future__ import annotations

import numpy as np

from homi.linalg import Array, inner
from homi.solver.nouns import Params, Problem, Terms


def objective(problem: Problem, params: Params) -> Terms:
    """The two ridge regressions, each with its penalty, and the graph between them.

    ``features`` ‖Y-XW-1zᵀ‖² + λ(‖W‖²+‖z‖²), ``labels`` β‖Y-YB-1tᵀ‖² + λ(‖B‖²+‖t‖²),
    ``graph`` γ tr(KᵀLK).
    """
    return {
        "features": _features(problem, params),
        "labels": _labels(problem, params),
        "graph": _graph(problem, params),
    }


def total(terms: Terms) -> float:
    """The objective itself."""
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
