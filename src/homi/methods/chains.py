"""Classifier chains: predicted labels are features of later classifiers."""

from __future__ import annotations

import math
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.multioutput import ClassifierChain as OneChain

from homi.arrays import dense
from homi.base._compat import Interval, StrOptions
from homi.base.scaling import Scaler
from homi.linear import LinearMargins, SideBySide, Sigmoids
from homi.methods.label_models import LabelModel, fit_linear, fit_wrapped, unscaled
from homi.typing import Array, Fields, Indices, Mask, Matrix

SHARED_CONSTRAINTS = {
    "estimator": "no_validation",
    "C": [Interval(Real, 0, None, closed="neither")],
    "loss": [StrOptions({"squared_hinge", "log"})],
    "standardize": ["boolean"],
    "tol": [Interval(Real, 0, None, closed="neither")],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}

#: Labels with at most this share of ones stay sparse beside dense rows: products then
#: cost at most a fifth of dense ones. With more ones, labels are mostly few and
#: frequent, and the full Gram matrix of dense rows saves steps.
_THIN = 0.05


class LinearChain(NamedTuple):
    """Margins that are linear in the features and in the labels predicted earlier.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        Labels in the order of the chain.
    linear : LinearMargins
        Contribution of the features.
    weights : ndarray of shape (n_labels, n_labels)
        Entry (i, j) is added to the margin of label j if label i is predicted.
    sigmoids : Sigmoids
        Maps margins to probabilities.
    """

    order: Indices
    linear: LinearMargins
    weights: Array
    sigmoids: Sigmoids

    def walk(self, X: Matrix) -> Array:
        """Compute margins along the chain; a margin above 0 predicts its label."""
        F = self.linear(X)
        for label in self.order:
            F[F[:, label] > 0.0] += self.weights[label]
        return F

    def margins(self, X: Matrix) -> Array:
        """Return scores, above 0 where a label is predicted."""
        return self.walk(X)

    def probabilities(self, X: Matrix) -> Array:
        """Return probabilities, strictly between 0 and 1."""
        return self.sigmoids(self.walk(X))

    def unscaled(self, scaler: Scaler) -> LinearChain:
        """Return the chain for unscaled rows."""
        return self._replace(linear=unscaled(self.linear, scaler))


def fit_chain(
    X: Matrix,
    Y: Matrix,
    order: Indices,
    *,
    features: Mask | None = None,
    related: Mask | None = None,
    **options: Any,
) -> LinearChain:
    """Fit the linear classifiers of a chain.

    Training uses true labels, so the chain is one problem in which the weights of later
    labels are 0.

    Parameters
    ----------
    X, Y : array or CSR matrix
        Rows and labels.
    order : ndarray of shape (n_labels,)
        Labels in the order of the chain.
    features : bool array of shape (n_features, n_labels), or None
        Features that a label may use; None means all.
    related : bool array of shape (n_labels, n_labels), or None
        Earlier labels (rows) that a label (column) may use; None means all.
    **options
        ``C``, ``loss``, ``tol``, ``rng``, ``draws`` and ``n_jobs`` of
        :func:`fit_linear`.
    """
    m, q, place = X.shape[1], len(order), np.argsort(order)
    earlier = place[:, None] < place
    if related is not None:
        earlier &= related
    if features is None:
        features = np.ones((m, q), dtype=bool)
    allowed = np.vstack([features, earlier])
    linear, sigmoids = fit_linear(_beside(X, Y), Y, allowed=allowed, **options)
    weights = linear.coef[m:].copy()
    linear = linear._replace(coef=linear.coef[:m].copy())
    return LinearChain(order, linear, weights, sigmoids)


def _beside(X: Matrix, Y: Matrix) -> Matrix:
    thin = sparse.csr_array(Y)
    if sparse.issparse(X):
        return sparse.hstack([X, thin], format="csr")
    if thin.nnz <= _THIN * math.prod(thin.shape):
        return SideBySide((X, thin.astype(np.float64)))
    return np.hstack([X, dense(Y)])


def fit_one(
    X: Matrix,
    Y: Matrix,
    order: Indices,
    estimator: BaseEstimator,
    options: Fields,
    rng: np.random.RandomState,
    draws: Indices | None = None,
) -> LabelModel:
    """Fit one chain to the rows ``draws``, possibly repeated; None means all rows."""
    if estimator is None:
        return fit_chain(X, Y, order, rng=rng, draws=draws, **options)
    if draws is not None:
        X, Y = X[draws], Y[draws]
    return fit_wrapped(partial(_one_chain, estimator, order), X, Y, rng)


def _one_chain(estimator: BaseEstimator, order: Indices, labels: Indices) -> OneChain:
    """Return scikit-learn's chain of some labels, renumbered from 0."""
    some = order[np.isin(order, labels)]
    return OneChain(estimator, order=np.searchsorted(labels, some))
