"""Margins of rows that the classifier was not fitted on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.linear.losses import Array


def held_out_margins(
    X: Any,
    n_labels: int,
    fit: Callable[[NDArray[np.intp]], Any],
    *,
    draws: NDArray[np.intp] | None = None,
    n_splits: int = 3,
    rng: np.random.RandomState | np.random.Generator,
) -> Array:
    """Margins of each row from a fit to the other folds.

    All labels share the folds, which are drawn without regard to the labels, as in
    LIBSVM. Each fit starts afresh: one that began at a solution for all rows would,
    ending at a finite tolerance, still know the rows held out.

    Parameters
    ----------
    X : array, CSR matrix or SideBySide of shape (n_samples, n_features)
        Rows.
    n_labels : int
        Margins of a row.
    fit : callable
        ``fit(rows)``, of the numbers of rows to learn from, gives a callable from rows
        to margins.
    draws : array of int of shape (n_draws,), or None
        Numbers of the rows that there are, of which some may come more than once; None
        for all of X.
    n_splits : int
        Number of folds; never more than rows.
    rng : RandomState or Generator
        Shuffles the rows.

    Returns
    -------
    margins : ndarray of shape (n_samples, n_labels), or (n_draws, n_labels)
    """
    draws = np.arange(X.shape[0]) if draws is None else draws
    order = rng.permutation(len(draws))
    margins = np.zeros((len(draws), n_labels))
    if len(order) < 2:
        return margins
    for test in np.array_split(order, min(n_splits, len(order))):
        train = np.setdiff1d(order, test)
        margins[test] = fit(draws[train])(X[draws[test]])
    return margins
