"""Statistics of the data: co-occurrence of labels, and quality of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from homi.arrays import dense
from homi.explorer.high_order import LabelSet, label_sets
from homi.explorer.layout import off_diagonal
from homi.typing import Array, Indices, Mask, Matrix


@dataclass(frozen=True)
class Evidence:
    """Co-occurrence of labels, and small sets of labels that explain others.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    YtY : array of shape (n_labels, n_labels)
        Number of rows with both labels; with the label on the diagonal.
    sets : list of LabelSet
        The set of labels that explains each label.
    """

    n_samples: int
    YtY: Array
    sets: list[LabelSet]


class Agreement(NamedTuple):
    """``pairs`` entries of B with a nonzero φ, of which ``same`` have its sign."""

    same: int
    pairs: int


@dataclass(frozen=True)
class Quality:
    """Quality of the predictions of each label of a test set; NaN where undefined.

    Recall and AUC need rows with the label, precision needs rows predicted to have it.
    """

    positives: Indices
    auc: Array
    precision: Array
    recall: Array
    f1: Array


def evidence(Y: Matrix) -> Evidence:
    """Count labels; Y is a 0/1 array or sparse matrix."""
    if sparse.issparse(Y):
        Y = Y.astype(np.float64)
        YtY = dense(Y.T @ Y)
    else:
        Y = np.asarray(Y, dtype=np.float64)
        YtY = Y.T @ Y
    return Evidence(Y.shape[0], YtY, label_sets(YtY, Y.shape[0]))


def phi(YtY: Array, n_samples: float) -> Array:
    """Pearson's correlation of two 0/1 labels; NaN where one of them is constant.

    Examples
    --------
    >>> Y = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0]], dtype=float)
    >>> phi(Y.T @ Y, 4).round(3).tolist()[0]
    [1.0, 0.577, nan]
    """
    counts = np.diag(YtY)
    spread = counts * (n_samples - counts)
    above = n_samples * YtY - np.outer(counts, counts)
    below = np.sqrt(np.outer(spread, spread))
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def agreement(B: Array, data: Evidence) -> Agreement:
    """Count the entries of B off the diagonal that have the sign of φ."""
    correlation = np.nan_to_num(phi(data.YtY, data.n_samples))
    signs = np.sign(off_diagonal(B)) * np.sign(correlation)
    return Agreement(int((signs > 0).sum()), int((signs != 0).sum()))


def quality(Y: Matrix, scores: Array, predicted: Mask) -> Quality:
    """Compute AUC from the scores, and the rest from the predictions, of each label."""
    Y = np.asarray(dense(Y)) > 0
    positives, hits = Y.sum(axis=0), (Y & predicted).sum(axis=0)
    negatives, claimed = len(Y) - positives, predicted.sum(axis=0)
    # Mann and Whitney's U: the sum of the ranks of the positives, ties halved.
    wins = (rankdata(scores, axis=0) * Y).sum(axis=0) - positives * (positives + 1) / 2
    return Quality(
        positives=positives,
        auc=_share(wins, positives * negatives),
        precision=_share(hits, claimed),
        recall=_share(hits, positives),
        f1=_share(2 * hits, positives + claimed),
    )


def _share(part: NDArray[Any], whole: NDArray[Any]) -> Array:
    part, whole = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)
