"""Predict given known labels with any multi-label classifier."""

from __future__ import annotations

from numbers import Integral
from typing import Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from homi.arrays import dense
from homi.base._compat import StrOptions
from homi.base.classifier import strictly_inside
from homi.base.validation import checks_parameters
from homi.joint import KnownLabelsMixin, fit_joint_model
from homi.model.blend import LogOdds, fit_log_odds
from homi.thresholds.scores import (
    CrossValidation,
    fit_held_out,
    fit_labels,
    held_out_responses,
    label_scores,
)
from homi.thresholds.wrapper import WrappedClassifier, canonical_rows, shuffled_folds
from homi.typing import Array, Mask, MatrixLike, RandomState


class LabelDependence(WrappedClassifier, KnownLabelsMixin):
    r"""Predict unknown labels of a row from its features and its known labels.

    Cross-validation gives held-out scores of the classifier, which Platt's sigmoids map
    to log-odds s. How the errors of these log-odds go together is then learned:

    .. math:: \mathrm{logit}\, P(y_j = 1 \mid x, y_K) =
              s_j + \kappa_j\, (a\, t\, s_j + g\, d^G_j + h\, d^S_j)

    with the share t of known labels, the shift :math:`d^G` by a Gaussian conditional of
    the errors, and the shift :math:`d^S` by the label sets seen in training that agree
    with the known labels. The weights a, g and h have the greatest likelihood on rows
    that were held out, and are 0 where labels say nothing about each other. κ, how
    strongly each label follows the others, is fitted in the same way.

    :class:`homi.HOMICV` has this built in.

    Parameters
    ----------
    estimator : classifier
        Multi-label classifier or pipeline with ``decision_function`` or
        ``predict_proba``.
    cv : int, splitter, iterable or "own", default=5
        Number of shuffled folds, or any other ``cv`` of scikit-learn. Every row must
        be in exactly one test fold. ``"own"`` uses the held-out scores of a classifier
        that has a method ``fit_held_out``; it is fitted only once.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel. None means 1, -1 means all processors.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.

    Attributes
    ----------
    estimator_ : classifier
        The classifier fitted to all rows.
    joint_model_ : JointModel or None
        How the held-out errors of labels go together. None for a 1-D y.
    odds_slope_, odds_offset_ : ndarray of shape (n_labels,)
        Slope and offset that map scores of ``estimator_`` to log-odds.
    classes_ : ndarray
        Indices of the labels.
    label_names_ : ndarray of shape (n_labels,)
        Names of the labels: columns of a data frame, or y0, y1, …
    n_features_in_ : int
        Number of features seen in ``fit``, if the classifier has it.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, likewise.

    Notes
    -----
    Without known labels, ``predict_proba`` gives calibrated probabilities of the
    classifier, and ``predict`` the labels whose probability exceeds one half.
    In-sample scores would leave no errors to learn from; they are never used.

    References
    ----------
    J. C. Platt. Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from homi import HOMI
    >>> from homi.dependence import LabelDependence
    >>> X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
    >>> model = LabelDependence(HOMI()).fit(X, Y)
    >>> known = np.full((2, 4), np.nan)
    >>> known[:, 1] = 1
    >>> model.predict_proba(X[:2], known=known)[:, 1]
    array([1., 1.])
    """

    _without_joint_model = (
        "it was fitted on a 1-D y; fit it on a 0/1 column for each label"
    )
    _parameter_constraints = {
        "estimator": [object],
        "cv": ["cv_object", StrOptions({"own"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        cv: CrossValidation = 5,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Fit to all rows, and learn from held-out scores how errors go together.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training rows, passed to the classifier unchanged.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean with one column per label, or 1-D with two classes,
            which take no known labels. Column names of a data frame become
            ``label_names_``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self.fit_held_out(X, y)
        return self

    @checks_parameters
    def fit_held_out(self, X: MatrixLike, y: MatrixLike) -> Array:
        """Fit, and return the held-out log-odds.

        Parameters
        ----------
        X, y
            As in ``fit``.

        Returns
        -------
        log_odds : ndarray of shape (n_samples, n_labels)
            Those of each row by a classifier that was fitted without it.
        """
        X = canonical_rows(X)
        Y: Mask = dense(self._check_labels(X, y).indicator) > 0
        if self.cv == "own":
            self.estimator_, scores = fit_held_out(self.estimator, X, Y)
        else:
            rng = check_random_state(self.random_state)
            cv = shuffled_folds(self.cv, len(Y), rng)
            scores, *_ = held_out_responses(self.estimator, X, Y, cv, self.n_jobs)
            self.estimator_ = fit_labels(self.estimator, X, Y)
        labels = Y.astype(np.float64)
        odds = fit_log_odds(scores, labels)
        self.odds_slope_, self.odds_offset_ = odds.slope, odds.offset
        log_odds = odds(scores)
        several = self.target_encoding_.kind == "multilabel-indicator"
        self.joint_model_ = fit_joint_model(log_odds, labels) if several else None
        return log_odds

    def _checked_scores(self, X: MatrixLike) -> Array:
        check_is_fitted(self, "estimator_")
        return self._scores(canonical_rows(X))

    def _scores(self, X: MatrixLike) -> Array:
        scores = label_scores(self.estimator_, X, len(self.label_names_))
        return LogOdds(self.odds_slope_, self.odds_offset_)(scores)

    def _probabilities(self, scores: Array) -> Array:
        return strictly_inside(expit(scores))
