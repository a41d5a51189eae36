"""Regularization paths: many ridge regressions from one factorization.

The intercepts are not penalized.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from homi.linalg import Array, Matrix, factor_pencil, positive_eigenpairs
from homi.moments import Moments
from homi.solver.held_out import projected, without_own
from homi.solver.label_weights import shares
from homi.solver.problem import Problem


@dataclass(frozen=True)
class Path:
    """Coordinates in which the Gram matrix of every candidate is diagonal.

    The diagonal is ``values + λ`` without a graph, ``1 + γ values`` with one and λ
    held, and ``1 - values + values / ω`` for a label's weight ω with both held.
    """

    values: Array
    V: Array
    moments: Moments

    @cached_property
    def C(self) -> Array:
        """Products of rows and labels."""
        return self.V.T @ self.moments.Sxy

    def with_lam(self, lam: float) -> Path:
        """Return the path of all label weights for one λ of a path of all λ."""
        sizes = self.values + lam
        return Path(lam / sizes, self.V / np.sqrt(sizes), self.moments)

    def weights(self, inverse: Array) -> Array:
        """Return W for the ``inverse`` of the diagonal, one for all labels or each."""
        return self.V @ (_by_label(inverse) * self.C)

    def of(
        self,
        X: Matrix,
        mean: Array | None = None,
        scale: Array | None = None,
        weights: Array | None = None,
    ) -> RowsOnPath:
        """Return rows of the moments, all or some, in these coordinates."""
        # Without a penalty on z the rows are centered.
        free = Problem(self.moments, penalize_bias=False)
        blocks = projected(free, X, self.V, mean, scale)
        _, P = next(blocks)
        if len(P) < X.shape[0]:
            first, P = P, np.empty((X.shape[0], self.V.shape[1]))
            P[: len(first)] = first
            for rows, block in blocks:
                P[rows] = block
        moments = self.moments
        return RowsOnPath(P, self.C, moments.y_mean, float(moments.n), weights)


@dataclass(frozen=True)
class RowsOnPath:
    """Centered rows in the coordinates of a path, and their products with Y."""

    P: Array
    C: Array
    y_mean: Array
    #: Number of rows of the moments, or their total weight.
    n: float
    #: Weights of the rows; None for 1 each.
    weights: Array | None = None

    def held_out(self, Y: Array, inverse: Array) -> Array:
        """Return leave-one-out scores for the ``inverse`` of the diagonal."""
        fitted = self.P @ (inverse[:, None] * self.C) + self.y_mean
        leverage = self._squares @ inverse + 1.0 / self.n
        if self.weights is not None:
            leverage = leverage * self.weights
        return without_own(fitted, leverage[:, None], Y, self.y_mean)

    def with_lam(self, values: Array, lam: float) -> RowsOnPath:
        """Return the rows in the coordinates of ``Path.with_lam``."""
        sizes = np.sqrt(values + lam)
        return replace(self, P=self.P / sizes, C=self.C / sizes[:, None])

    @cached_property
    def _squares(self) -> Array:
        return self.P * self.P

    def weighted(self, Y: Array, values: Array, label_weight: Array) -> Array:
        """Return leave-one-out scores on a weight path, each label with its weight.

        Labels of equal weight are computed together.
        """
        scores = np.empty(Y.shape)
        for weight in np.unique(label_weight):
            those = label_weight == weight
            part = replace(self, C=self.C[:, those], y_mean=self.y_mean[those])
            inverse = shares(values, np.array([weight]))[:, 0]
            scores[:, those] = part.held_out(Y[:, those], inverse)
        return scores

    def own_weights(self, Y: Array, values: Array, weights: Iterable[float]) -> Array:
        """Choose the weight of each label: 1, or one of ``weights``.

        The smallest squared leave-one-out error decides, on a weight path with these
        ``values``.
        """
        smallest = self._squared_errors(Y, np.ones_like(values))
        chosen = np.ones(Y.shape[1])
        for weight in weights:
            errors = self._squared_errors(Y, shares(values, np.array([weight]))[:, 0])
            better = errors < smallest
            chosen[better], smallest[better] = weight, errors[better]
        return chosen

    def _squared_errors(self, Y: Array, inverse: Array) -> Array:
        gap = self.held_out(Y, inverse)
        gap -= Y
        gap *= gap
        w = np.ones(len(Y)) if self.weights is None else self.weights
        errors: Array = w @ gap
        return errors


def with_shares(
    scores: Array, Y: Array, y_mean: Array, n: float, weights: Array | None = None
) -> Array:
    """Return leave-one-out scores with the intercepts for the shares in all rows.

    Without a row that has a rare label, the label's share is smaller by just that row,
    and scores that hardly differ would be lowest where they should be highest. ``n`` is
    the number of all rows, or their total weight.
    """
    w = np.ones(len(Y)) if weights is None else weights
    rest = n - w
    if (rest <= 0).any():
        return scores
    return scores + (w / rest)[:, None] * (Y - y_mean)


def _by_label(inverse: Array) -> Array:
    return inverse[:, None] if inverse.ndim == 1 else inverse


def ridge_path(moments: Moments) -> Path:
    """Path of all λ without a graph, from one eigenvalue problem."""
    return Path(*positive_eigenpairs(moments.Sxx), moments)


def graph_path(moments: Moments, lam: float) -> Path:
    """Path of all γ with the graph of the moments, for one λ."""
    gram = moments.Sxx + lam * np.eye(len(moments.x_mean))
    return Path(*factor_pencil(gram, moments.H), moments)


def weight_path(moments: Moments, lam: float, gamma: float) -> Path:
    """Path of all label weights, for one λ and γ."""
    if gamma == 0 or moments.H is None:
        return ridge_path(moments).with_lam(lam)
    penalty = lam * np.eye(len(moments.x_mean)) + gamma * moments.H
    return Path(*factor_pencil(moments.Sxx + penalty, penalty), moments)
