"""Classifier chain: predicted labels are features of later labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from homi.base._compat import StrOptions
from homi.linear import LossName
from homi.methods.chains import SHARED_CONSTRAINTS, fit_one
from homi.methods.label_models import LabelModel
from homi.methods.labelwise import MarginClassifier
from homi.typing import Array, Fields, Indices, Matrix, RandomState


class ClassifierChain(MarginClassifier):
    r"""Fit one classifier per label, with earlier labels as additional features.

    .. math::
        \min_{w, v, b} \tfrac12 (\|w_j\|^2 + \|v_j\|^2) + C \sum_i
        \ell\Bigl(\tilde y_{ij} \bigl(x_i^T w_j + \sum_{k \prec j} y_{ik} v_{kj}
        + b_j\bigr)\Bigr), \qquad \tilde y = 2y - 1

    for each label j, where k runs over the labels before it. Prediction follows the
    chain, with predicted labels in place of y: a label is predicted where its margin
    exceeds 0. Labels are ranked by their probabilities.

    Good where labels imply each other and the order suits them. An
    :class:`EnsembleOfChains` depends less on the order.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Binary scikit-learn classifier to fit to each label instead. ``C``, ``loss``
        and ``tol`` are then ignored.
    order : "random", array-like of shape (n_labels,) or None, default="random"
        Labels in the order of the chain; None means the order of the columns.
    C : float in (0, inf), default=1.0
        Weight of the loss.
    loss : {"log", "squared_hinge"}, default="log"
        Logistic regressions, ℓ(t) = log(1 + exp(-t)), or support vector machines,
        max(0, 1 - t)².
    standardize : bool, default=True
        Whether to scale every feature to variance 1, and to mean 0 if X is dense.
    tol : float in (0, inf), default=1e-4
        A label has converged when the norm of its gradient is at most this share of
        the norm at w = 0.
    n_jobs : int or None, default=None
        Number of threads, each for a part of the labels. None means 1, -1 means all
        processors. Ignored with ``estimator``.
    random_state : int, RandomState instance or None, default=0
        Seed of the order and of the inner folds of support vector machines.

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
        Labels in the order of the chain.
    label_model_ : object
        The fitted chain.
    classes_, label_names_, n_features_in_, feature_names_in_
        As in :class:`~homi.HOMI`.

    Notes
    -----
    Training uses true labels, so the whole chain is one problem for all labels at once.
    Probabilities are as in :class:`BinaryRelevance`.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank. Classifier chains for multi-label
    classification. Machine Learning 85(3), 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi.estimators import ClassifierChain
    >>> X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    >>> ClassifierChain(order=[3, 0, 1, 2]).fit(X, Y).predict(X[:2]).shape
    (2, 4)
    """

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "order": [StrOptions({"random"}), "array-like", None],
    }

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        order: ArrayLike | None = "random",
        C: float = 1.0,
        loss: LossName = "log",
        standardize: bool = True,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.C = C
        self.loss = loss
        self.standardize = standardize
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_model(
        self, X: Matrix, Y: Matrix, rng: np.random.RandomState, weights: Array | None
    ) -> LabelModel:
        self.order_ = _order(self.order, Y.shape[1], rng)
        options: Fields = {"C": self.C, "loss": self.loss, "tol": self.tol}
        options |= {"n_jobs": self.n_jobs, "weights": weights}
        return fit_one(X, Y, self.order_, self.estimator, options, rng)


def _order(
    order: ArrayLike | str | None, q: int, rng: np.random.RandomState
) -> Indices:
    if order is None:
        return np.arange(q)
    if isinstance(order, str):
        return rng.permutation(q)
    order = np.asarray(order)
    if not np.array_equal(np.sort(order), np.arange(q)):
        raise ValueError(
            f"order must contain each of the labels 0 to {q - 1} once, got {order}; "
            "pass None for the order of the columns."
        )
    return order
