"""Imbalance of labels, and synthetic rows that have the rare ones (MLSMOTE)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_consistent_length, check_random_state

from homi.arrays import dense
from homi.typing import Array, Indices, Mask, Matrix, MatrixLike, RandomState


def imbalance_ratios(Y: MatrixLike) -> Array:
    """Return how many times as frequent as each label the most frequent one is.

    Parameters
    ----------
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels: 0/1 or boolean, one column each.

    Returns
    -------
    ndarray of shape (n_labels,)
        IRLbl: count of the most frequent label divided by the label's own count;
        infinite for a label that never occurs. Their mean is the MeanIR.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera. Addressing imbalance in
    multilabel classification: Measures and random resampling algorithms.
    Neurocomputing 163, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from homi.datasets import imbalance_ratios
    >>> imbalance_ratios(np.array([[1, 0], [1, 0], [1, 1], [1, 0]])).tolist()
    [1.0, 4.0]
    """
    counts = _checked_labels(Y).sum(axis=0)
    ratios = np.full(len(counts), np.inf)
    return np.divide(counts.max(), counts, out=ratios, where=counts > 0)


def oversample(
    X: MatrixLike,
    Y: MatrixLike,
    *,
    n_neighbors: int = 5,
    random_state: RandomState = 0,
) -> tuple[Any, Any]:
    """Add synthetic rows for rare labels, as MLSMOTE does.

    A label is rare if its IRLbl exceeds the mean over the labels. Each row that has it
    gives one new row, which lies between the row and one of its nearest rows with the
    same label, and has the labels of more than half of these and itself.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows of numbers. Scale them first if their units differ. Oversample the
        training rows only, after the split.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels)
        Labels: 0/1 or boolean, one column each.
    n_neighbors : int in [1, inf), default=5
        Number of nearest rows, by Euclidean distance. A label that only one row has
        gives no new row.
    random_state : int, RandomState instance or None, default=0
        Seed of the new rows.

    Returns
    -------
    X, Y : ndarray or CSR array
        The rows as given, then the new ones, as new arrays. Data frames become arrays.

    Notes
    -----
    Rare labels and neighbors are found among the given rows only, so that the order of
    the labels has no effect.

    References
    ----------
    F. Charte, A. Rivera, M. J. del Jesus, F. Herrera. MLSMOTE: Approaching imbalanced
    multilabel learning through synthetic instance generation. Knowledge-Based Systems
    89, 2015.

    Examples
    --------
    >>> from homi.datasets import imbalance_ratios, load, oversample
    >>> X, Y = load("yeast")[:2]
    >>> X_more, Y_more = oversample(X, Y)
    >>> len(X), len(X_more)
    (2417, 2629)
    >>> [round(float(imbalance_ratios(A).mean()), 1) for A in (Y, Y_more)]
    [7.2, 5.0]
    """
    if isinstance(n_neighbors, bool) or not n_neighbors >= 1:
        raise ValueError(f"n_neighbors must be at least 1, got {n_neighbors!r}.")
    # Differences of unsigned integers would not be negative.
    rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32))
    labels = _checked_labels(Y)
    check_consistent_length(rows, labels)
    rng = check_random_state(random_state)
    bags = [np.flatnonzero(labels[:, j]) for j in _rare(labels)]
    new = [_synthesize(rows, labels, bag, n_neighbors, rng) for bag in bags]
    given: Any = Y if sparse.issparse(Y) else np.asarray(Y)
    more = [part.astype(given.dtype) for _, part in new]
    return _stack([rows, *(part for part, _ in new)]), _stack([given, *more])


def _rare(labels: Mask) -> Indices:
    """Return the labels of at least two rows whose IRLbl is above the mean."""
    counts, ratios = labels.sum(axis=0), imbalance_ratios(labels)
    found = counts > 0
    mean = ratios[found].mean() if found.any() else np.inf
    return np.flatnonzero((counts > 1) & (ratios > mean))


def _synthesize(
    X: Matrix, Y: Mask, bag: Indices, n_neighbors: int, rng: np.random.RandomState
) -> tuple[Matrix, Mask]:
    """Return one new row, and its labels, for every row of a bag."""
    k = min(n_neighbors, len(bag) - 1)
    search = NearestNeighbors(n_neighbors=k).fit(X[bag])
    # Without an argument, a row is not its own neighbor.
    near = bag[search.kneighbors(return_distance=False)]
    chosen = near[np.arange(len(bag)), rng.randint(k, size=len(bag))]
    step = X[chosen] - X[bag]
    if sparse.issparse(step):
        step.data *= rng.random_sample(len(step.data))
    else:
        step = step * rng.random_sample(step.shape)
    votes = Y[near].sum(axis=1) + Y[bag]
    return X[bag] + step, votes > (k + 1) / 2


def _stack(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(A) for A in parts]))
    return np.vstack(parts)


def _checked_labels(Y: MatrixLike) -> Mask:
    values = np.asarray(dense(Y))
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(
            f"Y must be (n_samples, n_labels), got shape {values.shape}; pass one row "
            "per sample and one 0/1 column per label."
        )
    if not ((values == 0) | (values == 1)).all():
        raise ValueError(
            f"Y must hold only 0 and 1, got {np.unique(values)[:4].tolist()}; for "
            "-1/+1 labels pass Y > 0."
        )
    return values.astype(bool)
