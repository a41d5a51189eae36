"""Add a label to a fitted HOMI without fitting the others again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from homi.arrays import dense
from homi.base.classifier import LinearMultiLabelClassifier, MultiLabelClassifier
from homi.base.targets import check_target
from homi.base.validation import check_rows
from homi.base.weights import check_sample_weight, drop_zero_weight
from homi.joint import JointModel
from homi.linalg import Array, Pencil
from homi.model.features import FeatureSpace, RowSpace
from homi.model.fitted_attributes import fitted_attributes
from homi.model.graphs import Sums
from homi.model.kernel_map import KernelMap
from homi.solver import Params, Problem, mean_share
from homi.typing import Fields, Matrix, MatrixLike

#: The factorization of more features is not kept: it would take more than 32 MB.
_MOST_FEATURES = 2_000
#: Means of features that differ by more, in standard deviations, are of other rows.
_SAME_MEAN = 1e-6


@dataclass(frozen=True)
class LabelRegression:
    """Ridge regression of a label on rows with a graph, factored; B = I.

    Attributes
    ----------
    pencil : Pencil
        ``(G - aaᵀ/(n+λ) + λI, γH)``.
    x_mean, n, bias_lam
        Mean of the scaled features, number of rows, and penalty of the intercept.
    mean, scale : ndarray of shape (n_features,)
        Scaling of the features.
    kernel_map, row_space
        Nyström features of rows, and the way back; None without a kernel.
    """

    pencil: Pencil
    x_mean: Array
    n: float
    bias_lam: float
    mean: Array
    scale: Array
    kernel_map: KernelMap | None
    row_space: RowSpace | None

    @classmethod
    def of(cls, problem: Problem, space: FeatureSpace) -> LabelRegression | None:
        """Return the regression that a problem has factored; None if it is large."""
        is_compact = space.row_space is not None and space.kernel_map is None
        is_large = problem.n_features > _MOST_FEATURES
        if problem.label_weight is not None or is_compact or is_large:
            return None
        moments = problem.moments
        return cls(
            problem.joint_pencil,
            moments.x_mean,
            float(moments.n),
            problem.bias_lam,
            space.mean,
            space.scale,
            space.kernel_map,
            space.row_space,
        )

    def column(self, X: Matrix, y: Array, weights: Array | None) -> Fields:
        """Return the fitted attributes of one label."""
        F, n = self._features(X), self.n
        w = np.ones(len(y)) if weights is None else weights
        self._check(F, w)
        y_mean = float(w @ y) / n
        c = F.T @ (w * (y - y_mean)) / self.scale
        c += mean_share(n, self.bias_lam) * y_mean * self.x_mean
        mu, V = self.pencil
        W = V @ ((V.T @ c) / (1.0 + mu))
        z = n * (y_mean - self.x_mean @ W) / (n + self.bias_lam)
        params = Params(W[:, None], np.array([z]), np.eye(1), np.zeros(1))
        scaling: tuple[Any, ...] = self.row_space or (self.mean, self.scale)
        return fitted_attributes(params, *scaling)

    def _features(self, X: Matrix) -> Matrix:
        if self.kernel_map is None:
            return X
        assert self.row_space is not None
        return self.row_space.features(self.kernel_map(X))

    def _check(self, F: Matrix, w: Array) -> None:
        """Raise ValueError for rows that the model was not fitted to."""
        mean = (F.T @ w / w.sum() - self.mean) / self.scale
        same = np.allclose(mean, self.x_mean, rtol=_SAME_MEAN, atol=_SAME_MEAN)
        if not same or not np.isclose(w.sum(), self.n):
            raise ValueError(
                "X and sample_weight are not those that the model was fitted to: their "
                f"number or their means differ; pass the {self.n:g} rows of fit."
            )


class AddLabelMixin(LinearMultiLabelClassifier):
    """``add_label`` of HOMI."""

    correlation: str
    feature_weights_: Array
    feature_bias_: Array
    label_correlation_: Array
    label_bias_: Array
    label_rank_: int
    _sums: Sums | None
    kernel_map_: KernelMap | None
    joint_model_: JointModel | None
    _label_regression: LabelRegression | None

    def add_label(
        self,
        name: str,
        y: ArrayLike,
        X: MatrixLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add a label, without fitting the others again.

        Needs ``correlation="identity"``: the regressions of the labels are then
        independent, and the result is that of a fit to all labels. The factorization
        of the fit is used again, unless it was too large to keep (more than 2,000
        features) or the model comes from a file: then it is computed once more.

        Parameters
        ----------
        name : str
            Name of the label; it becomes the last of ``label_names_``.
        y : array-like of shape (n_samples,)
            0 or 1 for each row.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows that the model was fitted to, in any order. A model does not keep
            them.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Their weights in ``fit``.

        Returns
        -------
        self : object
            The classifier. ``history_`` remains that of ``fit``.
        """
        rows, labels, weights = check_new_label(self, name, y, X, sample_weight)
        if self.correlation != "identity":
            raise ValueError(
                f"add_label needs correlation='identity', got {self.correlation!r}: "
                "with B learned, a new label changes all others. Fit again, with the "
                "new label or with correlation='identity', or use HOMICV."
            )
        found = getattr(self, "_label_regression", None)
        # The sigmoid of a calibrated model needs folds, which a fit has.
        if found is None or getattr(self, "odds_slope_", None) is not None:
            column, found = _refitted(self, rows, labels, weights)
        else:
            column = found.column(rows, labels, weights)
        self.__dict__.update(with_label(self, name, column), _label_regression=found)
        self.__dict__.pop("filled_labels_", None)
        return self


