"""Label powerset: one multiclass classifier whose classes are the label sets."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from homi.arrays import dense
from homi.base._compat import Interval
from homi.base.classifier import agreeing
from homi.base.scaling import Scaler
from homi.base.targets import Target
from homi.base.weights import UnweightedMixin
from homi.methods.wrapping import WrappingClassifier, seeded
from homi.threads import one_thread
from homi.typing import Array, Indices, Matrix, RandomState

_DEFAULT = LogisticRegression(C=0.03, tol=1e-4, max_iter=2000)

#: Smallest distance of a probability from 0 and 1.
_EDGE = 1e-12


class LabelPowerset(UnweightedMixin, WrappingClassifier):
    r"""Label powerset: every label set that occurs is a class.

    One multiclass classifier estimates the probability of each label set s. The most
    probable set is predicted; the probability of a label is the sum over the sets that
    contain it:

    .. math::
        \hat y = \arg\max_s P(s \mid x), \qquad
        P(y_j \mid x) = \sum_{s\,:\,s_j = 1} P(s \mid x)

    It models how all labels depend on each other, and predicts only sets that occur in
    training. Good where there are few distinct sets with many rows each.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Multiclass classifier. None means logistic regression with C = 0.03, which
        suits standardized features. Without ``predict_proba``, the predicted set has
        probability 1.
    min_rows : int in [1, inf), default=1
        Drop label sets with fewer rows, and these rows, as in Read's pruned
        transformation. If no set has that many rows, the most frequent sets stay.
    standardize : bool, default=True
        Whether to scale every feature to mean 0 and variance 1 first. Sparse rows are
        scaled to variance 1 only.
    random_state : int, RandomState instance or None, default=0
        Seed of a classifier that needs one.

    Attributes
    ----------
    label_sets_ : ndarray of shape (n_sets, n_labels)
        The label sets, as 0 and 1.
    estimator_ : object
        The fitted classifier, whose class i is label set i; None if there is only one.
    scaler_ : Scaler or None
        Scaling of the features; None without ``standardize``.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    The cost is that of one classifier with as many classes as label sets, at most one
    per row. Where the probability of a label contradicts its prediction,
    ``predict_proba`` returns a value next to one half that agrees with it.

    References
    ----------
    G. Tsoumakas, I. Katakis. Multi-Label Classification: An Overview. International
    Journal of Data Warehousing and Mining 3(3), 2007.

    J. Read. A Pruned Problem Transformation Method for Multi-label Classification.
    New Zealand Computer Science Research Student Conference, 2008.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import LabelPowerset
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = LabelPowerset().fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    """

    _unweighted = "it counts the rows of each label set"
    _parameter_constraints = {
        "estimator": "no_validation",
        "min_rows": [Interval(Integral, 1, None, closed="left")],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        min_rows: int = 1,
        standardize: bool = True,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.min_rows = min_rows
        self.standardize = standardize
        self.random_state = random_state

    def _fit(self, X: Matrix, target: Target) -> None:
        rng = check_random_state(self.random_state)
        self.label_sets_, codes = label_sets(dense(target.indicator), self.min_rows)
        used = codes >= 0
        X, codes = (X, codes) if used.all() else (X[used], codes[used])
        self.scaler_ = Scaler.fit(X) if self.standardize else None
        base = seeded(_DEFAULT if self.estimator is None else self.estimator, rng)
        self.estimator_ = None
        if len(self.label_sets_) > 1:
            self.estimator_ = _fit_classes(base, self._scaled(X), codes)

    def _scaled(self, X: Matrix) -> Matrix:
        return X if self.scaler_ is None else self.scaler_(X)

    def _scores(self, X: Matrix) -> Array:
        P = self._set_probabilities(self._scaled(X))
        predicted = self.label_sets_[P.argmax(axis=1)] > 0
        return agreeing(P @ self.label_sets_, predicted) - 0.5

    def _set_probabilities(self, X: Matrix) -> Array:
        """Return ``P(s | x)`` of every label set."""
        n_sets = len(self.label_sets_)
        if self.estimator_ is None:
            return np.ones((X.shape[0], 1))
        if hasattr(self.estimator_, "predict_proba"):
            return self.estimator_.predict_proba(X)
        return np.eye(n_sets)[self.estimator_.predict(X)]

    def _probabilities(self, scores: Array) -> Array:
        return np.clip(scores + 0.5, _EDGE, 1.0 - _EDGE)


def label_sets(
    Y: Array | NDArray[np.int8], min_rows: int
) -> tuple[NDArray[np.int8], Indices]:
    """Return the frequent label sets, and the index of each row's set.

    The index is -1 for a row whose set is dropped.
    """
    sets, codes, counts = np.unique(
        Y.astype(np.int8), axis=0, return_inverse=True, return_counts=True
    )
    kept = counts >= min(min_rows, counts.max())
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    return sets[kept], number[codes.ravel()]


def _fit_classes(base: BaseEstimator, X: Matrix, codes: Indices) -> BaseEstimator:
    with one_thread(), warnings.catch_warnings():
        # Expected: few rows may have many label sets.
        warnings.filterwarnings("ignore", "The number of unique classes")
        return base.fit(X, codes)
