"""Objectives of the search: functions of labels and held-out scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.metrics import METRICS
from homi.typing import Matrix

Array = NDArray[np.float64]

#: From labels (0/1) and scores (a label is predicted above one half) to a value.
#: Greater is better.
Objective = Callable[[Any, Array], float]


def average_precision(Y: Matrix, scores: Array) -> float:
    """Return the micro-averaged average precision.

    The value of scikit-learn's ``average_precision_score``, faster: values are sorted
    instead of indices, and only those of positives are visited.
    """
    ones = np.sort(scores[np.asarray(Y, dtype=bool)])
    if not len(ones):
        return 0.0
    everything = np.sort(scores, axis=None)
    cuts, counts = np.unique(ones, return_counts=True)
    found = len(ones) - np.searchsorted(ones, cuts)
    taken = len(everything) - np.searchsorted(everything, cuts)
    return float(np.sum(counts * (found / taken)) / len(ones))


def negative_squared_error(Y: Matrix, scores: Array) -> float:
    """Return the negative mean squared error, the criterion of ``RidgeCV``."""
    return -float(np.mean((Y - scores) ** 2))


_OWN: dict[str, Objective] = {
    "average_precision": average_precision,
    "neg_mean_squared_error": negative_squared_error,
}

#: Names of objectives: two of this module, and every metric of ``homi.metrics``.
OBJECTIVES = tuple(_OWN | METRICS)


def objective(scoring: str | Objective) -> Objective:
    """Return the objective of a name, or the function itself."""
    if callable(scoring):
        return scoring
    return _OWN[scoring] if scoring in _OWN else _of_metric(scoring)


def _of_metric(name: str) -> Objective:
    metric = METRICS[name]
    sign = 1.0 if metric.greater_is_better else -1.0
    if metric.response == "predict":
        return lambda Y, scores: sign * metric(Y, (scores > 0.5).astype(np.int8))
    return lambda Y, scores: sign * metric(Y, scores)
