"""Binary relevance: one classifier for each label, on its own."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.multiclass import OneVsRestClassifier

from homi.base._compat import Interval, StrOptions
from homi.methods._labelwise import LabelModel, MarginClassifier
from homi.methods._wrapped import fit_wrapped
from homi.methods.linear_model import fit_linear


class BinaryRelevance(MarginClassifier):
    r"""One classifier for each label, by default a linear support vector machine.

    .. math::
        \min_{w_j, b_j} \tfrac12 \|w_j\|^2 + C \sum_i \ell(\tilde y_{ij}
        (x_i^T w_j + b_j)), \qquad \tilde y = 2y - 1

    for each label j, with the loss :math:`\ell(t) = \max(0, 1 - t)^2` or
    :math:`\log(1 + e^{-t})`. A label is predicted where its margin
    :math:`x^T w_j + b_j` exceeds 0. Labels are ranked by probabilities, which are
    Platt's sigmoids of the margins, or the logistic model's own.

    Uses nothing of how labels depend on each other: the yardstick for methods that do.

    Parameters
    ----------
    estimator : classifier or None, default=None
        A binary classifier of scikit-learn to fit to each label instead. C, loss and
        tol are then unused.
    C : float in (0, inf), default=1.0
        Weight of the loss.
    loss : {"squared_hinge", "log"}, default="squared_hinge"
        ℓ: support vector machines or logistic regressions.
    standardize : bool, default=True
        Whether to give every feature variance 1, and mean 0 if the rows are dense.
    tol : float in (0, inf), default=1e-4
        A label is done when its gradient is this share of that at w = 0.
    n_jobs : int or None, default=None
        Threads, each for other labels; with ``estimator`` processes. None is one, -1
        as many as processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the inner folds for Platt's sigmoids.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        w of every label, for features as given; not with ``estimator``.
    intercept_ : ndarray of shape (n_labels,)
        b of every label, likewise.
    sigmoids_ : tuple of two ndarray of shape (n_labels,)
        Slope and offset of every label's sigmoid, likewise.
    estimator_ : OneVsRestClassifier or None
        The fitted classifiers of the labels that are not constant; only with
        ``estimator``.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    All labels are fitted together, by a descent in which each step costs two products
    with the rows. Platt's sigmoids take margins from three inner folds, or two more
    fits; the log loss needs none. An ``estimator`` without probabilities gets sigmoids
    likewise.

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
        estimator=None,
        *,
        C=1.0,
        loss="squared_hinge",
        standardize=True,
        tol=1e-4,
        n_jobs=None,
        random_state=0,
    ):
        self.estimator = estimator
        self.C = C
        self.loss = loss
        self.standardize = standardize
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_model(self, X: Any, Y: Any, rng: np.random.RandomState) -> LabelModel:
        if self.estimator is not None:
            return fit_wrapped(self._one_versus_rest, X, Y, rng)
        return fit_linear(
            X, Y, C=self.C, loss=self.loss, tol=self.tol, rng=rng, n_jobs=self.n_jobs
        )

    def _one_versus_rest(self, labels: NDArray[Any]) -> OneVsRestClassifier:
        return OneVsRestClassifier(self.estimator, n_jobs=self.n_jobs)

    def _learn(self, *given: Any) -> None:
        super()._learn(*given)
        if self.estimator is not None:
            self.estimator_ = self._model.classifier
            return
        linear, self.sigmoids_ = self._model
        self.coef_, self.intercept_ = linear.coef.T, linear.intercept
