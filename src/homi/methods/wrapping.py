"""Helpers for classifiers that users pass."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags

from homi.base.classifier import MultiLabelClassifier, strictly_inside
from homi.typing import Array, Matrix


def seeded(estimator: BaseEstimator, rng: np.random.RandomState) -> BaseEstimator:
    """Return an unfitted copy of a classifier with its own seeds."""
    copy = clone(estimator)
    seeds = [name for name in copy.get_params() if name.endswith("random_state")]
    return copy.set_params(**{name: rng.randint(2**31 - 1) for name in seeds})


def takes_sparse(estimator: BaseEstimator | None) -> bool:
    """Return False for a classifier that refuses sparse rows."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return True
    return bool(get_tags(estimator).input_tags.sparse)


def label_probabilities(model: BaseEstimator, X: Matrix, n_labels: int) -> Array:
    """Return one probability per row and label of a multi-label classifier."""
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(X), dtype=float).reshape(-1, n_labels)
    P = model.predict_proba(X)
    if n_labels == 1 and not isinstance(P, list):
        P = P[:, -1:]  # scikit-learn returns class 0 first
    if isinstance(P, list) or P.shape != (X.shape[0], n_labels):
        raise TypeError(
            f"predict_proba of {type(model).__name__} does not return one column per "
            "label; pass a multi-label classifier such as those of homi.estimators or "
            "scikit-learn's OneVsRestClassifier."
        )
    return np.asarray(P, dtype=float)


class WrappingClassifier(MultiLabelClassifier):
    """Base class of classifiers made of copies of ``estimator``; scores are P - 1/2."""

    estimator: BaseEstimator | None

    def _probabilities(self, scores: Array) -> Array:
        return strictly_inside(scores + 0.5)

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.estimator)
        return tags
