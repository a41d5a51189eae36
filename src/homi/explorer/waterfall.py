"""Why a row has its scores: what each feature and each other label added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Waterfalls:
    """The scores of one row, taken apart.

    ``start + features.sum(axis=0) + labels.sum(axis=0)`` is the row's g(x).

    Attributes
    ----------
    start : array of shape (n_labels,)
        Scores of the row that contributions are counted from.
    features : array of shape (n_features, n_labels)
        Entry (f, j): what feature f adds to label j through label j's own model,
        ``(x_f - c_f) W_fj B_jj``.
    labels : array of shape (n_labels, n_labels)
        Entry (i, j): what label i adds to label j, ``f_i B_ij`` with
        ``f = (x - c) W``; 0 where i is j.
    """

    start: Array
    features: Array
    labels: Array

    @property
    def scores(self) -> Array:
        """g(x), one number for each label."""
        return self.start + self.features.sum(axis=0) + self.labels.sum(axis=0)

    def as_log_odds(self, slope: Array, offset: Array) -> Waterfalls:
        """The same for ``slope (g(x) - 1/2) + offset`` of each label."""
        start = slope * (self.start - 0.5) + offset
        return Waterfalls(start, self.features * slope, self.labels * slope)


@dataclass(frozen=True)
class Step:
    """One bar of a waterfall. ``index`` is -1 where ``count`` of them are together."""

    kind: str
    index: int
    value: float
    count: int = 1


def waterfalls(
    x: Array, W: Array, z: Array, B: Array, t: Array, centre: Array | None = None
) -> Waterfalls:
    """Take ``g(x) = (xW + z)B + t`` apart.

    Parameters
    ----------
    x : array of shape (n_features,)
        The row.
    W, z, B, t : arrays
        The model, as in the paper.
    centre : array of shape (n_features,), optional
        c, the row that contributions are counted from, such as the mean of the
        rows; zeros if there is none.

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
    centre = np.zeros_like(x) if centre is None else centre
    away = x - centre
    labels = (away @ W)[:, None] * B
    np.fill_diagonal(labels, 0.0)
    return Waterfalls(
        start=(centre @ W + z) @ B + t,
        features=away[:, None] * W * np.diag(B),
        labels=labels,
    )


def steps(parts: Waterfalls, label: int, *, most: int = 8) -> list[Step]:
    """The bars between the start and the score of one label.

    The `most` largest features, the rest of them together, then the same of the
    labels. What adds nothing has no bar.
    """
    return [
        *_largest("feature", parts.features[:, label], most),
        *_largest("label", parts.labels[:, label], most),
    ]


def _largest(kind: str, values: Array, most: int) -> list[Step]:
    order = np.argsort(-np.abs(values), kind="stable")
    order = order[values[order] != 0]
    # One bar for "1 other" would say less than its name.
    shown = order if len(order) == most + 1 else order[:most]
    rest = order[len(shown) :]
    bars = [Step(kind, int(i), float(values[i])) for i in shown]
    if len(rest):
        bars.append(Step(kind, -1, float(values[rest].sum()), len(rest)))
    return bars
