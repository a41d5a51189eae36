"""Find a small set of labels that explains another label, from YᵀY alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homi.typing import Array, Indices

#: A label with less than this share of unexplained variance is not a candidate.
_DEPENDENT = 1e-9


@dataclass(frozen=True)
class LabelSet:
    """Labels that predict another by least squares, in order of selection.

    Attributes
    ----------
    label : int
        The explained label.
    members : tuple of int
        Labels of the set; empty if none explains enough, or the label is constant.
    r2 : tuple of float
        R² of the regression on the first member, on the first two, and so on. The
        first is that of the best single label.
    weights : tuple of float
        Weight of each member in the regression on all of them.
    intercept : float
        Intercept of this regression.
    """

    label: int
    members: tuple[int, ...]
    r2: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float


def label_sets(
    YtY: Array, n_samples: float, *, most: int = 5, least_gain: float = 0.01
) -> list[LabelSet]:
    """Explain every label by few others.

    Forward selection by orthogonal least squares: the next member is the label that
    adds most to the R² of ``y_j ≈ c + Σ w_i y_i``. Selection stops at ``most`` labels,
    or if the next one would add less than ``least_gain``.

    Parameters
    ----------
    YtY : array of shape (n_labels, n_labels)
        Number of rows with both labels; with the label on the diagonal.
    n_samples : float
        Number of rows.
    most : int, default=5
        Maximum number of labels of a set.
    least_gain : float, default=0.01
        Minimum increase of R² by a label.

    Returns
    -------
    list of LabelSet
        One for each label.

    Notes
    -----
    A label that is a function of two others needs both: the first alone may explain
    little. Forward selection finds the best single label, and the best pair only if it
    contains that label. All labels are explained at once, in O(l²) per member of the
    sets.

    Examples
    --------
    Every row with rainforest and soccer is about Brazil, and no other row:

    >>> rainforest = np.array([1, 1, 1, 0, 0, 0, 1, 0])
    >>> soccer = np.array([1, 1, 0, 1, 0, 1, 0, 0])
    >>> brazil = rainforest * soccer
    >>> Y = np.stack([rainforest, soccer, brazil], axis=1).astype(float)
    >>> brazil = label_sets(Y.T @ Y, len(Y))[2]
    >>> brazil.members, [round(r2, 2) for r2 in brazil.r2]
    ((0, 1), [0.33, 0.67])
    """
    counts = np.diag(YtY)
    C = YtY / n_samples - np.outer(counts, counts) / n_samples**2
    chosen, r2 = _forward(C, most)
    gains = np.diff(r2, axis=1, prepend=0.0)
    # The first member that adds too little ends the set.
    sizes = np.logical_and.accumulate(gains >= least_gain, axis=1).sum(axis=1)
    means = counts / n_samples
    return [
        _label_set(C, means, j, chosen[j, :size], r2[j, :size])
        for j, size in enumerate(sizes)
    ]


def _forward(C: Array, most: int) -> tuple[Indices, Array]:
    """Select members for all labels, one row each; return them and the R² values.

    Row j of the arrays belongs to label j and column i to candidate i: its variance,
    and its covariance with label j, that the members so far leave unexplained.
    """
    n_labels = len(C)
    scale = np.diag(C).copy()
    varied = scale > 0
    left, covariance = np.tile(scale, (n_labels, 1)), C.copy()
    free = np.tile(varied, (n_labels, 1)) & varied[:, None]
    np.fill_diagonal(free, False)
    rows, directions = np.arange(n_labels), list[Array]()
    chosen, r2 = [], [np.zeros(n_labels)]
    for _ in range(min(most, n_labels - 1)):
        free &= left > _DEPENDENT * scale
        gain = np.divide(covariance**2, left, out=np.zeros_like(left), where=free)
        member = gain.argmax(axis=1)
        # Gram-Schmidt: covariance of every candidate with the new direction.
        direction = C[member] - sum(d[rows, member, None] * d for d in directions)
        norm = np.sqrt(np.where(free[rows, member], left[rows, member], np.inf))
        direction = direction / norm[:, None]
        covariance = covariance - direction[rows, rows, None] * direction
        left = np.maximum(left - direction**2, 0.0)
        free[rows, member] = False
        directions.append(direction)
        chosen.append(member)
        r2.append(r2[-1] + gain[rows, member] / np.where(varied, scale, 1.0))
    if not chosen:
        return np.zeros((n_labels, 0), dtype=np.intp), np.zeros((n_labels, 0))
    return np.stack(chosen, axis=1), np.minimum(np.stack(r2[1:], axis=1), 1.0)


def _label_set(
    C: Array, means: Array, label: int, members: Indices, r2: Array
) -> LabelSet:
    weights = np.linalg.solve(C[np.ix_(members, members)], C[members, label])
    intercept = means[label] - means[members] @ weights
    return LabelSet(
        label,
        tuple(members.tolist()),
        tuple(r2.tolist()),
        tuple(weights.tolist()),
        float(intercept),
    )
