"""Margins of rows that the classifier was not fitted on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from homi.margins.losses import Array


def held_out_margins(
    X: Any,
    Y: Any,
    fit: Callable[[Any, Any], Any],
    *,
    n_splits: int = 3,
    rng: np.random.RandomState | np.random.Generator,
) -> Array:
    """Margins of each row from a fit to the other folds.

    All labels share the folds, which are drawn without regard to the labels, as in
    LIBSVM. Each fit starts afresh: one that began at a solution for all rows would,
    ending at a finite tolerance, still know the rows held out.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
        Rows.
    Y : array or CSR matrix of shape (n_samples, n_labels)
        Labels, 0 or 1.
    fit : callable
        ``fit(X, Y)`` gives a callable from rows to margins.
    n_splits : int
        Number of folds; never more than rows.
    rng : RandomState or Generator
        Shuffles the rows.

    Returns
    -------
    margins : ndarray of shape (n_samples, n_labels)
    """
    order = rng.permutation(X.shape[0])
    margins = np.zeros(Y.shape)
    if len(order) < 2:
        return margins
    for test in np.array_split(order, min(n_splits, len(order))):
        train = np.setdiff1d(order, test)
        margins[test] = fit(X[train], Y[train])(X[test])
    return margins
