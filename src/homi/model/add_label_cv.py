"""Add a label to a fitted HOMICV without fitting the others again."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from homi.model.add_label import check_new_label, with_label, with_name
from homi.model.blend import fit_log_odds
from homi.model.cross_validated_fit import CrossValidatedFit, seed_of
from homi.model.features import FeatureSpace, kernel_features
from homi.model.final_features import linear_features_of
from homi.model.fitted_attributes import fitted_attributes
from homi.model.grid import LABEL_WEIGHTS, check_values
from homi.model.held_out_quality import held_out_quality
from homi.solver import Params, ridge_path, shares, with_shares
from homi.typing import Array, Fields, Matrix, MatrixLike


class AddLabelCVMixin(CrossValidatedFit):
    """``add_label`` of HOMICV."""

    def add_label(
        self,
        name: str,
        y: ArrayLike,
        X: MatrixLike,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Add a label, without fitting the others again.

        The label is fitted to the features that were chosen, linear or of a kernel,
        with a weight of its own by leave-one-out errors, and calibrated. Its scores are
        not corrected by those of other labels, a forest or a logistic regression does
        not contribute to them, and it is independent of known labels. Fit again to
        include these.

        Parameters
        ----------
        name : str
            Name of the label; it becomes the last of ``label_names_``.
        y : array-like of shape (n_samples,)
            0 or 1 for each row.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows, such as those of ``fit``, which a model does not keep.
        sample_weight : array-like of shape (n_samples,) or float, default=None
            Their weights. None for 1 each.

        Returns
        -------
        self : object
            The classifier. ``held_out_labels_`` has the new label; the other reports
            remain those of ``fit``.
        """
        rows, labels, weights = check_new_label(self, name, y, X, sample_weight)
        best = self.best_estimator_
        if best.gamma > 0:
            raise ValueError(
                f"add_label needs a model without a graph, and gamma={best.gamma:g} "
                "was chosen; fit again with the new label, or with gammas=()."
            )
        self._check_rows_fit(len(labels))
        space = _space(self, rows, labels[:, None], weights)
        label = _fit_label(space, self, labels, weights)
        attributes = _with_label(self, name, label, labels, weights)
        # A new object: copies of this model, such as that of TunedThresholds, keep it.
        best = copy(best)
        best.__dict__.update(with_label(best, name, label.column))
        self.__dict__.update(attributes, best_estimator_=best)
        for model in (best, self):
            model.__dict__.pop("filled_labels_", None)
        return self


class _Label(NamedTuple):
    """Fitted attributes, weight, and leave-one-out scores of one label."""

    column: Fields
    weight: float
    scores: Array


def _space(
    model: CrossValidatedFit, X: Matrix, Y: Array, weights: Array | None
) -> FeatureSpace:
    """Return the features that were chosen."""
    best = model.best_estimator_
    if best.kernel_map_ is None:
        return linear_features_of(
            X, Y, weights, best.standardize, model.n_components, seed_of(model)
        )
    if best.kernel_map_.normalization is not None:
        raise ValueError("the model was saved by an earlier version; fit it again.")
    return kernel_features(X, Y, best.kernel_map_, weights=weights)


def _fit_label(
    space: FeatureSpace, model: CrossValidatedFit, y: Array, weights: Array | None
) -> _Label:
    """Fit one label with the chosen penalty and a weight of its own."""
    Y, lam = y[:, None], model.best_params_["lam"]
    every = ridge_path(space.moments)
    path = every.with_lam(lam)
    rows = every.of(space.features, space.mean, space.scale, weights)
    rows = rows.with_lam(every.values, lam)
    tried = check_values("label_weights", model.label_weights, LABEL_WEIGHTS)
    weight = rows.own_weights(Y, path.values, tried)
    scores = rows.weighted(Y, path.values, weight)
    if model.odds_slope_ is not None:
        scores = with_shares(scores, Y, rows.y_mean, rows.n, weights)
    W = path.weights(shares(path.values, weight))
    z = space.moments.y_mean - space.moments.x_mean @ W
    params = Params(W, z, np.eye(1), np.zeros(1))
    column = fitted_attributes(params, *space.scaling)
    return _Label(column, float(weight[0]), scores - 0.5)


def _with_label(
    model: CrossValidatedFit,
    name: str,
    label: _Label,
    y: Array,
    weights: Array | None,
) -> Fields:
    """Return fitted attributes of HOMICV with those of one more label."""
    Y, scores = y[:, None], label.scores
    # The kept scores lack the new label.
    found: Fields = {**with_name(model, name), "_kept_scores": None}
    if model.odds_slope_ is not None and model.odds_offset_ is not None:
        odds = fit_log_odds(scores, Y, weights)
        found["odds_slope_"] = np.append(model.odds_slope_, odds.slope)
        found["odds_offset_"] = np.append(model.odds_offset_, odds.offset)
        scores = odds(scores)
    if model.forest_ is not None and model.forest_slope_ is not None:
        share = (y.sum() + 0.5) / (len(y) + 1.0)
        found["forest_"] = model.forest_.with_label(share)
        found["forest_slope_"] = np.append(model.forest_slope_, 0.0)
    if model.logistic_coef_ is not None:
        none = np.zeros((len(model.logistic_coef_), 1))
        found["logistic_coef_"] = np.hstack([model.logistic_coef_, none])
    if model.label_weight_ is not None:
        found["label_weight_"] = np.append(model.label_weight_, label.weight)
    if (joint := getattr(model, "joint_model_", None)) is not None:
        found["joint_model_"] = joint.with_label()
    if (before := getattr(model, "held_out_labels_", None)) is not None:
        table = held_out_quality(Y, scores, scores > 0, np.array([name]))[1]
        found["held_out_labels_"] = {k: [*before[k], *table[k]] for k in before}
    return found
