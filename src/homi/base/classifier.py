"""What every multi-label classifier here has in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from homi import memory
from homi.base.targets import Target, check_target
from homi.base.validation import check_rows

#: How near to 0 and 1 a score is a probability as it stands.
TAIL = 0.05


class MultiLabelClassifier(ClassifierMixin, BaseEstimator, ABC):
    """Input checks, label names, and predictions from scores.

    A subclass sets what it learns in ``fit`` after ``_check_fit_input``, and gives
    ``_scores(X)``: one column per label, above 0 where the label is predicted.
    A 1-D y works too, as one label per class.
    """

    #: Values of the parameters that the HOMI paper searched.
    paper_grid: dict[str, list[Any]] = {}
    #: Whether the equations are not public and had to be reconstructed.
    reconstruction = False
    #: Arrays of labels × labels that a fit holds at a time, at least.
    _label_squares = 0

    def _check_fit_input(
        self, X: Any, Y: Any, *, unknown: bool = False
    ) -> tuple[Any, Target]:
        if Y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None; pass the labels as the second argument."
            )
        X = check_rows(self, X, reset=True)
        target = check_target(Y, unknown=unknown)
        check_consistent_length(X, target.indicator)
        needed = partial(self._least_bytes, *X.shape)
        memory.check_labels(needed, target.indicator.shape[1], type(self).__name__)
        self._keep_target(target)
        return X, target

    def _keep_target(self, target: Target) -> None:
        """Keep names, classes and encoding of the labels."""
        self.classes_, self.label_names_ = target.classes, target.names
        self._target = target.encoding

    def _least_bytes(self, n: int, m: int, n_labels: int) -> int:
        """Bytes without which no fit is possible."""
        return 8 * (m * n_labels + self._label_squares * n_labels**2)

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Scores of checked rows."""

    def decision_function(self, X):
        """Score of each label, above 0 where it is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y of two classes
        """
        scores = self._checked_scores(X)
        return scores.ravel() if self._target.kind == "binary" else scores

    def ranking_scores(self, X):
        """Scores that compare the labels of a row with each other.

        Ranking metrics and their scorers take these. They are the decision scores,
        except where those are margins, each on its label's own scale: then they are
        probabilities, and their order need not agree with the signs of the margins.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y of two classes
        """
        return self.decision_function(X)

    def predict(self, X):
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to label.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_labels) of 0 and 1, or (n_samples,) of
            classes if the classifier was fitted on a 1-D y
        """
        scores = self._checked_scores(X)
        if self._target.kind == "multilabel-indicator":
            return self._as_labels(scores > 0)
        if self._target.kind == "binary":
            return self.classes_[(scores.ravel() > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def _as_labels(self, positive: NDArray[np.bool_]) -> NDArray[Any]:
        """Indicators in the integer type that the labels came in."""
        return positive.view(np.int8).astype(self._target.dtype, copy=False)

    def predict_proba(self, X):
        """Probability of each label, strictly between 0 and 1, growing with the score.

        Not calibrated, where the class does not say so: the score itself, bent at 0 and
        1 to stay inside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels), or (n_samples,
            n_classes) with rows that sum to 1 if fitted on a 1-D y
        """
        inside = self._probabilities(self._checked_scores(X))
        if self._target.kind == "binary":
            return np.hstack([1.0 - inside, inside])
        if self._target.kind == "multiclass":
            inside /= inside.sum(axis=1, keepdims=True)
        return inside

    def _probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return _bend(scores + 0.5)

    def _checked_scores(self, X: Any) -> NDArray[np.float64]:
        return self._scores(self._checked_rows(X))

    def _checked_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


class LinearMultiLabelClassifier(MultiLabelClassifier):
    """Scores that are linear in the features, by ``coef_`` and ``intercept_``."""

    def _features(self, X: Any) -> Any:
        """What the scores are linear in: checked rows, unless they are mapped."""
        return X

    def _scores(self, X: Any) -> NDArray[np.float64]:
        scores = self._features(X) @ self.coef_.T
        scores += self.intercept_
        return scores

    def predict(self, X):
        target = getattr(self, "_target", None)
        if target is None or target.kind != "multilabel-indicator":
            return super().predict(X)
        # One pass over the product instead of one to add and one to compare.
        return self._as_labels(self._checked_product(X) > -self.intercept_)

    predict.__doc__ = MultiLabelClassifier.predict.__doc__

    def _checked_product(self, X: Any) -> NDArray[np.float64]:
        if self._is_plain(X):
            with np.errstate(invalid="ignore", over="ignore"):
                product = X @ self.coef_.T
                # NaN or infinity in a row of X is in its product as well: the
                # smaller of the two tells.
                small = X if X.size < product.size else product
                if math.isfinite(np.vdot(small, small)):
                    return product
        return self._features(self._checked_rows(X)) @ self.coef_.T

    def _is_plain(self, X: Any) -> bool:
        """Whether X has nothing to check but its values: an array such as fit saw."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
            and hasattr(self, "coef_")
        )


def strictly_inside(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities that rounding took to 0 or 1, back between them."""
    return np.clip(p, np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))


#: Probabilities on the wrong side of one half are brought about this near to it.
NEAR_HALF = 1e-6


def agreeing(
    p: NDArray[np.float64], predicted: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Probabilities above one half just where a label is predicted.

    Those on the other side of one half are brought next to it, in the same order; the
    others stay as they are.
    """
    above = 0.5 + NEAR_HALF * (0.5 + p)
    below = 0.5 - NEAR_HALF * (1.5 - p)
    return np.where(predicted, np.maximum(p, above), np.minimum(p, below))


def _bend(g: NDArray[np.float64]) -> NDArray[np.float64]:
    """g where it is well inside (0, 1), hyperbolic tails that never reach 0 or 1."""
    below = TAIL**2 / (2 * TAIL - np.minimum(g, TAIL))
    above = TAIL**2 / (2 * TAIL - np.minimum(1.0 - g, TAIL))
    # Far out, 1 less the tail is rounded to 1.
    above = np.minimum(1.0 - above, np.nextafter(1.0, 0.0))
    return np.where(g < TAIL, below, np.where(g > 1 - TAIL, above, g))
