"""Base classes of binary relevance and classifier chains."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils import Tags, check_random_state, get_tags

from homi.base.classifier import MultiLabelClassifier, agreeing
from homi.base.scaling import Scaler
from homi.base.targets import Target
from homi.base.weights import SampleWeightMixin
from homi.methods.label_models import LabelModel, undo_scaling
from homi.typing import Array, Matrix, MatrixLike


class LabelwiseClassifier(SampleWeightMixin, MultiLabelClassifier):
    """Base class of classifiers that fit models to scaled rows.

    A subclass implements ``_learn``, and has the parameters ``standardize`` and
    ``random_state``.
    """

    @abstractmethod
    def _learn(
        self,
        X: Matrix,
        Y: Matrix,
        scaler: Scaler | None,
        rng: np.random.RandomState,
        weights: Array | None,
    ) -> None:
        """Set the fitted attributes from scaled rows X."""

    def _fit(  # type: ignore[override]
        self, X: Matrix, target: Target, weights: Array | None
    ) -> None:
        if weights is not None and getattr(self, "estimator", None) is not None:
            raise ValueError(
                f"{type(self).__name__} supports sample_weight only without estimator, "
                f"got estimator={self.estimator!r}; leave one of the two out."
            )
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        scaler = Scaler.fit(X, weights) if self.standardize else None
        rows = X if scaler is None else scaler(X)
        rng = check_random_state(self.random_state)
        self._learn(rows, target.indicator, scaler, rng, weights)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        estimator = getattr(self, "estimator", None)
        if estimator is not None:
            # The user's classifier may accept dense rows only.
            tags.input_tags.sparse = get_tags(estimator).input_tags.sparse
        return tags


class MarginClassifier(LabelwiseClassifier):
    """Predict labels by the signs of margins, and rank them by probabilities.

    A subclass implements ``_fit_model``. For a 1-D y, where a row has exactly one
    class, classes are compared by their probabilities and scores are log-odds.
    """

    @abstractmethod
    def _fit_model(
        self, X: Matrix, Y: Matrix, rng: np.random.RandomState, weights: Array | None
    ) -> LabelModel:
        """Fit a model to the rows X."""

    def _learn(
        self,
        X: Matrix,
        Y: Matrix,
        scaler: Scaler | None,
        rng: np.random.RandomState,
        weights: Array | None,
    ) -> None:
        self.label_model_: Any = undo_scaling(
            self._fit_model(X, Y, rng, weights), scaler
        )

    def _scores(self, X: Matrix) -> Array:
        if self.target_encoding_.kind == "multilabel-indicator":
            return self.label_model_.margins(X)
        return logit(self.label_model_.probabilities(X))

    def _probabilities(self, scores: Array) -> Array:
        # Called for the classes of a 1-D y only.
        return expit(scores)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probability of each label, above one half where it is predicted.

        A probability that disagrees with the sign of the label's margin is moved next
        to one half; ``ranking_scores`` returns it unchanged.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        probabilities : ndarray or data frame of shape (n_samples, n_labels), or ndarray
            of shape (n_samples, n_classes) with rows that sum to 1 if fitted on a 1-D y
            A pandas or polars data frame, with one column per label, if X is one.
        """
        rows = self._checked_rows(X)
        if self.target_encoding_.kind == "multilabel-indicator":
            predicted = self.label_model_.margins(rows) > 0
            P = agreeing(self.label_model_.probabilities(rows), predicted)
            return self._like(X, P)
        return super().predict_proba(X)

    def ranking_scores(self, X: MatrixLike) -> Array:
        """Return probabilities, which can be compared between the labels of a row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y of two classes
        """
        scores = self.label_model_.probabilities(self._checked_rows(X))
        return scores.ravel() if self.target_encoding_.kind == "binary" else scores
