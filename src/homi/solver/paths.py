"""Many ridge regressions with free biases from one factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from homi.linalg import Array, factor_pencil, positive_eigenpairs
from homi.moments import Moments
from homi.solver.held_out import projected, without_own
from homi.solver.nouns import Problem


@dataclass(frozen=True)
class Path:
    """Coordinates in which the Gram matrix of every candidate is diagonal.

    It is ``values + λ`` without a graph, and ``1 + γ values`` with one and λ held.
    """

    values: Array
    V: Array
    moments: Moments

    @property
    def C(self) -> Array:
        """Products of rows and labels."""
        return self.V.T @ self.moments.Sxy

    def weights(self, inverse: Array) -> Array:
        """W in the units of the moments; ``inverse`` is that of the diagonal."""
        return self.V @ (inverse[:, None] * self.C)

    def of(
        self, X: Any, mean: Array | None = None, scale: Array | None = None
    ) -> RowsOnPath:
        """The rows that the moments are of, in these coordinates."""
        # With free biases the penalty of z has no part in it: rows less their mean.
        free = Problem(self.moments, penalize_bias=False)
        P = np.empty((X.shape[0], self.V.shape[1]))
        for rows, block in projected(free, X, self.V, mean, scale):
            P[rows] = block
        return RowsOnPath(P, self.C, self.moments.y_mean)


@dataclass(frozen=True)
class RowsOnPath:
    """Rows less their mean in coordinates of a path, and their products with Y."""

    P: Array
    C: Array
    y_mean: Array

    def held_out(self, Y: Array, inverse: Array) -> Array:
        """Scores, each row by the model of all others; ``inverse`` of the diagonal."""
        fitted = self.P @ (inverse[:, None] * self.C) + self.y_mean
        leverage = np.einsum("ij,ij,j->i", self.P, self.P, inverse) + 1.0 / len(Y)
        return without_own(fitted, leverage[:, None], Y, self.y_mean)


def ridge_path(moments: Moments) -> Path:
    """Every λ without a graph, from one eigenvalue problem."""
    return Path(*positive_eigenpairs(moments.Sxx), moments)


def graph_path(moments: Moments, lam: float) -> Path:
    """Every γ with the graph of the moments, for one λ."""
    gram = moments.Sxx + lam * np.eye(len(moments.x_mean))
    return Path(*factor_pencil(gram, moments.H), moments)
