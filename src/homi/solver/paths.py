"""Held-out scores of many candidates from one factorisation each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from homi.linalg import Array, Pencil, factor_pencil, positive_eigenpairs
from homi.moments import Moments
from homi.solver.held_out import projected, without_own
from homi.solver.nouns import Problem


@dataclass(frozen=True)
class Path:
    """Rows in coordinates that serve many ridge regressions with free biases.

    Along a path every candidate's Gram matrix is diagonal: ``values + λ`` without a
    graph, ``1 + γ values`` with one and λ held. So it costs one product with the
    rows, which are kept here, and no factorisation.
    """

    values: Array
    V: Array
    P: Array  # rows less their mean, times V
    C: Array  # PᵀY
    y_mean: Array

    def held_out(self, Y: Array, inverse: Array) -> Array:
        """Scores, each row by the model of all others; ``inverse`` of the diagonal."""
        fitted = self.P @ (inverse[:, None] * self.C) + self.y_mean
        leverage = np.einsum("ij,ij,j->i", self.P, self.P, inverse) + 1.0 / len(Y)
        return without_own(fitted, leverage[:, None], Y, self.y_mean)

    def weights(self, inverse: Array) -> Array:
        """W in the units of the moments."""
        return self.V @ (inverse[:, None] * self.C)


def ridge_path(
    moments: Moments, X: Any, mean: Array | None = None, scale: Array | None = None
) -> Path:
    """Every λ without a graph, from one eigenvalue problem."""
    values, V = positive_eigenpairs(moments.Sxx)
    return _path(moments, X, Pencil(values, V), mean, scale)


def graph_path(
    moments: Moments,
    X: Any,
    lam: float,
    mean: Array | None = None,
    scale: Array | None = None,
) -> Path:
    """Every γ with the graph of the moments, for one λ."""
    gram = moments.Sxx + lam * np.eye(len(moments.x_mean))
    return _path(moments, X, factor_pencil(gram, moments.H), mean, scale)


def _path(
    moments: Moments, X: Any, pencil: Pencil, mean: Array | None, scale: Array | None
) -> Path:
    values, V = pencil
    # With free biases the penalty of z has no part in it: rows less their mean.
    free = Problem(moments, penalize_bias=False)
    P = np.empty((X.shape[0], V.shape[1]))
    for rows, block in projected(free, X, V, mean, scale):
        P[rows] = block
    return Path(values, V, P, V.T @ moments.Sxy, moments.y_mean)
