"""Logistic regression of every label, to be averaged with the scores of sparse rows."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from homi.arrays import dense
from homi.linalg import Array
from homi.linear import LinearMargins, fit_margins, held_out_margins, log_loss
from homi.model.batches import Batches, HeldRows, is_whole
from homi.model.fold_scores import held_out_rows
from homi.model.search import Search
from homi.typing import Indices

#: Values of C that are compared, times the variance of the rows: from weak to strong.
_STRENGTHS = (3.0, 10.0, 30.0, 100.0)
#: Gradient at which a fit ends: held-out scores hardly change below.
_TOL = 1e-2
_MAX_ITER = 200
#: Folds of the held-out margins.
_FOLDS = 5
#: Share of values other than 0 up to which rows are sparse, in whatever form.
_MOST_VALUES = 0.2
#: Most such values times labels: minutes.
_MOST_PRODUCTS = 1e9


class Logistic(NamedTuple):
    """Margins of all labels, and those of the training rows by the other folds."""

    margins: LinearMargins
    held_out: Array


def wants_logistic(batches: Batches, logistic: bool | str) -> bool:
    """Return True if it was requested, or most values are 0.

    Rows with a value for each feature gain nothing by it. A single row cannot be held
    out.
    """
    if batches.n < 2:
        return False
    if isinstance(logistic, bool):
        return logistic
    X, Y, *_ = batches.sample
    if not is_whole(batches):
        return False
    stored = int(X.nnz if sparse.issparse(X) else np.count_nonzero(X))
    n, m = X.shape
    return is_few_products(n, m, Y.shape[1], stored)


def is_few_products(n: int, m: int, n_labels: int, stored: int) -> bool:
    """Return True if few of the n × m values are stored, and products are few too."""
    is_sparse = stored <= _MOST_VALUES * n * m
    return is_sparse and float(stored) * n_labels <= _MOST_PRODUCTS


def fit_logistic(
    rows: HeldRows, search: Search, *, seed: int, n_jobs: int | None
) -> Logistic:
    """Fit logistic regressions; C is chosen on one fold of the search's sample.

    Parameters
    ----------
    rows : HeldRows
        All rows.
    search : Search
        Its sample of rows, and their labels.
    seed : int
        Seed of the folds.
    n_jobs : int or None
        Number of threads, which work on different labels.

    Returns
    -------
    logistic : Logistic
        Fitted to all rows, with held-out margins.
    """
    X, Y = sparse.csr_array(rows.X), np.asarray(dense(rows.Y), dtype=np.float64)
    C = _chosen_strength(search, seed, n_jobs) / _variance(X)

    def fit(places: Indices) -> LinearMargins:
        weight = None if rows.weights is None else rows.weights[places]
        known = None if rows.known is None else rows.known[places]
        return _fit(
            X[places], Y[places], C=C, weight=weight, known=known, n_jobs=n_jobs
        )

    rng = np.random.default_rng(seed)
    held_out = held_out_margins(X, Y.shape[1], fit, n_splits=_FOLDS, rng=rng)
    return Logistic(fit(np.arange(X.shape[0])), held_out)


_fit = partial(fit_margins, loss="log", tol=_TOL, max_iter=_MAX_ITER)


def _chosen_strength(search: Search, seed: int, n_jobs: int | None) -> float:
    """Return the strength of greatest likelihood on held-out rows."""
    sample = search.features
    X, Y, cells = sparse.csr_array(sample.X), sample.Y, sample.cells
    test = next(iter(held_out_rows(len(Y), seed)))
    train = np.setdiff1d(np.arange(len(Y)), test)
    # Filled-in labels are numbers between 0 and 1.
    given, labels = X[train], Y[train] > 0.5
    scale, margins, losses = _variance(X), None, []
    for strength in _STRENGTHS:
        C = strength / scale
        margins = _fit(given, labels, C=C, start=margins, n_jobs=n_jobs)
        P = expit(np.asarray(margins(X[test])))
        losses.append(log_loss(Y[test], P, None if cells is None else cells[test]))
        if losses[-1] > min(losses):
            break
    return _STRENGTHS[int(np.argmin(losses))]


def _variance(X: sparse.csr_array) -> float:
    """Return the mean squared distance of the rows from their mean."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    return float(X.data @ X.data / X.shape[0] - mean @ mean) or 1.0
