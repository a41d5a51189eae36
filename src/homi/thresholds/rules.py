"""Rules that turn scores into decisions, one per strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from homi.thresholds.joint import fit_joint
from homi.thresholds.search import best_global, best_k, best_per_label, midpoint
from homi.typing import Array, Fields, Indices, Mask

if TYPE_CHECKING:
    from homi.thresholds.calibrate import CalibrationMaps
    from homi.thresholds.tuned import TunedThresholds

#: A label with fewer positives keeps the global threshold: each of its held-out
#: positives was scored by a model that had seen at most one other.
RARE = 3


class Rule(Protocol):
    """A function from scores to decisions, above 0 where a label is predicted."""

    def __call__(self, S: Array) -> Array:
        """Return the decisions for scores."""


@dataclass(frozen=True)
class Thresholds:
    """Scores minus the threshold of their label."""

    values: Array

    def __call__(self, S: Array) -> Array:
        """Return the decisions for scores."""
        finite = np.isfinite(self.values)
        return np.where(
            finite, S - np.where(finite, self.values, 0.0), _always(S, self.values)
        )


def _always(S: Array, sign: Array | float) -> Array:
    """Return finite decisions for infinite thresholds, increasing in the score."""
    bounded = np.abs(S) / (1.0 + np.abs(S)) * np.sign(S)
    # For large scores, the bounded score is rounded to ±1.
    inside = np.clip(bounded, -1.0 + 1e-9, 1.0 - 1e-9)
    return inside - np.where(np.asarray(sign) > 0, 1.0, -1.0)


@dataclass(frozen=True)
class TopLabels:
    """The k labels of highest score in each row."""

    k: int

    def __call__(self, S: Array) -> Array:
        """Return the decisions for scores."""
        return cut_rows(S, np.full(len(S), self.k))


@dataclass(frozen=True)
class Cardinality:
    """The labels of highest score, as many as a regression predicts.

    Attributes
    ----------
    regression : Pipeline
        Predicts the number of labels of a row from its sorted scores.
    threshold : float
        The k-th label is predicted if the regression exceeds k by more than this.
    """

    regression: Pipeline
    threshold: float

    def __call__(self, S: Array) -> Array:
        """Return the decisions for scores."""
        surplus = _surplus(self.regression, S)
        return cut_rows(S, np.sum(surplus > self.threshold, axis=1))


def _surplus(regression: Pipeline, S: Array) -> Array:
    """Return the regression minus 1, 2, …, one column each."""
    expected = regression.predict(np.sort(S, axis=1))
    return expected[:, None] - np.arange(1, S.shape[1] + 1)


def cut_rows(S: Array, counts: Indices) -> Array:
    """Subtract from each row a threshold that the given number of scores exceed.

    It is halfway between the last score that passes and the next one, or 1/2 beyond
    the scores if all or none pass. Among tied scores the first columns pass; their
    decisions are then the smallest numbers on either side of 0.
    """
    order = np.argsort(-S, axis=1, kind="stable")
    ranked = np.take_along_axis(S, order, axis=1)
    ends = np.hstack([ranked[:, :1] + 1.0, ranked, ranked[:, -1:] - 1.0])
    rows = np.arange(len(S))
    middle = midpoint(ends[rows, counts + 1], ends[rows, counts])
    shifted = ranked - middle[:, None]
    passing = np.arange(S.shape[1]) < counts[:, None]
    tiny = np.finfo(float).tiny
    decisions = np.empty_like(shifted)
    np.put_along_axis(
        decisions,
        order,
        np.where(passing, np.maximum(shifted, tiny), np.minimum(shifted, -tiny)),
        axis=1,
    )
    return decisions


@dataclass(frozen=True)
class SeenLabels:
    """A rule for the labels that occur in training; others are never predicted.

    Attributes
    ----------
    rule : Rule
        The rule for the labels that occur.
    seen : ndarray of bool of shape (n_labels,)
        Labels that occur.
    """

    rule: Rule
    seen: Mask

    def __call__(self, S: Array) -> Array:
        """Return the decisions for scores."""
        decisions = _always(S, np.inf)
        if self.seen.any():
            decisions[:, self.seen] = self.rule(S[:, self.seen])
        return decisions


def fit_rule(
    S: Array, Y: Mask, objective: str, strategy: str, cells: Array | None = None
) -> SeenLabels:
    """Fit the rule of a strategy that maximizes the objective on scores and labels.

    ``cells`` are weights of each label of each row, 0 where it is missing.
    """
    Y = Y if cells is None else Y & (cells > 0)
    seen: Mask = Y.sum(axis=0) > 0
    if not seen.any():
        return SeenLabels(Thresholds(np.empty(0)), seen)
    cells = None if cells is None else cells[:, seen]
    # A label without positives and predictions adds a constant to any objective.
    return SeenLabels(FITS[strategy](S[:, seen], Y[:, seen], objective, cells), seen)


def _fit_global(S: Array, Y: Mask, objective: str, cells: Array | None) -> Thresholds:
    return Thresholds(np.full(S.shape[1], best_global(S, Y, objective, cells)))


def _fit_per_label(
    S: Array, Y: Mask, objective: str, cells: Array | None
) -> Thresholds:
    return Thresholds(best_per_label(S, Y, objective, Y.sum(axis=0) >= RARE, cells))


def _fit_top_k(S: Array, Y: Mask, objective: str, cells: Array | None) -> TopLabels:
    return TopLabels(best_k(S, Y, objective, cells))


def _fit_cardinality(
    S: Array, Y: Mask, objective: str, cells: Array | None
) -> Cardinality:
    # Standardized, so that the scale of the scores does not matter.
    regression = make_pipeline(StandardScaler(), Ridge(alpha=1.0))
    weights = None if cells is None else cells.max(axis=1)
    options = {f"{name}__sample_weight": weights for name, _ in regression.steps}
    regression.fit(np.sort(S, axis=1), Y.sum(axis=1), **options)
    # The regression minus a label's rank is a score like any other: the best rounding
    # for the objective is the best global threshold of these scores.
    order = np.argsort(-S, axis=1, kind="stable")
    surplus = np.empty_like(S)
    np.put_along_axis(surplus, order, _surplus(regression, S), axis=1)
    return Cardinality(regression, best_global(surplus, Y, objective, cells))


def _fit_zero(S: Array, Y: Mask, objective: str, cells: Array | None) -> Thresholds:
    return Thresholds(np.zeros(S.shape[1]))


FITS: dict[str, Callable[[Array, Mask, str, Array | None], Rule]] = {
    "zero": _fit_zero,
    "global": _fit_global,
    "per_label": _fit_per_label,
    "cardinality": _fit_cardinality,
    "top_k": _fit_top_k,
    "joint": fit_joint,
}


def fitted_rule(model: TunedThresholds) -> tuple[SeenLabels, CalibrationMaps | None]:
    """Return the rule of a fitted model, and its maps to probabilities, if any."""
    return model._rule, getattr(model, "_maps", None)


def is_agreeing(model: TunedThresholds) -> bool:
    """Return True if labels are predicted exactly where p exceeds one half."""
    thresholds = isinstance(model._rule.rule, Thresholds)
    calibrated = model.calibration is not None
    return calibrated and model.objective == "hamming" and thresholds


#: What ``rule_attributes`` may return; a strategy has some of them.
RULE_ATTRIBUTES = ("_rule", "_maps", "thresholds_", "top_k_", "cardinality_")


def rule_attributes(found: SeenLabels, maps: CalibrationMaps | None = None) -> Fields:
    """Return the fitted attributes of a rule and of its maps, if any."""
    attributes: Fields = {"_rule": found}
    if maps is not None:
        attributes["_maps"] = maps
    rule = found.rule
    if isinstance(rule, Thresholds):
        attributes["thresholds_"] = np.full(len(found.seen), np.inf)
        attributes["thresholds_"][found.seen] = rule.values
    elif isinstance(rule, TopLabels):
        attributes["top_k_"] = rule.k
    elif isinstance(rule, Cardinality):
        attributes["cardinality_"] = rule.regression
    return attributes
