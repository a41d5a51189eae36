"""What hyper-parameters are chosen for: functions of labels and held-out scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homi.metrics import METRICS

Array = NDArray[np.float64]

#: Labels (0/1) and scores (a label is predicted above one half) to a value, the greater
#: the better.
Objective = Callable[[Any, Array], float]


def average_precision(Y: Any, scores: Array) -> float:
    """Area under precision and recall of all labels of all rows together.

    As by scikit-learn's ``average_precision_score``, which sorts indices of all scores:
    values are sorted many times as fast, and only those of ones are gone through.
    """
    ones = np.sort(scores[np.asarray(Y, dtype=bool)])
    if not len(ones):
        return 0.0
    everything = np.sort(scores, axis=None)
    cuts, counts = np.unique(ones, return_counts=True)
    found = len(ones) - np.searchsorted(ones, cuts)
    taken = len(everything) - np.searchsorted(everything, cuts)
    return float(np.sum(counts * (found / taken)) / len(ones))


def negative_squared_error(Y: Any, scores: Array) -> float:
    """What ridge regression with leave-one-out errors goes by."""
    return -float(np.mean((Y - scores) ** 2))


_OWN: dict[str, Objective] = {
    "average_precision": average_precision,
    "neg_mean_squared_error": negative_squared_error,
}

#: Names of goals: two of our own, and every other metric of ``homi.metrics``.
OBJECTIVES = tuple(_OWN | METRICS)


def goal(scoring: str | Objective) -> Objective:
    """The goal of a name; a function is taken as it is."""
    if callable(scoring):
        return scoring
    return _OWN[scoring] if scoring in _OWN else _of_metric(scoring)


def _of_metric(name: str) -> Objective:
    metric = METRICS[name]
    sign = 1.0 if metric.greater_is_better else -1.0
    if metric.response == "predict":
        return lambda Y, scores: sign * metric(Y, (scores > 0.5).astype(np.int8))
    return lambda Y, scores: sign * metric(Y, scores)
