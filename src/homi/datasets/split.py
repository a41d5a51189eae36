"""Stratified split into a training and a test set."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, indexable

from homi.datasets.folds import check_groups, check_labels, check_order
from homi.datasets.stratify import Order, assign_folds
from homi.typing import Indices, MatrixLike, RandomState


def train_test_split(
    X: MatrixLike,
    Y: MatrixLike,
    *arrays: Any,
    test_size: float = 0.25,
    order: Order = 2,
    groups: MatrixLike | None = None,
    random_state: RandomState = 0,
) -> list[Any]:
    """Split rows into a training and a test set with the same share of every label.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Rows.
    Y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
        Labels: 0/1 or boolean, one column each, or 1-D classes.
    *arrays : array-likes of length n_samples
        More to split in the same way, such as sample weights.
    test_size : float in (0, 1) or int, default=0.25
        Share of the rows in the test set, rounded up, or their number. Exact with
        ``order=2`` and without groups.
    order : {1, 2}, default=2
        1 balances labels, 2 also pairs of labels; see
        :class:`~homi.datasets.IterativeStratifiedKFold`.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each row. Rows of a group stay together.
    random_state : int, RandomState instance or None, default=0
        Seed of the split.

    Returns
    -------
    list
        ``X_train, X_test, Y_train, Y_test``, and two more for each of ``arrays``, in
        the containers they came in and in the order of the rows.

    Examples
    --------
    >>> from homi.datasets import load, train_test_split
    >>> X, Y = load("yeast")[:2]
    >>> X_train, X_test, Y_train, Y_test = train_test_split(X, Y)
    >>> X_train.shape, X_test.shape
    ((1812, 103), (605, 103))
    >>> float(abs(Y_train.mean(axis=0) - Y_test.mean(axis=0)).max().round(3))
    0.005
    """
    check_order(order)
    given = indexable(X, Y, *arrays)
    labels, groups = check_labels(given[1]), check_groups(groups)
    indexable(labels, groups)
    n_test = _n_test(test_size, len(labels))
    fold = assign_folds(
        labels,
        [len(labels) - n_test, n_test],
        order=order,
        rng=check_random_state(random_state),
        groups=groups,
    )
    parts = [np.flatnonzero(fold == i) for i in range(2)]
    if not len(parts[0]) or not len(parts[1]):
        raise ValueError(
            f"one of the sets is empty with test_size={test_size!r} and "
            f"{len(labels)} samples; pass more rows or groups, or another test_size."
        )
    return [_take(array, rows) for array in given for rows in parts]


def _n_test(test_size: Any, n: int) -> int:
    """Return the number of test rows, rounded as scikit-learn does."""
    is_count = isinstance(test_size, Integral) and not isinstance(test_size, bool)
    is_share = isinstance(test_size, Real) and 0 < float(test_size) < 1
    n_test = math.ceil(test_size * n) if is_share else test_size
    if (is_count or is_share) and 0 < n_test < n:
        return int(n_test)
    raise ValueError(
        "test_size must be a share between 0 and 1 or a number of rows, and leave some "
        f"of the {n} samples for training; got {test_size!r}."
    )


def _take(array: Any, rows: Indices) -> Any:
    """Return some rows of an array, a sparse matrix, a data frame or a list."""
    if hasattr(array, "iloc"):
        return array.iloc[rows]
    if isinstance(array, list | tuple):
        return [array[row] for row in rows]
    return array.tocsr()[rows] if sparse.issparse(array) else array[rows]
