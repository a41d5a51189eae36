"""Scores, predictions and probabilities of any classifier, one column per label."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from inspect import signature
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import BaseCrossValidator, cross_val_predict
from sklearn.pipeline import Pipeline

from homi.arrays import dense
from homi.typing import Array, Fields, Indices, Mask, Matrix, MatrixLike

#: An indicator matrix, in floats if NaN stands for missing labels.
Labels: TypeAlias = Array | Mask
#: What scikit-learn takes as ``cv``.
CrossValidation: TypeAlias = (
    int | str | BaseCrossValidator | Iterable[tuple[Indices, Indices]]
)


def fit_labels(
    estimator: BaseEstimator,
    X: MatrixLike,
    Y: Labels,
    weights: Array | None = None,
    label_weight: ArrayLike | None = None,
) -> BaseEstimator:
    """Fit a clone to an indicator matrix; a single label is passed as a 1-D y.

    Most classifiers expect it so. A constant label stays a column, because a 1-D y
    with one class is an error; so does a label with missing entries (NaN).
    """
    given = weight_of(estimator, weights)
    given |= weight_of(estimator, label_weight, "label_weight")
    return clone(estimator).fit(X, _as_target(Y), **given)


def weight_of(
    estimator: BaseEstimator, weights: ArrayLike | None, what: str = "sample_weight"
) -> Fields:
    """Return the argument of ``fit`` that passes weights to a classifier."""
    if weights is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        return {what: weights}
    last, name = estimator, what
    while isinstance(last, Pipeline):
        step, last = last.steps[-1]
        name = f"{step}__{name}"
    parameters = signature(last.fit).parameters.values()
    if any(p.name == what or p.kind is p.VAR_KEYWORD for p in parameters):
        return {name: weights}
    raise TypeError(
        f"fit of {type(last).__name__} takes no {what}; wrap a classifier that "
        f"does, or leave {what} out."
    )


def takes_missing_labels(estimator: BaseEstimator) -> bool:
    """Return True if a classifier, or one inside it, ignores missing labels."""
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    names = [name for name in params if name.split("__")[-1] == "missing_labels"]
    return any(params[name] == "ignore" for name in names)


def fit_held_out(
    estimator: BaseEstimator,
    X: MatrixLike,
    Y: Labels,
    weights: Array | None = None,
    label_weight: ArrayLike | None = None,
) -> tuple[BaseEstimator, Array]:
    """Fit a clone, and return it with its own held-out scores.

    A classifier that is fitted to these rows and has kept its scores is only copied.
    """
    if not hasattr(estimator, "fit_held_out"):
        raise TypeError(
            f"{type(estimator).__name__} has no method fit_held_out, which cv='own' "
            "requires; pass a number of folds as cv."
        )
    given: Fields = {} if weights is None else {"sample_weight": weights}
    if label_weight is not None:
        given = given | weight_of(estimator, label_weight, "label_weight")
    elif hasattr(estimator, "kept_held_out_scores"):
        kept = estimator.kept_held_out_scores(X, _as_target(Y), **given)
        if kept is not None:
            return copy.copy(estimator), kept
    fitted = clone(estimator)
    scores = fitted.fit_held_out(X, _as_target(Y), **given)
    return fitted, _checked(scores, Y.shape[1], estimator, "fit_held_out")


def _as_target(Y: Labels) -> Labels | Indices:
    if Y.dtype.kind == "f":
        return Y
    y = Y.astype(int)
    return y.ravel() if y.shape[1] == 1 and np.ptp(y) > 0 else y


def last_classifier(
    estimator: BaseEstimator, X: MatrixLike
) -> tuple[BaseEstimator, MatrixLike]:
    """Return the classifier at the end of a pipeline, and the rows that it gets."""
    if not isinstance(estimator, Pipeline):
        return estimator, X
    return estimator[-1], estimator[:-1].transform(X) if len(estimator) > 1 else X


def label_scores(estimator: BaseEstimator, X: MatrixLike, n_labels: int) -> Array:
    """Return scores that can be compared between labels.

    Use the first method that the classifier has: ``ranking_scores`` (also of the last
    step of a pipeline), ``decision_function`` or ``predict_proba``.
    """
    last, rows = estimator, X
    if isinstance(estimator, Pipeline) and hasattr(estimator[-1], "ranking_scores"):
        last, rows = last_classifier(estimator, X)
    for method in ("ranking_scores", "decision_function"):
        if hasattr(last, method):
            return _checked(getattr(last, method)(rows), n_labels, estimator, method)
    if hasattr(estimator, "predict_proba"):
        return label_probabilities(estimator, X, n_labels)
    raise TypeError(
        f"{type(estimator).__name__} has no scores: it has none of ranking_scores, "
        "decision_function and predict_proba; wrap a classifier that has one."
    )


def label_probabilities(
    estimator: BaseEstimator, X: MatrixLike, n_labels: int
) -> Array:
    """Return the output of ``predict_proba``, an array or a list, as one array."""
    P = estimator.predict_proba(X)
    classes = getattr(estimator, "classes_", None)
    if isinstance(P, list):
        known = classes if isinstance(classes, list) else [None] * len(P)
        columns = [_positive(p, c) for p, c in zip(P, known, strict=True)]
        P = np.column_stack(columns)
    elif n_labels == 1:
        P = _positive(np.asarray(P), classes)
    return _checked(P, n_labels, estimator, "predict_proba")


def _positive(P: Array, classes: ArrayLike | None) -> Array:
    """Return the column of class 1; a label constant in training has one column."""
    P = P.reshape(len(P), -1)
    if P.shape[1] == 1 and classes is not None and np.array_equal(classes, [0]):
        return 1.0 - P[:, 0]
    return P[:, -1]


def label_predictions(estimator: BaseEstimator, X: MatrixLike, n_labels: int) -> Array:
    """Return the classifier's own predictions as 0 and 1."""
    return _checked(estimator.predict(X), n_labels, estimator, "predict")


