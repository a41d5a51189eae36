"""Where predictions are wrong: confused labels, calibration, thresholds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from homi.typing import Array, Indices, Mask

#: Bins of a histogram of probabilities; thresholds are multiples of its width.
BINS = 200
#: Pairs of confused labels that are listed, and rows that each of them names.
_MOST_PAIRS, _MOST_ROWS = 200, 5


class Pair(NamedTuple):
    """Label j was predicted wrongly in ``n_rows`` rows that have label i.

    ``expected`` is that number if the wrong predictions of j did not depend on i.
    """

    i: int
    j: int
    n_rows: int
    expected: float
    rows: list[int]


class Errors(NamedTuple):
    """Errors of the predictions of some rows.

    Attributes
    ----------
    positives, negatives : ndarray of shape (n_labels, BINS)
        Number of rows by probability, with the label and without.
    thresholds : ndarray of shape (n_labels,)
        Probability above which a label is predicted; NaN if that is not one number.
    false : ndarray of shape (n_labels, n_labels)
        Entry (i, j): rows that have label i and are wrongly predicted to have j.
    pairs : list of Pair
        The most confused ones first.
    """

    positives: Indices
    negatives: Indices
    thresholds: Array
    false: Indices
    pairs: list[Pair]


def errors(Y: Mask, P: Array, predicted: Mask) -> Errors:
    """Count the errors of predictions with probabilities P."""
    wrong = predicted & ~Y
    false = _counts(Y, wrong)
    return Errors(
        positives=histograms(P, Y),
        negatives=histograms(P, ~Y),
        thresholds=thresholds(P, predicted),
        false=false,
        pairs=confused_pairs(Y, wrong, false),
    )


def histograms(P: Array, rows: Mask) -> Indices:
    """Count the marked entries of each column of P in equal bins of probability."""
    n_labels = P.shape[1]
    bins = np.minimum((P * BINS).astype(np.intp), BINS - 1)
    bins += BINS * np.arange(n_labels)
    counts = np.bincount(bins[rows], minlength=BINS * n_labels)
    return counts.reshape(n_labels, BINS)


def thresholds(P: Array, predicted: Mask) -> Array:
    """Return the number between the probabilities of rows with and without a label.

    One half where it separates them, NaN where no number does.

    Examples
    --------
    >>> P = np.array([[0.2, 0.2], [0.3, 0.3], [0.7, 0.9]])
    >>> thresholds(P, np.array([[0, 0], [1, 0], [1, 1]]) > 0).tolist()
    [0.25, 0.5]
    """
    low = np.where(predicted, 0.0, P).max(axis=0, initial=0.0)
    high = np.where(predicted, P, 1.0).min(axis=0, initial=1.0)
    middle = np.where((low <= 0.5) & (high >= 0.5), 0.5, (low + high) / 2)
    return np.where(low <= high, middle, np.nan)


def confused_pairs(Y: Mask, wrong: Mask, false: Indices) -> list[Pair]:
    """Return the pairs whose count most exceeds that of independent errors."""
    rows_of = Y.sum(axis=0)
    lacking = rows_of[:, None] - _counts(Y, Y)
    rate = wrong.sum(axis=0) / np.maximum(len(Y) - rows_of, 1)
    expected = lacking * rate
    excess = np.where(false > 0, false - expected, 0.0)
    np.fill_diagonal(excess, 0.0)
    order = np.argsort(-excess, axis=None, kind="stable")[:_MOST_PAIRS]
    pairs = []
    for i, j in zip(*np.unravel_index(order, excess.shape), strict=True):
        if excess[i, j] <= 0:
            break
        rows = np.flatnonzero(Y[:, i] & wrong[:, j])[:_MOST_ROWS].tolist()
        number = float(expected[i, j])
        pairs.append(Pair(int(i), int(j), int(false[i, j]), number, rows))
    return pairs


def _counts(one: Mask, other: Mask) -> NDArray[np.intp]:
    """Return the number of rows that have i of one and j of the other."""
    left = sparse.csr_array(one.astype(np.int64))
    found = left.T @ sparse.csr_array(other.astype(np.int64))
    return np.asarray(found.toarray(), dtype=np.intp)
