"""Objectives of the search: functions of labels and held-out scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from homi.linear import log_loss, mean_of_cells
from homi.metrics import METRICS
from homi.typing import Matrix

Array = NDArray[np.float64]

#: Probabilities are kept this far from 0 and 1.
_LEAST = 1e-6

#: From labels (0/1), scores (a label is predicted above one half) and weights of the
#: rows, or of each label of each row, or None, to a value. Greater is better.
Objective = Callable[[Matrix, Array, Array | None], float]


def negative_log_loss(Y: Matrix, scores: Array, weights: Array | None = None) -> float:
    """Return the mean log-likelihood of labels; the scores are probabilities."""
    return -log_loss(Y, np.clip(scores, _LEAST, 1.0 - _LEAST), weights)


def average_precision(Y: Matrix, scores: Array, weights: Array | None = None) -> float:
    """Return the micro-averaged average precision of labels that are known.

    Weights have no other effect. The value of scikit-learn's
    ``average_precision_score``, faster: values are sorted instead of indices, and only
    those of positives are visited.
    """
    positive = np.asarray(Y, dtype=bool)
    if weights is not None and weights.ndim == 2:
        positive, scores = positive[weights > 0], scores[weights > 0]
    ones = np.sort(scores[positive])
    if not len(ones):
        return 0.0
    everything = np.sort(scores, axis=None)
    cuts, counts = np.unique(ones, return_counts=True)
    found = len(ones) - np.searchsorted(ones, cuts)
    taken = len(everything) - np.searchsorted(everything, cuts)
    return float(np.sum(counts * (found / taken)) / len(ones))


def negative_squared_error(
    Y: Matrix, scores: Array, weights: Array | None = None
) -> float:
    """Return the negative mean squared error, the criterion of ``RidgeCV``."""
    return -mean_of_cells((Y - scores) ** 2, weights)


_OWN: dict[str, Objective] = {
    "neg_log_loss": negative_log_loss,
    "average_precision": average_precision,
    "neg_mean_squared_error": negative_squared_error,
}

#: Names of objectives: three of this module, and every metric of ``homi.metrics``.
OBJECTIVES = tuple(_OWN | METRICS)


def check_missing(scoring: str | Callable[..., float]) -> None:
    """Raise an error for an objective that needs all labels of a row."""
    if scoring not in _OWN:
        raise ValueError(
            f"scoring={scoring!r} needs all labels of a row, but some are missing; "
            f"pass one of {', '.join(map(repr, _OWN))}, which use known labels only."
        )


def objective(scoring: str | Callable[[Matrix, Array], float]) -> Objective:
    """Return the objective of a name, or of a function of labels and scores."""
    if callable(scoring):
        return _of_function(scoring)
    return _OWN[scoring] if scoring in _OWN else _of_metric(scoring)


def _of_function(function: Callable[[Matrix, Array], float]) -> Objective:
    def value(Y: Matrix, scores: Array, weights: Array | None = None) -> float:
        return function(Y, scores)

    return value


def _of_metric(name: str) -> Objective:
    metric = METRICS[name]
    sign = 1.0 if metric.greater_is_better else -1.0
    cut = metric.response == "predict"

    def value(Y: Matrix, scores: Array, weights: Array | None = None) -> float:
        given = (scores > 0.5).astype(np.int8) if cut else scores
        return sign * metric(Y, given)

    return value