def _checked(
    values: Matrix, n_labels: int, estimator: BaseEstimator, method: str
) -> Array:
    given = np.asarray(dense(values))
    found: Array = given.reshape(len(given), -1).astype(np.float64)
    name = type(estimator).__name__
    if found.shape[1] != n_labels:
        raise ValueError(
            f"{method} of {name} returned shape {given.shape} for {n_labels} labels, "
            f"expected ({len(given)}, {n_labels}); wrap a multi-label classifier."
        )
    if not np.isfinite(found).all():
        raise ValueError(
            f"{method} of {name} returned {np.sum(~np.isfinite(found))} NaN or "
            "infinite values, expected finite ones; check the classifier, for "
            "instance for unscaled features."
        )
    return found


class AllResponses(BaseEstimator):  # type: ignore[misc]
    """All responses of a classifier side by side, for ``cross_val_predict``."""

    def __init__(
        self,
        estimator: BaseEstimator,
        n_labels: int,
        label_weight: ArrayLike | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_labels = n_labels
        self.label_weight = label_weight

    def fit(self, X: MatrixLike, y: Labels, sample_weight: Array | None = None) -> Self:
        """Fit a clone."""
        given = sample_weight, self.label_weight
        self.estimator_ = fit_labels(self.estimator, X, y, *given)
        return self

    def predict(self, X: MatrixLike) -> Array:
        """Return scores, predictions, and probabilities or NaN, side by side."""
        scores = label_scores(self.estimator_, X, self.n_labels)
        labels = label_predictions(self.estimator_, X, self.n_labels)
        P = np.full_like(scores, np.nan)
        if hasattr(self.estimator_, "predict_proba"):
            P = label_probabilities(self.estimator_, X, self.n_labels)
        return np.hstack([scores, labels, P])


def held_out_responses(
    estimator: BaseEstimator,
    X: MatrixLike,
    Y: Labels,
    cv: CrossValidation,
    n_jobs: int | None,
    weights: Array | None = None,
    label_weight: ArrayLike | None = None,
) -> tuple[Array, Mask, Array]:
    """Return cross-validated scores, predictions and probabilities."""
    q = Y.shape[1]
    responses = AllResponses(estimator, q, label_weight)
    if weights is not None and get_config()["enable_metadata_routing"]:
        responses.set_fit_request(sample_weight=True)
    params = None if weights is None else {"sample_weight": weights}
    given: Fields = {"cv": cv, "n_jobs": n_jobs, "params": params}
    found = cross_val_predict(responses, X, Y, **given)
    return found[:, :q], found[:, q : 2 * q] > 0, found[:, 2 * q :]
