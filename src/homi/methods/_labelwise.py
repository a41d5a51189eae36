"""What binary relevance and classifier chains share: models of labels, and how a
classifier fits them and predicts by them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils import check_random_state, get_tags

from homi.base._compat import fit_context
from homi.base.classifier import MultiLabelClassifier, agreeing
from homi.base.scaling import Scaler

Array = NDArray[np.float64]


class LabelModel(Protocol):
    """A fitted model of all labels."""

    def margins(self, X: Any) -> Array:
        """Scores, above 0 where a label is predicted."""

    def probabilities(self, X: Any) -> Array:
        """Probabilities, strictly between 0 and 1."""

    def unscaled(self, scaler: Scaler) -> LabelModel:
        """The same for rows as given, if it was fitted to scaled ones."""


class LabelwiseClassifier(MultiLabelClassifier):
    """A classifier that fits models to scaled rows.

    A subclass gives ``_learn``, and has the parameters ``standardize`` and
    ``random_state``.
    """

    @abstractmethod
    def _learn(
        self, X: Any, Y: Any, scaler: Scaler | None, rng: np.random.RandomState
    ) -> None:
        """Set what is learnt from rows X, to which the scaler has been applied."""

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y):
        """Learn from rows and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean, one column each, or 1-D classes.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, target = self._check_fit_input(X, y)
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        scaler = Scaler(X) if self.standardize else None
        rows = X if scaler is None else scaler(X)
        rng = check_random_state(self.random_state)
        self._learn(rows, target.indicator, scaler, rng)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        estimator = getattr(self, "estimator", None)
        if estimator is not None:
            # A classifier of the user's may take dense rows only.
            tags.input_tags.sparse = get_tags(estimator).input_tags.sparse
        return tags


class MarginClassifier(LabelwiseClassifier):
    """Labels by the signs of their margins, rankings by their probabilities.

    A subclass gives ``_fit_model``. Of the classes of a 1-D y only one can be right:
    they are compared by their probabilities, and the scores are the log-odds of these.
    """

    @abstractmethod
    def _fit_model(self, X: Any, Y: Any, rng: np.random.RandomState) -> LabelModel:
        """Fit a model to the rows X."""

    def _learn(
        self, X: Any, Y: Any, scaler: Scaler | None, rng: np.random.RandomState
    ) -> None:
        self._model: Any = in_units(self._fit_model(X, Y, rng), scaler)

    def _scores(self, X: Any) -> Array:
        if self._target.kind == "multilabel-indicator":
            return self._model.margins(X)
        return logit(self._model.probabilities(X))

    def _probabilities(self, scores: Array) -> Array:
        # Asked of the classes of a 1-D y only.
        return expit(scores)

    def predict_proba(self, X):
        """Probability of each label, above one half where it is predicted.

        A probability that is on the other side of one half than the sign of the
        label's margin is brought next to it; ``ranking_scores`` has them as they are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels), or (n_samples,
            n_classes) with rows that sum to 1 if fitted on a 1-D y
        """
        rows = self._checked_rows(X)
        if self._target.kind == "multilabel-indicator":
            predicted = self._model.margins(rows) > 0
            return agreeing(self._model.probabilities(rows), predicted)
        return super().predict_proba(X)

    def ranking_scores(self, X):
        """Probabilities, which compare the labels of a row with each other.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y of two classes
        """
        scores = self._model.probabilities(self._checked_rows(X))
        return scores.ravel() if self._target.kind == "binary" else scores


def in_units(model: LabelModel, scaler: Scaler | None) -> LabelModel:
    """The model for rows as given."""
    return model if scaler is None else model.unscaled(scaler)