def check_new_label(
    model: MultiLabelClassifier,
    name: str,
    y: ArrayLike,
    X: MatrixLike,
    sample_weight: ArrayLike | None,
) -> tuple[Matrix, Array, Array | None]:
    """Return checked rows of positive weight, their new label, and their weights."""
    check_is_fitted(model)
    if model.target_encoding_.kind != "multilabel-indicator":
        raise ValueError(
            "add_label needs a model fitted to a 0/1 column for each label, and this "
            "one was fitted to a 1-D y; fit it again."
        )
    if not isinstance(name, str):
        raise TypeError(f"the name of a label must be a string, got {name!r}.")
    if name in model.label_names_.tolist():
        raise ValueError(f"there is a label {name!r} already; pass another name.")
    rows = check_rows(model, X, reset=False)
    column = np.asarray(y).reshape(-1, 1) if np.ndim(y) == 1 else np.asarray(y)
    if column.ndim != 2 or column.shape[1] != 1:
        raise ValueError(f"y must have one 0 or 1 per row, got shape {column.shape}.")
    target = check_target(column)
    if target.encoding.kind != "multilabel-indicator":
        found = ", ".join(map(repr, target.classes[:4].tolist()))
        raise ValueError(f"y must hold only 0 and 1, got {found}; pass (y > 0).")
    check_consistent_length(rows, column)
    weights = check_sample_weight(sample_weight, rows.shape[0])
    rows, Y, weights = drop_zero_weight(rows, target.indicator, weights)
    return rows, np.asarray(dense(Y), dtype=np.float64).ravel(), weights


def with_label(model: AddLabelMixin, name: str, column: Fields) -> Fields:
    """Return fitted attributes of HOMI with those of one more label; B is kept."""
    q = len(model.label_names_)
    B = np.eye(q + 1)
    B[:q, :q] = model.label_correlation_
    rows = ("coef_", "feature_bias_", "label_bias_", "intercept_")
    return {
        **with_name(model, name),
        **{key: np.concatenate([getattr(model, key), column[key]]) for key in rows},
        "label_correlation_": B,
        "feature_weights_": np.hstack(
            [model.feature_weights_, column["feature_weights_"]]
        ),
        "label_rank_": model.label_rank_ + 1,
        **_calibration_with_label(model, column),
        # Moments of batches lack the new label.
        "_sums": None,
    }


def _calibration_with_label(model: AddLabelMixin, column: Fields) -> Fields:
    """Return sigmoids and joint model with one more label; nothing without them."""
    if getattr(model, "odds_slope_", None) is None:
        return {}
    names = ("odds_slope_", "odds_offset_")
    found = {key: np.append(getattr(model, key), column[key]) for key in names}
    assert model.joint_model_ is not None
    return found | {"joint_model_": model.joint_model_.with_label()}


def with_name(model: MultiLabelClassifier, name: str) -> Fields:
    """Return the names and classes with one more label."""
    names = [*model.label_names_, name]
    return {
        "label_names_": np.array(names, dtype=object),
        "classes_": np.arange(max(2, len(names))),
    }


def _refitted(
    model: AddLabelMixin, X: Matrix, y: Array, weights: Array | None
) -> tuple[Fields, LabelRegression | None]:
    """Fit to one label alone; return its fitted attributes and its regression."""
    other = clone(model).set_params(missing_labels="error")
    other.fit(X, y[:, None], weights)
    mine, its = model.kernel_map_, other.kernel_map_
    if mine is not None and not np.array_equal(mine.indices, its.indices):
        raise ValueError(
            "the landmarks of the kernel differ: X is not what the model was fitted "
            "to, or its random_state is None; fit again."
        )
    fitted = vars(other)
    return fitted, fitted["_label_regression"]
