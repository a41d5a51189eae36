"""Base class of classifiers that wrap another one and use its held-out scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import KFold
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_consistent_length

from homi.arrays import canonical
from homi.base.classifier import MultiLabelClassifier
from homi.base.targets import Target, check_target
from homi.thresholds.scores import CrossValidation
from homi.typing import MatrixLike
from homi.warn import warn_of_row_order


class WrappedClassifier(MetaEstimatorMixin, MultiLabelClassifier):  # type: ignore[misc]
    """Classifier whose ``estimator_`` is a fitted clone of ``estimator``."""

    estimator: BaseEstimator
    estimator_: BaseEstimator

    def _check_labels(
        self, X: MatrixLike, y: MatrixLike, *, unknown: bool = False
    ) -> Target:
        """Return checked labels, and keep their names; the rows stay as they are."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but "
                "the target y is None; pass the labels as the second argument."
            )
        target = check_target(y, unknown=unknown)
        kind = target.encoding.kind
        if kind == "multiclass":
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{kind}: each row has one of {len(target.classes)} classes; pass a "
                "0/1 column for each label."
            )
        check_consistent_length(X, target.indicator)
        warn_of_row_order(X, y)
        self._keep_target(target)
        return target

    @property
    def n_features_in_(self) -> int:
        """Number of features that the classifier was fitted to."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the features that the classifier was fitted to."""
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        """Return scikit-learn's tags."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


def canonical_rows(X: MatrixLike) -> MatrixLike:
    """Return sparse rows that no classifier needs to repair in the caller's buffers."""
    return canonical(X) if sparse.issparse(X) else X


def shuffled_folds(
    cv: CrossValidation, n_samples: int, rng: np.random.RandomState
) -> CrossValidation:
    """Return shuffled folds for a number, at most as many as rows; others as is."""
    if not isinstance(cv, int | np.integer):
        return cv
    if n_samples < 2:
        raise ValueError(
            f"cross-validation is not possible with n_samples = {n_samples}; pass at "
            "least 2 rows."
        )
    seed = rng.randint(np.iinfo(np.int32).max)
    return KFold(min(int(cv), n_samples), shuffle=True, random_state=seed)
