"""Calibrate HOMI by cross-validation: scores to log-odds, and what known labels say."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from homi.arrays import dense
from homi.base.classifier import LinearMultiLabelClassifier, strictly_inside
from homi.joint import JointModel, KnownLabelsMixin, fit_joint_model
from homi.model.blend import LogOdds, fit_log_odds
from homi.model.fitted_attributes import fitted_attributes
from homi.model.fold_scores import held_out_rows
from homi.model.route import choose_route
from homi.model.rows_input import InMemoryRows, RowsInput
from homi.typing import Array, Fields, Indices, Mask, Matrix, MatrixLike

#: Label sets of fewer rows are not kept without a kernel: no training row is stored.
LEAST_ROWS = 5


class Calibration(NamedTuple):
    """Log-odds of scores, and how their held-out errors go together; None for 1-D y."""

    odds: LogOdds
    joint_model: JointModel | None


def calibrate(params: Fields, given: RowsInput, seed: int) -> Calibration | None:
    """Fit sigmoids and the joint model of labels to cross-validated scores.

    Leave-one-out with B and the graph held is no substitute: a left-out row keeps its
    edges, and with many features its scores are far too good.

    Parameters
    ----------
    params : dict
        Parameters of HOMI.
    given : RowsInput
        Rows of a fit; those of weight 0 are left out. None is returned for rows that
        are not in memory.
    seed : int
        Seed of the folds.
    """
    if given.in_memory is None:
        return None
    rows = _of_positive_weight(given.in_memory)
    if rows.shape[0] < 2:
        raise ValueError(
            "calibration='sigmoid' needs cross-validation, which is not possible with "
            "n_samples = 1; pass at least 2 rows, or calibration=None."
        )
    target, weights = rows.target, rows.sample_weight
    Y = np.asarray(dense(target.indicator), dtype=np.float64)
    scores = cross_validated_scores(params, rows, seed)
    cells = weights
    if target.known is not None:
        ones = np.ones(len(Y)) if weights is None else weights
        cells = ones[:, None] * target.known
        Y = np.where(target.known, Y, 0.0)
    odds = fit_log_odds(scores, Y, cells)
    if target.encoding.kind != "multilabel-indicator":
        return Calibration(odds, None)
    if target.known is not None:
        Y = np.where(target.known, Y, np.nan)
    least = LEAST_ROWS if params["kernel"] is None else 1
    joint = fit_joint_model(odds(scores), Y, weights, least_rows=least)
    return Calibration(odds, joint)


def cross_validated_scores(params: Fields, rows: InMemoryRows, seed: int) -> Array:
    """Return decision scores of each fold by the model of the others."""
    n = rows.shape[0]
    scores = np.empty((n, rows.n_labels))
    for held_out in held_out_rows(n, seed):
        others = np.setdiff1d(np.arange(n), held_out)
        part = _part(rows, others)
        fitted = choose_route(params, part).fit(part, lambda scaling, kernel_map: None)
        found = fitted_attributes(fitted.solution.params, *fitted.scaling)
        F = rows.X[held_out]
        if fitted.kernel_map is not None:
            F = fitted.kernel_map(F)
        scores[held_out] = F @ found["coef_"].T + found["intercept_"]
    return scores


def _of_positive_weight(rows: InMemoryRows) -> InMemoryRows:
    weights = rows.sample_weight
    if weights is None or weights.all():
        return rows
    return _part(rows, np.flatnonzero(weights))


def _part(rows: InMemoryRows, some: Indices) -> InMemoryRows:
    """Return some of the rows, with their labels and weights."""
    target, weights = rows.target, rows.sample_weight
    known = None if target.known is None else target.known[some]
    return replace(
        rows,
        X=rows.X[some],
        target=replace(target, indicator=target.indicator[some], known=known),
        sample_weight=None if weights is None else weights[some],
    )


class CalibrationMixin(KnownLabelsMixin, LinearMultiLabelClassifier):
    """Scores of HOMI as log-odds, if it was fitted with ``calibration``."""

    odds_slope_: Array | None
    odds_offset_: Array | None

    def _keep_calibration(self, found: Calibration | None) -> None:
        self.odds_slope_ = self.odds_offset_ = self.joint_model_ = None
        if found is not None:
            self.odds_slope_, self.odds_offset_, _ = found.odds
            self.joint_model_ = found.joint_model

    @property
    def _odds(self) -> LogOdds | None:
        # Models that were pickled by earlier versions have none.
        slope = getattr(self, "odds_slope_", None)
        if slope is None or self.odds_offset_ is None:
            return None
        return LogOdds(slope, self.odds_offset_)

    def _scores(self, X: Matrix) -> Array:
        scores, odds = super()._scores(X), self._odds
        return scores if odds is None else odds(scores)

    def _positive(self, X: MatrixLike) -> Mask:
        if self._odds is None:
            return super()._positive(X)
        return self._checked_scores(X) > 0

    def _probabilities(self, scores: Array) -> Array:
        if self._odds is None:
            return super()._probabilities(scores)
        return strictly_inside(expit(scores))
