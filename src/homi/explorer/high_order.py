"""The smallest set of other labels that explains a label, from YᵀY alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: A label whose variance the chosen ones leave less than this share of adds nothing.
_DEPENDENT = 1e-9


@dataclass(frozen=True)
class LabelSet:
    """Labels that reconstruct another by least squares, in the order they were chosen.

    Attributes
    ----------
    label : int
        The label that is explained.
    members : tuple of int
        Labels of the set; empty if none explains enough, or if the label is constant.
    r2 : tuple of float
        R² of the reconstruction by the first, by the first two, … of them. The first
        is that of the best single label.
    weights : tuple of float
        Weight of each member in the reconstruction by all of them.
    intercept : float
        Its intercept.
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

    Forward selection by orthogonal least squares: the label that adds most to the R²
    of ``y_j ≈ c + Σ w_i y_i`` comes next, and the set ends before one that would add
    less than `least_gain`, or with `most` labels.

    Parameters
    ----------
    YtY : array of shape (n_labels, n_labels)
        Rows with both labels; rows with a label on the diagonal.
    n_samples : float
        Number of rows.
    most : int, default=5
        Most labels of a set.
    least_gain : float, default=0.01
        What a label must add to R².

    Returns
    -------
    list of LabelSet
        One for each label.

    Notes
    -----
    A label that is a function of two others needs both: the first alone may say
    little. Forward selection finds the best single label, but the best pair only if
    one of the pair is that label. All labels are explained at once, in O(l²) for each
    member of the sets.

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
    # Every later member is left out with the first that adds too little.
    sizes = np.logical_and.accumulate(gains >= least_gain, axis=1).sum(axis=1)
    means = counts / n_samples
    return [
        _label_set(C, means, j, chosen[j, :size], r2[j, :size])
        for j, size in enumerate(sizes)
    ]


def _forward(C: Array, most: int) -> tuple[NDArray[np.intp], Array]:
    """Members of the sets of all labels, one row each, and R² as they are added.

    Row j of the arrays belongs to label j, column i to candidate i: what the members
    chosen so far leave of its variance, and of its covariance with label j.
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
        # Gram-Schmidt: the member's direction, as every candidate sees it.
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
    C: Array, means: Array, label: int, members: NDArray[np.intp], r2: Array
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
