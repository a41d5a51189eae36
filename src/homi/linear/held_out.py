"""Cross-validated margins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.linalg import Array, Matrix
from homi.linear.centered_rows import SideBySide


def held_out_margins(
    X: Matrix | SideBySide,
    n_labels: int,
    fit: Callable[[NDArray[np.intp]], Any],
    *,
    draws: NDArray[np.intp] | None = None,
    n_splits: int = 3,
    rng: np.random.RandomState | np.random.Generator,
) -> Array:
    """Compute the margins of each row with a model fitted to the other folds.

    All labels share the folds, which are not stratified, as in LIBSVM. No fit starts
    from a solution for all rows: at a finite tolerance it would still contain
    information about the test rows.

    Parameters
    ----------
    X : array, CSR matrix or SideBySide of shape (n_samples, n_features)
        Rows.
    n_labels : int
        Number of labels.
    fit : callable
        ``fit(rows)`` takes the indices of the training rows and returns a function
        from rows to margins.
    draws : array of int of shape (n_draws,), or None
        Indices of the rows to use, such as those of a bootstrap sample; None means
        each row once.
    n_splits : int
        Number of folds, at most the number of rows.
    rng : RandomState or Generator
        Random generator that shuffles the rows.

    Returns
    -------
    margins : ndarray of shape (n_samples, n_labels), or (n_draws, n_labels)
        Cross-validated margins.
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
