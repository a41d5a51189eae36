"""Base classes of all multi-label classifiers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from homi import memory
from homi.arrays import check_label_order
from homi.base.named_predictions import NamedPredictionsMixin, like_frame
from homi.base.tags import indicator_of, tag_rows
from homi.base.targets import Target, check_target
from homi.base.validation import check_rows, checks_parameters
from homi.typing import Array, Indices, Mask, Matrix, MatrixLike, Names
from homi.warn import warn_of_row_order

if TYPE_CHECKING:
    from homi.explorer.why import Explanation

#: Closer than this to 0 and 1, a score is bent to become a probability.
TAIL = 0.05


class MultiLabelClassifier(
    NamedPredictionsMixin,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
):
    """Check inputs, keep label names, and predict from scores.

    A subclass implements ``_fit(X, target)``, which sets the fitted attributes, and
    ``_scores(X)``, which returns one column per label, above 0 where the label is
    predicted. A 1-D y is supported, with one label per class.
    """

    #: Parameter grid that the HOMI paper searched.
    paper_grid: dict[str, list[object]] = {}
    #: True if the equations are not public and had to be reconstructed.
    reconstruction = False
    #: Least number of arrays of shape (n_labels, n_labels) that a fit holds at a time.
    _label_squares = 0

    classes_: NDArray[Any]
    label_names_: Names

    @checks_parameters
    def fit(self, X: MatrixLike, y: MatrixLike) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            Labels: 0/1 or boolean with one column per label, 1-D classes, or a list of
            tags for each row, such as ``[["red", "round"], []]``. The tags, sorted, or
            the column names of a data frame become ``label_names_``.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._fit(*self._check_fit_input(X, y))
        return self

    def _fit(self, X: Matrix, target: Target) -> None:
        """Set the fitted attributes from checked rows and labels."""
        raise NotImplementedError

    def _check_fit_input(
        self, X: MatrixLike, Y: MatrixLike, *, unknown: bool = False
    ) -> tuple[Matrix, Target]:
        """Return checked rows and labels, and keep the names of the labels."""
        if Y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None; pass the labels as the second argument."
            )
        rows = check_rows(self, X, reset=True)
        target = check_target(Y, unknown=unknown)
        check_consistent_length(rows, target.indicator)
        warn_of_row_order(X, Y)
        needed = partial(self._least_bytes, *rows.shape)
        memory.check_labels(needed, target.indicator.shape[1], type(self).__name__)
        self._keep_target(target)
        return rows, target

    def _keep_target(self, target: Target) -> None:
        """Keep names, classes and encoding of the labels."""
        self.classes_, self.label_names_ = target.classes, target.names
        self.target_encoding_ = target.encoding

    def _least_bytes(self, n: int, m: int, n_labels: int) -> int:
        """Return the least number of bytes that a fit needs."""
        return 8 * (m * n_labels + self._label_squares * n_labels**2)

    @abstractmethod
    def _scores(self, X: Matrix) -> Array:
        """Return the scores of checked rows."""

    def decision_function(self, X: MatrixLike) -> Array:
        """Return the score of each label, above 0 where it is predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray or data frame of shape (n_samples, n_labels), or ndarray of
            shape (n_samples,) if the classifier was fitted on a 1-D y of two classes
            A data frame of pandas or polars gives one, with a column for each label.
        """
        scores = self._checked_scores(X)
        return self._like(
            X, scores.ravel() if self.target_encoding_.kind == "binary" else scores
        )

    def _like(self, X: MatrixLike, values: NDArray[Any]) -> Any:
        """Return a column for each label as a data frame if X is one."""
        if self.target_encoding_.kind != "multilabel-indicator":
            return values
        return like_frame(X, values, self.label_names_)

    def ranking_scores(self, X: MatrixLike) -> Array:
        """Return scores that can be compared between the labels of a row.

        Ranking metrics and their scorers use these. By default they are the decision
        scores. Where each decision score is a margin on its label's own scale, they
        are probabilities, whose order need not agree with the signs of the margins.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,) if the
            classifier was fitted on a 1-D y of two classes
        """
        return np.asarray(self.decision_function(X))

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Predict the labels of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to label.

        Returns
        -------
        Y : ndarray or data frame of shape (n_samples, n_labels) of 0 and 1, or ndarray
            of shape (n_samples,) of classes if the classifier was fitted on a 1-D y
            A data frame of pandas or polars gives one, with a column for each label.
        """
        target = getattr(self, "target_encoding_", None)
        if target is not None and target.kind == "multilabel-indicator":
            return self._like(X, self._as_labels(self._positive(X)))
        scores = self._checked_scores(X)
        if self.target_encoding_.kind == "binary":
            return self.classes_[(scores.ravel() > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def _positive(self, X: MatrixLike) -> Mask:
        """Return True where a label is predicted."""
        return self._checked_scores(X) > 0

    def _as_labels(self, positive: Mask) -> Indices:
        """Return indicators in the integer type of the training labels."""
        return positive.view(np.int8).astype(self.target_encoding_.dtype, copy=False)

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probability of each label, strictly between 0 and 1.

        It increases with the score. It is not calibrated unless the class says so: it
        is the score itself, bent near 0 and 1 to stay between them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        probabilities : ndarray or data frame of shape (n_samples, n_labels), or ndarray
            of shape (n_samples, n_classes) with rows that sum to 1 if fitted on a 1-D y
            A data frame of pandas or polars gives one, with a column for each label.
        """
        inside = self._probabilities(self._checked_scores(X))
        if self.target_encoding_.kind == "binary":
            return np.hstack([1.0 - inside, inside])
        if self.target_encoding_.kind == "multiclass":
            inside /= inside.sum(axis=1, keepdims=True)
        return self._like(X, inside)

    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy: the share of rows with every label right.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            True labels, as in ``fit``. A row with a tag that ``fit`` has not seen is
            wrong.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        if (tags := tag_rows(y)) is None:
            warn_of_row_order(X, y)
            names = getattr(self, "label_names_", None)
            check_label_order(getattr(y, "columns", None), names, "y")
            return float(super().score(X, y, sample_weight))
        known, others = indicator_of(tags, self.label_names_)
        right = (known == np.asarray(self.predict(X))).all(axis=1) & ~others
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(right, weights=weights))

    def _probabilities(self, scores: Array) -> Array:
        return _bend(scores + 0.5)

    def _checked_scores(self, X: MatrixLike) -> Array:
        return self._scores(self._checked_rows(X))

    def _checked_rows(self, X: MatrixLike) -> Matrix:
        check_is_fitted(self)
        return check_rows(self, X, reset=False)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags


class LinearMultiLabelClassifier(MultiLabelClassifier):
    """Base class of classifiers whose scores are ``X @ coef_.T + intercept_``."""

    coef_: Array
    intercept_: Array

    def _features(self, X: Matrix) -> Matrix:
        """Return the features that the scores are linear in: the checked rows."""
        return X

    def _product(self, X: Matrix) -> Array:
        """Return the scores of checked rows, less the intercepts."""
        product: Array = self._features(X) @ self.coef_.T
        return product

    def _scores(self, X: Matrix) -> Array:
        scores = self._product(X)
        scores += self.intercept_
        return scores

    def _positive(self, X: MatrixLike) -> Mask:
        # One pass over the product instead of one to add and one to compare.
        return self._checked_product(X) > -self.intercept_

    def _checked_product(self, X: Matrix) -> Array:
        if self._is_plain(X):
            with np.errstate(invalid="ignore", over="ignore"):
                product = X @ self.coef_.T
                # NaN or infinity in a row of X is in its product as well: it is
                # enough to check the smaller of the two.
                small = X if X.size < product.size else product
                if math.isfinite(np.vdot(small, small)):
                    return product
        return self._product(self._checked_rows(X))

    def why(
        self,
        x: MatrixLike,
        labels: Sequence[object] | None = None,
        *,
        X: MatrixLike | None = None,
        n_terms: int = 8,
    ) -> Explanation:
        """Explain the decision scores of one row, by terms that add up to them.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            The row.
        labels : sequence, default=None
            Names of the labels to explain. None for those predicted, at most five, or
            the one of highest score if there are none.
        X : array-like of shape (n_samples, n_features), default=None
            Rows such as those of ``fit``: contributions are then relative to their
            mean. By default they are relative to a row of zeros or, with a kernel, to
            the mean of its landmarks.
        n_terms : int, default=8
            Most terms of each kind; the others are summed up.

        Returns
        -------
        explanation : Explanation
            A table of features, neighbors and other labels with what each contributes;
            see :func:`homi.why`, which takes pipelines, too.
        """
        from homi.explorer.why import why

        return why(self, x, labels, X=X, n_terms=n_terms)

    def _is_plain(self, X: Matrix) -> bool:
        """Return True for an array like that of fit: only its values need checks."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and len(X) > 0
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
            and hasattr(self, "coef_")
        )


def strictly_inside(p: Array) -> Array:
    """Move probabilities that were rounded to 0 or 1 back between them."""
    return np.clip(p, np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0))


#: Probabilities on the wrong side of one half are moved about this close to it.
NEAR_HALF = 1e-6


def agreeing(p: Array, predicted: Mask) -> Array:
    """Make probabilities exceed one half exactly where a label is predicted.

    Those on the wrong side of one half are moved next to it and keep their order; the
    others do not change.
    """
    above = 0.5 + NEAR_HALF * (0.5 + p)
    below = 0.5 - NEAR_HALF * (1.5 - p)
    return np.where(predicted, np.maximum(p, above), np.minimum(p, below))


def _bend(g: Array) -> Array:
    """Keep g well inside (0, 1), and add hyperbolic tails that never reach 0 or 1."""
    below = TAIL**2 / (2 * TAIL - np.minimum(g, TAIL))
    above = TAIL**2 / (2 * TAIL - np.minimum(1.0 - g, TAIL))
    # For large g, 1 minus the tail is rounded to 1.
    above = np.minimum(1.0 - above, np.nextafter(1.0, 0.0))
    return np.where(g < TAIL, below, np.where(g > 1 - TAIL, above, g))
