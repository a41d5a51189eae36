"""Contributions of features and of other labels to the scores of a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_solve

from homi.typing import Array, Matrix


@dataclass(frozen=True)
class Waterfalls:
    """Contributions to all scores of one row.

    ``start + features.sum(axis=0) + labels.sum(axis=0)`` is the row's g(x).

    Attributes
    ----------
    start : array of shape (n_labels,)
        Scores of the reference row.
    features : array of shape (n_features, n_labels)
        Entry (f, j): contribution of feature f to label j through label j's own model,
        ``(x_f - c_f) W_fj B_jj``.
    labels : array of shape (n_labels, n_labels)
        Entry (i, j): contribution of label i to label j, ``f_i B_ij`` with
        ``f = (x - c) W``; 0 where i is j.
    """

    start: Array
    features: Array
    labels: Array

    @property
    def scores(self) -> Array:
        """``g(x)``, one number per label."""
        return self.start + self.features.sum(axis=0) + self.labels.sum(axis=0)

    def times(self, slope: Array) -> Waterfalls:
        """Return the contributions to ``slope g(x)`` of each label."""
        return Waterfalls(
            slope * self.start, self.features * slope, self.labels * slope
        )

    def __add__(self, other: Waterfalls) -> Waterfalls:
        """Return the contributions to the sum of two scores."""
        return Waterfalls(
            self.start + other.start,
            self.features + other.features,
            self.labels + other.labels,
        )

    def as_log_odds(self, slope: Array, offset: Array) -> Waterfalls:
        """Return the contributions to ``slope (g(x) - 1/2) + offset`` of each label."""
        start = slope * (self.start - 0.5) + offset
        return Waterfalls(start, self.features * slope, self.labels * slope)

    def blended(self, other: Waterfalls, weight: Array | float) -> Waterfalls:
        """Return the contributions to a weighted mean, with ``weight`` for the other's.

        The weight is one number, or one for each label.
        """
        mine, theirs = 1.0 - np.asarray(weight), np.asarray(weight)
        return Waterfalls(
            mine * self.start + theirs * other.start,
            mine * self.features + theirs * other.features,
            mine * self.labels + theirs * other.labels,
        )


@dataclass(frozen=True)
class Step:
    """One bar of a waterfall; ``index`` is -1 for the sum of ``count`` others."""

    kind: str
    index: int
    value: float
    count: int = 1


def waterfalls(
    x: Array,
    W: Array,
    z: Array,
    B: Array,
    t: Array,
    center: Array | None = None,
    *,
    centre: Array | None = None,
    triangle: Array | None = None,
) -> Waterfalls:
    """Split ``g(x) = (xW + z)B + t`` into contributions.

    Parameters
    ----------
    x : array of shape (n_features,)
        The row.
    W, z, B, t : arrays
        Parameters of the model, as in the paper.
    center : array of shape (n_features,), optional
        c, the reference row, such as the mean of the rows; zeros by default.
    centre : array, optional
        Former name of ``center``.
    triangle : array of shape (n_features, n_features), optional
        Cholesky factor of the kernel matrix of landmarks, if x are kernel values: the
        features are then contributions of landmarks by ``landmark_terms``.

    Examples
    --------
    >>> W, z = np.array([[1.0, 2.0]]), np.array([0.5, 0.0])
    >>> B, t = np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([0.0, 0.25])
    >>> parts = waterfalls(np.array([2.0]), W, z, B, t)
    >>> parts.start.tolist(), parts.features.tolist(), parts.labels.tolist()
    ([0.5, 0.5], [[2.0, 4.0]], [[0.0, 1.0], [0.0, 0.0]])
    >>> parts.scores.tolist()
    [2.5, 5.5]
    """
    center = centre if center is None else center
    center = np.zeros_like(x) if center is None else center
    away = x - center
    labels = (away @ W)[:, None] * B
    np.fill_diagonal(labels, 0.0)
    if triangle is None:
        own = away[:, None] * W
    else:
        own = landmark_terms(x, W, center, triangle)
    return Waterfalls(
        start=(center @ W + z) @ B + t, features=own * np.diag(B), labels=labels
    )


def landmark_terms(x: Array, W: Array, center: Array, triangle: Array) -> Array:
    """Split ``(x - c) W`` of kernel values x by the scores that landmarks have.

    With the kernel matrix K of the landmarks, ``xW = a (KW)`` for ``a = K⁻¹x``: the
    score of a row is a weighted sum of the scores KW of the landmarks. Near landmarks
    have large weights, and each contributes in the direction of its own score. The
    terms ``x_i W_i`` have the same sum, but are large and cancel. Entry (i, j) is
    ``a_i (KW - cW)_ij``, and an equal share of ``(Σa - 1) cW``.

    Examples
    --------
    >>> triangle = np.linalg.cholesky([[1.0, 0.5], [0.5, 1.0]])
    >>> W, x, center = np.array([[2.0], [-2.0]]), np.array([1.0, 0.5]), np.zeros(2)
    >>> landmark_terms(x, W, center, triangle).round(9).tolist()  # x is landmark 0
    [[1.0], [0.0]]
    """
    weights = cho_solve((triangle, True), x)
    reference = center @ W
    scores = triangle @ (triangle.T @ W)
    share = (weights.sum() - 1.0) / len(weights)
    terms: Array = weights[:, None] * (scores - reference) + share * reference
    return terms


def forest_waterfalls(forest: Any, X: Matrix) -> Iterator[Waterfalls]:
    """Split the log-odds of a ``Forest`` for each row; other labels contribute nothing.

    ``start`` are the log-odds of the shares at the roots; for ``features`` see
    :meth:`homi.model.forest.Forest.contributions`.
    """
    for start, features in forest.contributions_of(X):
        yield Waterfalls(start, features, np.zeros((len(start), len(start))))


def steps(
    parts: Waterfalls, label: int, *, most: int = 8, kind: str = "feature"
) -> list[Step]:
    """Return the bars between the start and the score of one label.

    These are the ``most`` largest features, the sum of the others, and the same for
    labels. Contributions of 0 have no bar. ``kind`` says what features are: those of a
    kernel are neighbors.
    """
    return [
        *_largest(kind, parts.features[:, label], most),
        *_largest("label", parts.labels[:, label], most),
    ]


def _largest(kind: str, values: Array, most: int) -> list[Step]:
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    # A bar for "1 other" would take the same space as that one with its name.
    shown = order if len(order) == most + 1 else order[:most]
    rest = order[len(shown) :]
    bars = [Step(kind, int(i), float(values[i])) for i in shown]
    if len(rest):
        bars.append(Step(kind, -1, float(values[rest].sum()), len(rest)))
    return bars
