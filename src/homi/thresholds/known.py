"""Tuned thresholds on probabilities given known labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from homi.base.classifier import MultiLabelClassifier, agreeing
from homi.joint import KnownLabelsMixin, check_known, given_known
from homi.joint.known import check_order, like_known
from homi.joint.model import KNOWN
from homi.thresholds.rules import SeenLabels, Thresholds, TopLabels
from homi.thresholds.scores import last_classifier
from homi.typing import Array, MatrixLike


class KnownDecisionsMixin(MultiLabelClassifier):
    """Add ``known`` to the methods of TunedThresholds that predict."""

    _rule: SeenLabels
    estimator_: Any

    def decision_function(
        self, X: MatrixLike, known: MatrixLike | None = None
    ) -> Array:
        """Return the decision of each label, above 0 where it is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows to score.
        known : array-like of shape (n_samples, n_labels) or data frame, default=None
            Labels that are known: 0 or 1, and NaN where unknown. The classifier must
            take them, as HOMICV and LabelDependence do; its log-odds given the known
            labels are compared with the thresholds. Not for the strategies
            ``"cardinality"`` and ``"joint"``.

        Returns
        -------
        decisions : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y
            ±1e9 for known labels. A data frame if ``known`` or X is one.
        """
        if known is None:
            return super().decision_function(X)
        decisions, _ = self._given_known(X, known)
        found: Array = like_known(known, X, decisions, self.label_names_)
        return found

    def predict(self, X: MatrixLike, known: MatrixLike | None = None) -> NDArray[Any]:
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows to label.
        known : array-like of shape (n_samples, n_labels) or data frame, default=None
            Labels that are known, as in ``decision_function``; they are returned as
            given.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) of
            classes if the classifier was fitted on a 1-D y
            A data frame if ``known`` or X is one.
        """
        if known is None:
            return super().predict(X)
        decisions, _ = self._given_known(X, known)
        labels = self._as_labels(decisions > 0)
        found: NDArray[Any] = like_known(known, X, labels, self.label_names_)
        return found

    def _probabilities_given(
        self, X: MatrixLike, known: MatrixLike, *, agree: bool
    ) -> Array:
        """Return probabilities; if ``agree``, on the side of one half of decisions."""
        decisions, P = self._given_known(X, known)
        certain = (P == 0) | (P == 1)
        if agree:
            P = np.where(certain, P, agreeing(P, decisions > 0))
        found: Array = like_known(known, X, P, self.label_names_)
        return found

    def _given_known(self, X: MatrixLike, known: MatrixLike) -> tuple[Array, Array]:
        """Return decisions and probabilities given known labels."""
        check_is_fitted(self, "estimator_")
        check_order(X, known)
        classifier, rows = last_classifier(self.estimator_, X)
        if not isinstance(classifier, KnownLabelsMixin):
            raise TypeError(
                f"{type(classifier).__name__} takes no known labels; tune HOMICV, or "
                "LabelDependence(...) of it."
            )
        if not isinstance(self._rule.rule, Thresholds | TopLabels):
            raise ValueError(
                "known labels need a threshold for each label; tune with another "
                "strategy than 'cardinality' and 'joint', or use estimator_."
            )
        # Columns have the names of these labels; the classifier compares the rows.
        given = check_known(known, self.label_names_, (*np.shape(known), 0)[0])
        model, log_odds, Y = given_known(classifier, rows, given)
        decisions = self._rule(model.log_odds(log_odds, Y))
        decisions = np.where(np.isnan(Y), decisions, KNOWN * (2.0 * Y - 1.0))
        return decisions, model.probabilities(log_odds, Y)
