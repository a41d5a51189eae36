"""Predictions given known labels, for classifiers with a joint model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from homi.base.classifier import MultiLabelClassifier
from homi.joint.known import check_known, check_order, like_known
from homi.joint.model import JointModel
from homi.typing import Array, MatrixLike


class KnownLabelsMixin(MultiLabelClassifier):
    """Add ``known`` to the methods that predict.

    The scores of the classifier must be log-odds.
    """

    #: What to do where there is no joint model.
    _without_joint_model = "fit the model again"
    joint_model_: Any

    def decision_function(
        self, X: MatrixLike, known: MatrixLike | None = None
    ) -> Array:
        """Return the score of each label, above 0 where it is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        known : array-like of shape (n_samples, n_labels) or data frame, default=None
            Labels that are known: 0 or 1, and NaN where unknown. Columns of a data
            frame are matched by name and may be any of the labels.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y of two classes
            Log-odds given the known labels, if any; ±1e9 for known ones. A data frame
            if ``known`` or X is one.
        """
        if known is None:
            return super().decision_function(X)
        model, log_odds, Y = self._given(X, known)
        scores = model.log_odds(log_odds, Y)
        found: Array = like_known(known, X, scores, self.label_names_)
        return found

    def predict(self, X: MatrixLike, known: MatrixLike | None = None) -> NDArray[Any]:
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to label.
        known : array-like of shape (n_samples, n_labels) or data frame, default=None
            Labels that are known, as in ``decision_function``. They are returned as
            given.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) of
            classes if the classifier was fitted on a 1-D y
            A data frame if ``known`` or X is one.
        """
        if known is None:
            return super().predict(X)
        model, log_odds, Y = self._given(X, known)
        labels = self._as_labels(model.log_odds(log_odds, Y) > 0)
        found: NDArray[Any] = like_known(known, X, labels, self.label_names_)
        return found

    def predict_proba(self, X: MatrixLike, known: MatrixLike | None = None) -> Array:
        """Return the probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        known : array-like of shape (n_samples, n_labels) or data frame, default=None
            Labels that are known, as in ``decision_function``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels), or (n_samples,
            n_classes) with rows that sum to 1 if fitted on a 1-D y
            Strictly between 0 and 1, except for known labels, which are 0 or 1 as
            given. A data frame if ``known`` or X is one.
        """
        if known is None:
            return super().predict_proba(X)
        model, log_odds, Y = self._given(X, known)
        P = model.probabilities(log_odds, Y)
        found: Array = like_known(known, X, P, self.label_names_)
        return found

    def _given(
        self, X: MatrixLike, known: MatrixLike
    ) -> tuple[JointModel, Array, Array]:
        """Return the joint model, the log-odds of rows, and their known labels."""
        check_is_fitted(self)
        model = getattr(self, "joint_model_", None)
        if model is None:
            raise ValueError(
                f"this {type(self).__name__} cannot use known labels: it has no joint "
                f"model of them; {self._without_joint_model}."
            )
        check_order(X, known)
        log_odds = self._checked_scores(X)
        Y = check_known(known, self.label_names_, len(log_odds))
        return model, np.asarray(log_odds, dtype=np.float64), Y


def given_known(
    model: KnownLabelsMixin, X: MatrixLike, known: MatrixLike
) -> tuple[JointModel, Array, Array]:
    """Return the joint model, the log-odds of rows, and their known labels."""
    return model._given(X, known)
