"""Binary relevance: one independent classifier per label."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier

from homi.base._compat import Interval, StrOptions
from homi.base.scaling import Scaler
from homi.linear import LossName
from homi.methods.label_models import LabelModel, LinearModel, fit_linear, fit_wrapped
from homi.methods.labelwise import MarginClassifier
from homi.typing import Array, Fields, Indices, Matrix, RandomState


class BinaryRelevance(MarginClassifier):
    r"""Fit one classifier per label, by default a linear support vector machine.

    .. math::
        \min_{w_j, b_j} \tfrac12 \|w_j\|^2 + C \sum_i \ell(\tilde y_{ij}
        (x_i^T w_j + b_j)), \qquad \tilde y = 2y - 1

    for each label j, with the loss :math:`\ell(t) = \max(0, 1 - t)^2` or
    :math:`\log(1 + e^{-t})`. A label is predicted where its margin
    :math:`x^T w_j + b_j` exceeds 0. Labels are ranked by probabilities: Platt's
    sigmoids of the margins, or those of the logistic model.

    It ignores dependence between labels, and is the baseline for methods that model
    it.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Binary scikit-learn classifier to fit to each label instead. ``C``, ``loss``
        and ``tol`` are then ignored.
    C : float in (0, inf), default=1.0
        Weight of the loss.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        ℓ: support vector machines or logistic regressions.
    standardize : bool, default=True
        Whether to scale every feature to variance 1, and to mean 0 if X is dense.
    tol : float in (0, inf), default=1e-4
        A label has converged when the norm of its gradient is at most this share of
        the norm at w = 0.
    n_jobs : int or None, default=None
        Number of threads, or of processes with ``estimator``; each fits a part of the
        labels. None means 1, -1 means all processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the inner folds for Platt's sigmoids.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        w of every label, for unscaled features; not set with ``estimator``.
    intercept_ : ndarray of shape (n_labels,)
        b of every label; not set with ``estimator``.
    sigmoids_ : tuple of two ndarray of shape (n_labels,)
        Slope and offset of every label's sigmoid; not set with ``estimator``.
    estimator_ : OneVsRestClassifier or None
        The fitted classifiers of the labels that are not constant; only with
        ``estimator``.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    All labels are fitted together; each iteration costs two products with the rows.
    Platt's sigmoids need margins from three inner folds, which cost two more fits. The
    log loss needs no sigmoids. An ``estimator`` without ``predict_proba`` gets them.

    References
    ----------
    M. R. Boutell, J. Luo, X. Shen, C. M. Brown. Learning multi-label scene
    classification. Pattern Recognition 37(9), 2004.

    J. C. Platt. Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import BinaryRelevance
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> model = BinaryRelevance(random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape
    (2, 4)
    """

    _parameter_constraints = {
        "estimator": "no_validation",
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"squared_hinge", "log"})],
        "standardize": ["boolean"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        C: float = 1.0,
        loss: LossName = "squared_hinge",
        standardize: bool = True,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.C = C
        self.loss = loss
        self.standardize = standardize
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_model(
        self, X: Matrix, Y: Matrix, rng: np.random.RandomState, weights: Array | None
    ) -> LabelModel:
        if self.estimator is not None:
            return fit_wrapped(self._one_versus_rest, X, Y, rng)
        options: Fields = {"C": self.C, "loss": self.loss, "tol": self.tol}
        options["n_jobs"] = self.n_jobs
        return fit_linear(X, Y, rng=rng, weights=weights, **options)

    def _one_versus_rest(self, labels: Indices) -> OneVsRestClassifier:
        return OneVsRestClassifier(self.estimator, n_jobs=self.n_jobs)

    def _learn(
        self,
        X: Matrix,
        Y: Matrix,
        scaler: Scaler | None,
        rng: np.random.RandomState,
        weights: Array | None,
    ) -> None:
        super()._learn(X, Y, scaler, rng, weights)
        if self.estimator is not None:
            self.estimator_ = self.label_model_.classifier
            return
        self.__dict__.update(linear_attributes(self.label_model_))


def linear_attributes(fitted: LinearModel) -> Fields:
    """Return the fitted attributes of a model without ``estimator``."""
    linear, sigmoids = fitted
    return {
        "label_model_": fitted,
        "sigmoids_": sigmoids,
        "coef_": linear.coef.T,
        "intercept_": linear.intercept,
    }
